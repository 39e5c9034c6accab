"""The certificates that measurement points show, for ``adon config check``: what to write as ``verify``."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from urllib.parse import urlsplit

from adon.config import MeasurementPoint

WITHIN_S = 3.0


def shown_certificates(points: Mapping[str, MeasurementPoint]) -> dict[str, str]:
    """Return by point the fingerprint, ``sha256:`` and 64 digits, of the certificate that its server shows.

    A server that does not answer within :data:`WITHIN_S` is left out.  Nothing is verified.
    """
    found: dict[str, str] = {}

    def ask(name: str, url: str) -> None:
        place = urlsplit(url)
        with suppress(OSError, ValueError):  # unreachable, without TLS, or no host name
            pem = ssl.get_server_certificate((place.hostname or "", place.port or 443), timeout=WITHIN_S)
            found[name] = f"sha256:{sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()}"

    threads = [
        threading.Thread(target=ask, args=(name, point.url), daemon=True)
        for name, point in points.items()
        if point.url.startswith("https:")
    ]
    until = time.monotonic() + WITHIN_S
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(sorted(found.items()))
