"""Apache with mod_shib and its shibd, in front of one application: configured as docs/sign-in.md says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.apps.identity.processes import answers, listens, running
from tests.apps.identity.simplesaml import IdentityProvider, key_pair
from tests.ports import free_port

MODULES = Path("/usr/lib/apache2/modules")
GUIDE = Path(__file__).parents[3] / "docs" / "sign-in.md"
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
{guide}
"""


def guided(secret_file: Path, application: int) -> str:
    """The configuration that the guide shows, with the values of a test."""
    found = re.search(r"```apache\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found is not None, "the guide shows no configuration of Apache"
    text = found[1].replace("http://127.0.0.1:8080/", f"http://127.0.0.1:{application}/")
    return text.replace("/etc/apache2/adon-proxy-secret.conf", str(secret_file))


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
        modules="\n".join(f"LoadModule {_module(name)} {MODULES}/mod_{name}.so" for name in NEEDED),
        user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
        guide=guided(header, application),
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
