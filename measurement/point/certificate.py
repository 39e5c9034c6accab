"""Certificates: the one that a point makes for itself when it is given none, and reading those of others.

Its own is self-signed, like pScheduler's after installation: clients and other points pin it, that is, use
the file itself as what they trust; it serves as client certificate too.  Names: the host's name, the address
it listens on, loopback.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import os
import re
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509

VALID_DAYS = 3650
STEM = "point"
CERTIFICATE = f"{STEM}.pem"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")


def ensure(folder: Path, names: Iterable[str], stem: str = STEM) -> tuple[Path, Path]:
    """The certificate and key in ``folder``, made if they are not there.

    :param stem: their file names without the endings.
    """
    certificate, key = folder / f"{stem}.pem", folder / f"{stem}.key"
    if not (certificate.exists() and key.exists()):
        _make(certificate, key, list(dict.fromkeys(names)))
    return certificate, key


def pems(text: str) -> list[str]:
    """Each certificate in a PEM file, which may hold keys and comments too."""
    return [found[0] + "\n" for found in _PEM.finditer(text)]


def fingerprint(pem: str) -> str:
    """SHA-256 of a certificate's DER form, hexadecimal.

    :raises ValueError: for text that is no certificate.
    """
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def is_issued_by(pem: str, authority: str, subject: str) -> bool:
    """Whether an authority has itself signed a certificate for this DNS name.

    That it is valid today has been checked in the handshake.
    """
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature

    try:
        shown = x509.load_pem_x509_certificate(pem.encode("ascii"))
        shown.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.encode("ascii")))
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    return subject.casefold() in {name.casefold() for name in names.get_values_for_type(x509.DNSName)}


def _make(certificate: Path, key: Path, names: list[str]) -> None:
    # Imported here: a point that has its certificate starts faster and smaller without it.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
        .sign(private, hashes.SHA256())
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(key, secret, 0o600)
    _write(certificate, made.public_bytes(serialization.Encoding.PEM), 0o644)


def _alternative(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write(file: Path, data: bytes, mode: int) -> None:
    # Whole or not at all: whoever waits for the certificate to appear must not read half of it.
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        out.write(data)
    partial.replace(file)
