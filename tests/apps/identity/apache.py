"""Apache with mod_shib and its shibd, in front of one application: configured by ``adon deploy apache``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from adon.config import Configuration
from adon.yamlfile import check_model
from apps.deploy.web_servers import Place, web_server_configuration
from tests.apps.edge import NETWORK
from tests.apps.identity.processes import answers, listens, running
from tests.apps.identity.simplesaml import IdentityProvider, key_pair
from tests.ports import free_port

MODULES = Path("/usr/lib/apache2/modules")
NEEDED = (
    *(
        "mpm_event",
        "authn_core",
        "authz_core",
        "authz_user",
        "headers",
        "proxy",
        "proxy_http",
        "alias",
        "shib",
    ),
)
ENTITY_ID = "https://adon.example.edu/shibboleth"
ATTRIBUTES = (
    '<Attribute name="urn:oid:1.3.6.1.4.1.5923.1.5.1.1" id="member"/>'
    '<Attribute name="urn:oid:2.16.840.1.113730.3.1.241" id="displayName"/>'
)
"""What the usual map has as comments, and the guide says to take out of them."""

_SHIBBOLETH = """<SPConfig xmlns="urn:mace:shibboleth:3.0:native:sp:config" clockSkew="180"
    logger="{folder}/native.logger">
  <OutOfProcess logger="{folder}/shibd.logger"/>
  <TCPListener address="127.0.0.1" port="{listener}" acl="127.0.0.1"/>
  <ApplicationDefaults entityID="{entity_id}" REMOTE_USER="eppn subject-id persistent-id">
    <Sessions lifetime="3600" timeout="600" relayState="ss:mem" checkAddress="false" handlerSSL="false"
        cookieProps="http" redirectLimit="exact">
      <SSO entityID="{idp}">SAML2</SSO>
      <Logout>Local</Logout>
      <Handler type="MetadataGenerator" Location="/Metadata" signing="false"/>
      <Handler type="Session" Location="/Session" showAttributeValues="true"/>
    </Sessions>
    <MetadataProvider type="XML" path="{folder}/idp-metadata.xml"/>
    <AttributeExtractor type="XML" path="{folder}/attribute-map.xml"/>
    <AttributeFilter type="XML" path="/etc/shibboleth/attribute-policy.xml"/>
    <CredentialResolver type="File" key="{folder}/sp.key" certificate="{folder}/sp.pem"/>
  </ApplicationDefaults>
  <SecurityPolicyProvider type="XML" path="/etc/shibboleth/security-policy.xml"/>
  <ProtocolProvider type="XML" path="/etc/shibboleth/protocols.xml"/>
</SPConfig>
"""
_LOGGER = """log4j.rootCategory=INFO, all
log4j.appender.all=org.apache.log4j.FileAppender
log4j.appender.all.fileName={file}
log4j.appender.all.layout=org.apache.log4j.PatternLayout
log4j.appender.all.layout.ConversionPattern=%p %c: %m%n
"""
_APACHE = """ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
PidFile "{folder}/apache.pid"
ErrorLog "{folder}/apache-error.log"
LogLevel info
{modules}
{user}
ShibConfig "{folder}/shibboleth2.xml"
{printed}
"""


def printed(application: int, secret_include: Path, headers: Mapping[str, str]) -> str:
    """What ``adon deploy apache`` writes for Shibboleth, less its TLS: the tests' peers speak HTTP."""
    document = yaml.safe_load(NETWORK.read_text("utf-8"))
    document["controller"] = {"web_port": application, "web_proxies": ["127.0.0.1"]}
    shibboleth = {"proxies": ["127.0.0.1"], "secret_file": "unread", "headers": dict(headers)}
    document["access"] = {
        "public_url": "https://localhost",
        "shibboleth": shibboleth,
        "default_roles": ["researcher"],
    }
    place = Place(Path("unread"), Path("unread"), secret_include=str(secret_include))
    text = web_server_configuration("apache", check_model(document, Configuration), place)
    inside = text.rpartition("<VirtualHost *:443>\n")[2].partition("</VirtualHost>")[0]
    of_tls = ("ServerName", "SSL", "Header always set Strict")
    lines = [line for line in inside.splitlines() if not line.strip().startswith(of_tls)]
    return "\n".join(lines).replace('X-Forwarded-Proto "https"', 'X-Forwarded-Proto "http"')


def load_modules(names: Sequence[str]) -> str:
    """Apache's lines that load these modules."""
    return "\n".join(f"LoadModule {_module(name)} {MODULES}/mod_{name}.so" for name in names)


@contextmanager
def web_server(folder: Path, idp: IdentityProvider, application: int, secret: str) -> Iterator[str]:
    """The base URL of a web server that people sign in at, for an application on this port of loopback.

    :param folder: readable by others than us, as Apache gives up being root.
    """
    assert (MODULES / "mod_shib.so").exists(), "mod_shib is not there: run scripts/setup.sh test"
    port, listener = free_port(), free_port()
    base = f"http://localhost:{port}"
    key_pair(folder / "sp.pem", folder / "sp.key", "service provider")
    (folder / "idp-metadata.xml").write_text(idp.metadata())
    for name in ("native", "shibd"):
        (folder / f"{name}.logger").write_text(_LOGGER.format(file=folder / f"{name}.log"))
        (folder / f"{name}.log").touch()
        (folder / f"{name}.log").chmod(0o666)
    usual = Path("/etc/shibboleth/attribute-map.xml").read_text("utf-8")
    (folder / "attribute-map.xml").write_text(usual.replace("</Attributes>", f"{ATTRIBUTES}</Attributes>"))
    values = {"folder": folder, "listener": listener, "entity_id": ENTITY_ID, "idp": idp.entity_id}
    (folder / "shibboleth2.xml").write_text(_SHIBBOLETH.format(**values))
    header = folder / "proxy-secret.conf"
    header.write_text(f'RequestHeader set Adon-Proxy-Secret "{secret}"\n')
    names = [name for name in NEEDED if (MODULES / f"mod_{name}.so").exists()]
    assert names == list(NEEDED)
    text = _APACHE.format(
        folder=folder,
        port=port,
        modules=load_modules(NEEDED),
        user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
        printed=printed(application, header, {}),
    )
    (folder / "apache.conf").write_text(text)
    with ExitStack() as stack:
        shibd = [
            "/usr/sbin/shibd",
            "-F",
            "-f",
            "-c",
            str(folder / "shibboleth2.xml"),
            "-p",
            str(folder / "pid"),
        ]
        stack.enter_context(running(shibd, folder / "shibd.out", listens(listener)))
        apache = ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", str(folder / "apache.conf")]
        ready = answers(f"{base}/Shibboleth.sso/Metadata")
        stack.enter_context(running(apache, folder / "apache.out", ready))
        idp.trust(ENTITY_ID, f"{base}/Shibboleth.sso/SAML2/POST", f"{base}/Shibboleth.sso/SLO/Redirect")
        yield base


def _module(name: str) -> str:
    return "mod_shib" if name == "shib" else f"{name}_module"
