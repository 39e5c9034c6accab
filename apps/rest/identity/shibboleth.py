"""Shibboleth behind mod_shib: what a web server in front of us says in headers about who signed in.

A header is only as good as who wrote it.  These count if the request comes from a configured address (or
over a Unix socket) and carries the secret that only that web server has; from anybody else they are nothing,
and an attempt.
"""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from adon.access.assertion import Assertion, from_attributes
from adon.config.access import UNIX, Attribute, Shibboleth
from adon.errors import NotAuthenticated
from apps.rest.request_origin import PEER

log = logging.getLogger(__name__)

SECRET = "Adon-Proxy-Secret"  # noqa: S105 - the name of a header
HEADERS: Mapping[Attribute, str] = {
    "issuer": "Shib-Identity-Provider",
    "principal": "eppn",
    "subject": "subject-id",
    "persistent": "persistent-id",
    "entitlement": "entitlement",
    "affiliation": "affiliation",
    "groups": "member",
    "name": "displayName",
}
"""By attribute the header's name: mod_shib's own, of its usual attribute map."""
TELLING = (SECRET, "Shib-Identity-Provider", "Shib-Session-ID", "Remote-User")
"""Headers that only such a web server sends."""
MOST_NOTED = 1000


class TrustedProxy:
    """The web server that may speak for mod_shib.

    :param secret: what it sends in the header :data:`SECRET`.
    """

    def __init__(self, settings: Shibboleth, secret: str) -> None:
        self._secret = secret.encode()
        self._unix = UNIX in settings.proxies
        self._networks = [ip_network(proxy) for proxy in settings.proxies if proxy != UNIX]
        self._names = {**HEADERS, **settings.headers}

    def sent(self, environ: Mapping[str, Any]) -> bool:
        """Whether a request is this web server's."""
        secret = hmac.compare_digest(_header(environ, SECRET).encode(), self._secret)
        return self._near(peer(environ)) and secret

    def assertion(self, environ: Mapping[str, Any]) -> Assertion:
        """Who signed in.

        :raises NotAuthenticated: for a request of another sender, or one without a user.
        """
        if not self.sent(environ):
            raise NotAuthenticated("this sign-in works only through the web server in front of ADON")
        found = from_attributes({name: _header(environ, header) for name, header in self._names.items()})
        if not found.issuer:
            raise NotAuthenticated(
                "the web server in front of ADON passed on no Shibboleth session; "
                "its configuration must ask for one at /sign-in/shibboleth"
            )
        return found

    def _near(self, where: str) -> bool:
        if not where:
            return self._unix
        try:
            address = ip_address(where)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._networks)


class Attempts:
    """Notes who sends such headers without being the one who may, each sender once."""

    def __init__(self, proxy: TrustedProxy | None) -> None:
        self._proxy = proxy
        self._noted: set[str] = set()
        self._lock = threading.Lock()

    def look(self, environ: Mapping[str, Any]) -> str | None:
        """The sender of an attempt that is noted for the first time; None for any other request."""
        told = [name for name in TELLING if _key(name) in environ]
        if not told or (self._proxy is not None and self._proxy.sent(environ)):
            return None
        sender = peer(environ) or UNIX
        with self._lock:
            if sender in self._noted or len(self._noted) >= MOST_NOTED:
                return None
            self._noted.add(sender)
        log.warning("event=signin.spoofed peer=%s headers=%s", sender, ",".join(told))
        return sender


def peer(environ: Mapping[str, Any]) -> str:
    """The address at the other end of the connection, whatever headers say; empty for a Unix socket."""
    said = environ.get(PEER)
    return str(environ.get("REMOTE_ADDR") or "") if said is None else str(said)


def _header(environ: Mapping[str, Any], name: str) -> str:
    # WSGI reads the bytes of a header as Latin-1; mod_shib writes UTF-8.
    return str(environ.get(_key(name), "")).encode("latin-1", "replace").decode("utf-8", "replace")


def _key(name: str) -> str:
    return f"HTTP_{name.upper().replace('-', '_')}"
