"""The certificate that a point makes for itself when it is given none.

Its own is self-signed, like pScheduler's after installation: clients and other points pin it, that is, use
the file itself as what they trust.  Names: the host's name, the address it listens on, loopback.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509

VALID_DAYS = 3650
STEM = "point"
CERTIFICATE = f"{STEM}.pem"


def ensure(folder: Path, names: Iterable[str], stem: str = STEM) -> tuple[Path, Path]:
    """The certificate and key in ``folder``, made if they are not there.

    :param stem: their file names without the endings.
    """
    certificate, key = folder / f"{stem}.pem", folder / f"{stem}.key"
    if not (certificate.exists() and key.exists()):
        _make(certificate, key, list(dict.fromkeys(names)))
    return certificate, key


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
    # Atomic: a process that waits for the certificate must not read half of it.
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        out.write(data)
    partial.replace(file)
