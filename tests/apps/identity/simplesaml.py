"""SimpleSAMLphp, a SAML identity provider of campuses, behind PHP's own web server on loopback."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from tests.apps.identity.processes import answers, running
from tests.ports import free_port

WWW = Path("/usr/share/simplesamlphp/www")
PASSWORD = "a password of the test"  # noqa: S105
SCOPE = "example.edu"
EPPN, AFFILIATION, ENTITLEMENT, MEMBER = (
    f"urn:oid:1.3.6.1.4.1.5923.1.{rest}" for rest in ("1.1.6", "1.1.9", "1.1.7", "5.1.1")
)
People = Mapping[str, Mapping[str, Sequence[str]]]

_CONFIG = """<?php
$config = [
  'baseurlpath' => '%(base)s/', 'certdir' => '%(folder)s/', 'loggingdir' => '%(folder)s/',
  'datadir' => '%(folder)s/', 'tempdir' => '%(folder)s/tmp', 'metadatadir' => '%(folder)s/metadata/',
  'attributenamemapdir' => '/etc/simplesamlphp/attributemap/', 'secretsalt' => 'salt of a test',
  'auth.adminpassword' => 'password of a test', 'technicalcontact_email' => 'na@example.org',
  'logging.level' => 7, 'logging.handler' => 'file', 'logging.logfile' => 'simplesaml.log',
  'timezone' => 'UTC', 'enable.saml20-idp' => true, 'store.type' => 'phpsession',
  'session.phpsession.savepath' => '%(folder)s/tmp', 'session.cookie.secure' => false,
  'session.phpsession.cookie_secure' => false, 'session.cookie.samesite' => null,
  'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true],
  'metadata.sources' => [['type' => 'flatfile']], 'language.default' => 'en', 'language.available' => ['en'],
];
"""
_HOSTED = """<?php
$metadata['%(base)s/saml2/idp/metadata.php'] = [
  'host' => '__DEFAULT__', 'privatekey' => 'idp.key', 'certificate' => 'idp.pem', 'auth' => 'people',
  'scope' => ['%(scope)s'], 'attributes.NameFormat' => 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri',
];
"""


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """A running identity provider."""

    base: str
    folder: Path

    @property
    def entity_id(self) -> str:
        return f"{self.base}/saml2/idp/metadata.php"

    def metadata(self) -> str:
        answer = requests.get(self.entity_id, timeout=60)
        assert answer.status_code == 200, answer.text[:2000]
        return answer.text.strip()

    def trust(self, entity_id: str, consumer: str, logout: str) -> None:
        """Let a service provider ask."""
        _php(
            self.folder / "metadata" / "saml20-sp-remote.php",
            f"$metadata['{entity_id}'] = ['AssertionConsumerService' => '{consumer}', "
            f"'SingleLogoutService' => '{logout}'];",
        )


@contextmanager
def identity_provider(folder: Path, people: People) -> Iterator[IdentityProvider]:
    """One that knows these people, whose password is :data:`PASSWORD`, by their attributes."""
    assert WWW.exists(), "SimpleSAMLphp is not there: run scripts/setup.sh test"
    port = free_port()
    base = f"http://localhost:{port}"
    for name in ("metadata", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "config.php").write_text(_CONFIG % {"base": base, "folder": folder})
    (folder / "metadata" / "saml20-idp-hosted.php").write_text(_HOSTED % {"base": base, "scope": SCOPE})
    _php(folder / "metadata" / "saml20-sp-remote.php", "")
    known = {f"{name}:{PASSWORD}": dict(attributes) for name, attributes in people.items()}
    told = json.dumps(json.dumps(known)).replace("$", "\\$")
    _php(
        folder / "authsources.php",
        f"$config = ['people' => ['exampleauth:UserPass'] + json_decode({told}, true)];",
    )
    key_pair(folder / "idp.pem", folder / "idp.key", "identity provider")
    command = ["php", "-S", f"localhost:{port}", "-t", str(WWW)]
    environment = {"SIMPLESAMLPHP_CONFIG_DIR": str(folder), "PHP_CLI_SERVER_WORKERS": "2"}
    with running(command, folder / "php.log", answers(f"{base}/saml2/idp/metadata.php"), environment):
        yield IdentityProvider(base, folder)


def key_pair(certificate: Path, key: Path, name: str) -> None:
    """A self-signed certificate, as SAML's metadata hold them, and its key."""
    private = rsa.generate_private_key(65537, 2048)
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key.write_bytes(private.private_bytes(*form))


def _php(file: Path, code: str) -> None:
    file.write_text(f"<?php\n{code}\n")
