"""Connections to one host: who it must be, who we are, and how many there may be.

A certificate is checked against the system's authorities, against those of a file (which may be the
host's own self-signed one), or pinned by its fingerprint: pScheduler's default certificate often names
another host than the one it is on.  Connections are kept open where the server allows (stock
pScheduler does not) and taken up again; each is checked when it is made.
"""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.cookiejar import DefaultCookiePolicy
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import requests
import urllib3
from requests.adapters import HTTPAdapter

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1


@dataclass(frozen=True, slots=True)
class Pinned:
    """Exactly one certificate; its name and its signature do not matter.

    :param sha256: the fingerprint of its DER form: 64 hexadecimal digits, with colons or without.
    :raises ValueError: for anything else.
    """

    sha256: str

    def __post_init__(self) -> None:
        if not _FINGERPRINT.fullmatch(self.digits):
            raise ValueError("verify: a fingerprint is 64 hexadecimal digits of SHA-256")

    @property
    def digits(self) -> str:
        """The fingerprint in small letters, without colons."""
        return self.sha256.replace(":", "").lower()


Verify = bool | str | Pinned
"""True: the system's authorities; a path: a PEM file of authorities (or the certificate itself, if it
names the host); :class:`Pinned`: this certificate only; False: no check."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are.

    :param token: sent as ``Authorization: Bearer``; over TLS only, or to this very host.
    :raises ValueError: for a token that is none.
    """

    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise ValueError("credentials: a token has letters, digits and ._~+/-= only")


NO_CREDENTIALS = Credentials()


class Connections:
    """A bounded pool of connections to one host; threads may share it.

    :param most: how many requests may be under way at once.
    :raises ValueError: for certificate files that cannot be used, or a token where it could be overheard.
    """

    def __init__(self, place: SplitResult, verify: Verify, credentials: Credentials, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy and no .netrc password unless they are configured here
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.headers.update({"Accept-Encoding": "identity", "User-Agent": "adon-measurement"})
        if credentials.token is not None:
            if place.scheme != "https" and not _loopback(place.hostname):
                raise ValueError(f"credentials: a token is not sent to {place.netloc} without TLS")
            self._session.headers["Authorization"] = f"Bearer {credentials.token}"
        if place.scheme == "https":
            self._session.mount("https://", _Adapter(verify, most))
        else:
            self._session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=most))

    @contextmanager
    def session(self, within: float) -> Iterator[requests.Session | None]:
        """The session, for one request; None when in ``within`` seconds none of ours has ended."""
        if not self._free.acquire(timeout=within):
            yield None
            return
        try:
            yield self._session
        finally:
            self._free.release()

    def close(self) -> None:
        """Close what is open; a later request opens anew."""
        self._session.close()


class _Adapter(HTTPAdapter):
    """TLS as it was configured for this host, instead of by requests' arguments.

    requests would load the authorities anew for every connection, several milliseconds of processor
    each; here hosts with the same trust share one context.
    """

    def __init__(self, verify: Verify, most: int) -> None:
        self._tls: dict[str, Any] = {"ssl_context": _context(verify)}
        if isinstance(verify, Pinned):
            self._tls["assert_fingerprint"] = verify.digits
        super().__init__(pool_connections=1, pool_maxsize=most)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **more: Any) -> None:
        super().init_poolmanager(connections, maxsize, block, **more, **self._tls)

    def build_connection_pool_key_attributes(self, request: Any, verify: Any, cert: Any = None) -> Any:
        """Where to connect to, and nothing about TLS: that is the pool's own."""
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Leave the connection as the context has it."""


def _context(verify: Verify) -> ssl.SSLContext:
    if verify is False:
        # ADON logs the missing verification once; urllib3 would log it at each request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    authorities = _authorities(verify)
    if authorities is None:
        return _cached_context(None, 0)
    file = Path(authorities)
    if not file.is_file():
        raise ValueError(f"verify: there is no certificate file {authorities!r}")
    try:
        return _cached_context(authorities, file.stat().st_mtime_ns)
    except OSError as error:  # an ssl.SSLError is one too
        raise ValueError(f"verify: not usable as certificates: {file} ({error.strerror})") from None


@lru_cache(maxsize=16)
def _cached_context(authorities: str | None, _changed_at: int) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authorities is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(cafile=authorities)
    return context


def _authorities(verify: Verify) -> str | None:
    """The file of authorities; None where none are asked."""
    if verify is True:
        # requests' own default is certifi's list, which lacks the authorities that a site added.
        return ssl.get_default_verify_paths().cafile or requests.utils.DEFAULT_CA_BUNDLE_PATH
    return verify if isinstance(verify, str) else None


def _loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
