"""Whether a request came through a proxy of ours, and who had asked it.

``X-Forwarded-For`` and ``X-Forwarded-Proto`` count only on connections from an address of
``controller.web_proxies``; of a chain, the last address that is none of those is the client's.  Whoever
sent them, no such header goes on to the application: what they say is in the client's address and the scheme.
The address at the other end of the connection itself goes on as :data:`PEER`: who speaks for an identity
provider is asked by that, never by what a header says.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Sequence

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from apps.rest.bridge import Receive, Scope, Send

log = logging.getLogger(__name__)

PROXIED = "adon.proxied"
"""In the ASGI scope and in the WSGI environment: whether a proxy of ours brought the request."""
PEER = "adon.peer"
"""There, too: the address at the other end of the connection; empty for a Unix socket."""
_SAID = ("x-forwarded-", "forwarded", "x-real-ip")

App = Callable[[Scope, Receive, Send], Awaitable[None]]


def behind(app: App, proxies: Sequence[str]) -> App:
    """The application, told of each request whether a proxy brought it, and from whom."""
    warned = False

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        said = [name.decode("latin-1") for name, _ in scope["headers"]]
        scope["headers"] = [
            header
            for header, name in zip(scope["headers"], said, strict=True)
            if not name.replace("_", "-").startswith(_SAID)
        ]
        nonlocal warned
        if len(said) != len(scope["headers"]) and not scope[PROXIED] and not warned:
            warned = True
            log.warning(
                "event=web.unknown-proxy address=%s hint='name it in controller.web_proxies'",
                (scope.get("client") or ("",))[0],
            )
        await app(scope, receive, send)

    trusting = ProxyHeadersMiddleware(bare, list(proxies))  # type: ignore[arg-type]
    ours = trusted(proxies)

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        address, port = scope.get("client") or ("", 0)
        address = plain(address)
        scope["client"] = (address, port) if address else None
        scope[PEER], scope[PROXIED] = address, ours(address)
        await trusting(scope, receive, send)  # type: ignore[arg-type]

    return told


def trusted(proxies: Sequence[str]) -> Callable[[str], bool]:
    """Whether an address is one of these proxies'."""
    networks = [ipaddress.ip_network(one) for one in proxies]

    def ours(address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in networks)

    return ours


def plain(address: str) -> str:
    """An address in its plain form: an IPv4 client of a socket for both protocols is ``::ffff:192.0.2.7``."""
    try:
        mapped = ipaddress.IPv6Address(address).ipv4_mapped
    except ValueError:
        return address
    return address if mapped is None else str(mapped)
