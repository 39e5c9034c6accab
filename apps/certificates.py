"""The certificates that measurement points show: what ``verify`` can pin."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from urllib.parse import urlsplit

from adon.config.measurements import MeasurementPoint
from adon.config.types import PINNED

WITHIN_S = 3.0


def fetch_fingerprints(points: Mapping[str, MeasurementPoint]) -> dict[str, str]:
    """Return by point the fingerprint of its server's certificate, as ``verify`` pins it.

    A server that does not answer within :data:`WITHIN_S` is left out.  Nothing is verified.
    """
    found: dict[str, str] = {}

    def fetch(name: str, url: str) -> None:
        place = urlsplit(url)
        with suppress(OSError, ValueError):  # unreachable, without TLS, or no host name
            pem = ssl.get_server_certificate((place.hostname or "", place.port or 443), timeout=WITHIN_S)
            found[name] = f"{PINNED}{sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()}"

    secure = {name: point.url for name, point in points.items() if point.url.startswith("https:")}
    # A slow name server must not keep the process: pools wait for their threads.
    threads = [threading.Thread(target=fetch, args=each, daemon=True) for each in secure.items()]
    until = time.monotonic() + WITHIN_S
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return {name: found[name] for name in sorted(secure) if name in found}
