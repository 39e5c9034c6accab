"""Origin of a request: the address of its client, and the site of the page that sent it.

``X-Forwarded-For`` and ``X-Forwarded-Proto`` count only on connections from an address of
``controller.web_proxies``; the client is the last address of the chain that is no such proxy.  No header of
this kind reaches the application.  The address at the other end of the connection is in the scope as
:data:`PEER`, because a web server that asserts identities is recognised by it.

A browser reports the site of the sending page itself: Fetch Metadata (W3C, ``Sec-Fetch-Site``), in older
browsers the header Origin (RFC 6454).  A request without both comes from no browser that sends our SameSite
cookies.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from apps.rest.wsgi_bridge import Receive, Scope, Send

log = logging.getLogger(__name__)

PROXIED = "adon.proxied"
"""Key of the ASGI scope and of the WSGI environment: whether a configured proxy forwarded the request."""
PEER = "adon.peer"
"""Key for the address at the other end of the connection; empty for a Unix socket."""
_FORWARDED = ("x-forwarded-", "forwarded", "x-real-ip")

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ClientAddress:
    """ASGI application that sets the client's address of each request, and removes the headers about it.

    :param proxies: addresses and networks of the configured proxies.
    """

    def __init__(self, app: App, proxies: Sequence[str]) -> None:
        self._app = app
        self._networks = [ipaddress.ip_network(one) for one in proxies]
        self._forwarded = ProxyHeadersMiddleware(self._serve, list(proxies))  # type: ignore[arg-type]
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        address, port = scope.get("client") or ("", 0)
        address = plain(address)
        scope["client"] = (address, port) if address else None
        scope[PEER], scope[PROXIED] = address, self._is_proxy(address)
        await self._forwarded(scope, receive, send)  # type: ignore[arg-type]

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._networks)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        present = len(scope["headers"])
        scope["headers"] = [
            (name, value)
            for name, value in scope["headers"]
            if not name.decode("latin-1").replace("_", "-").startswith(_FORWARDED)
        ]
        if present != len(scope["headers"]) and not scope[PROXIED] and not self._warned:
            self._warned = True
            log.warning(
                "event=web.unknown-proxy address=%s hint='name it in controller.web_proxies'", scope[PEER]
            )
        await self._app(scope, receive, send)


def plain(address: str) -> str:
    """Return an address in its plain form: an IPv4 client of a dual-stack socket is ``::ffff:192.0.2.7``."""
    try:
        mapped = ipaddress.IPv6Address(address).ipv4_mapped
    except ValueError:
        return address
    return address if mapped is None else str(mapped)


def network_of(address: str) -> str:
    """Return what counts as one address in limits: an IPv4 address, or the /64 of an IPv6 host."""
    try:
        found = ipaddress.ip_address(plain(address))
    except ValueError:
        return address
    return str(found if found.version == 4 else ipaddress.ip_network((found, 64), strict=False))


def is_foreign(fetch_site: str | None, origin: str | None, host: str, *, typed: bool = False) -> bool:
    """Return whether a page of another site sent a request.

    :param fetch_site, origin: the headers ``Sec-Fetch-Site`` and ``Origin``; None for a missing one.
    :param host: name and port of this server for the browser.
    :param typed: whether no page need have sent it (``none``: a bookmark, or a form sent again).
    """
    if fetch_site is not None:
        return fetch_site != "same-origin" and not (typed and fetch_site == "none")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != host
    except ValueError:
        return True
