"""Webhooks: an HTTP POST of one JSON document, signed, to where it may go.

A webhook's URL is chosen by a user, the connection is made by us: without care it would reach what only we
can reach.  So, before anything is sent, the host's name is resolved *once*; every address must be public
(or the host be named by the operator), and the connection goes to that address, not to the name again,
which might answer differently by then.  Redirects are not followed, no proxy of the environment is used,
and nothing of the answer but its status is read.

The signature is that of Standard Webhooks (https://www.standardwebhooks.com), by HMAC-SHA256 (RFC 2104)::

    webhook-id: <delivery>           the same when it is sent again
    webhook-timestamp: <seconds>
    webhook-signature: v1,<base64 of HMAC(secret, "<id>.<timestamp>.<body>")>
"""

from __future__ import annotations

import base64
import errno
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from measurement.notify import message
from measurement.notify.failure import NotDelivered
from measurement.notify.outbox import Delivery

TIMEOUT_S = 10.0
DEADLINE_S = 20.0
_AGAIN = frozenset({408, 425, 429})
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))

Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Policy:
    """What webhooks may reach.

    :param hosts: if there are any, in lower case: the only hosts that may be named, and they may be private
        ones; if there are none: every host with public addresses only.
    :param secret: signs calls; without it they are not signed.
    """

    hosts: frozenset[str] = frozenset()
    secret: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class _Target:
    """A URL, taken apart."""

    tls: bool
    host: str
    port: int
    path: str

    @property
    def shown(self) -> str:
        """What may be logged: the rest of a URL is often a secret."""
        return f"webhook at {self.host}"


def send(
    delivery: Delivery,
    policy: Policy,
    now: float,
    *,
    resolve: Resolve | None = None,
    context: ssl.SSLContext | None = None,
    timeout: float = TIMEOUT_S,
    deadline: float = DEADLINE_S,
) -> None:
    """Make the call.

    :param resolve: the addresses of a host's name; by default the system's.
    :param deadline: seconds after which the whole call is ended, however busy the other side is.
    :raises NotDelivered: if it was not answered with 2xx.
    """
    target = _target(delivery.subscription.target)
    body = json.dumps(message.document(delivery), allow_nan=False, separators=(",", ":")).encode()
    headers = {"Content-Type": "application/json", **sign_headers(policy.secret, delivery.id, now, body)}
    addresses = _addresses(target, policy, _system_resolve if resolve is None else resolve)
    trust = ssl.create_default_context() if context is None else context
    try:
        with _connect(target, addresses, trust, timeout, deadline) as connection:
            connection.request("POST", target.path, body, headers)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or type(error).__name__
        raise NotDelivered(f"{target.shown}: {cause}", temporary=True) from None
    if not 200 <= status < 300:
        moved = " (redirects are not followed)" if 300 <= status < 400 else ""
        temporary = status >= 500 or status in _AGAIN
        raise NotDelivered(f"{target.shown}: HTTP {status}{moved}", temporary=temporary)


def sign_headers(secret: bytes, delivery: str, now: float, body: bytes) -> Mapping[str, str]:
    """The headers that say which call it is, when it was made, and that it is ours."""
    stamp = str(int(now))
    headers = {"webhook-id": delivery, "webhook-timestamp": stamp}
    if secret:
        code = hmac.new(secret, b".".join([delivery.encode(), stamp.encode(), body]), hashlib.sha256)
        headers["webhook-signature"] = f"v1,{base64.b64encode(code.digest()).decode()}"
    return headers


def is_public(address: str) -> bool:
    """Whether an address is the Internet's, and no disguise of another (RFC 4291, 6052, 3056, 4380)."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None or found.sixtofour is not None or found.teredo is not None:
            return False
        if any(found in network for network in _NAT64):
            return False
    return found.is_global and not found.is_multicast


def _target(text: str) -> _Target:
    url = urlsplit(text)
    tls = url.scheme == "https"
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return _Target(tls, str(url.hostname), url.port or (443 if tls else 80), path)


def _addresses(target: _Target, policy: Policy, resolve: Resolve) -> list[str]:
    if policy.hosts and target.host not in policy.hosts:
        raise NotDelivered(
            f"{target.shown}: the configuration does not name this host",
            temporary=False,
            code="target-not-permitted",
        )
    try:
        addresses = resolve(target.host, target.port)
    except (OSError, UnicodeError):
        raise NotDelivered(f"{target.shown}: the name has no address", temporary=True) from None
    if not addresses:
        raise NotDelivered(f"{target.shown}: the name has no address", temporary=True)
    if not policy.hosts and not all(is_public(address) for address in addresses):
        raise NotDelivered(
            f"{target.shown}: not a public address", temporary=False, code="target-not-permitted"
        )
    return addresses


def _system_resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@contextmanager
def _connect(
    target: _Target, addresses: list[str], trust: ssl.SSLContext, timeout: float, deadline: float
) -> Iterator[http.client.HTTPConnection]:
    port = None if target.port == (443 if target.tls else 80) else target.port
    connection = http.client.HTTPConnection(target.host, port)
    with (
        closing(_open_socket(addresses, target.port, timeout)) as raw,
        _ended_after(deadline, raw),
        closing(trust.wrap_socket(raw, server_hostname=target.host) if target.tls else raw) as stream,
    ):
        connection.sock = stream
        yield connection


@contextmanager
def _ended_after(deadline: float, stream: socket.socket) -> Iterator[None]:
    """Cut a connection that is still in use after so many seconds.

    :raises TimeoutError: then, also if what had come by then looks like an answer.
    """
    over = threading.Event()
    # A second handle on the same connection: TLS takes the first one over.
    with closing(stream.dup()) as handle:
        watchdog = threading.Timer(deadline, _cut, [handle, over])
        watchdog.daemon = True
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()
            watchdog.join()
    if over.is_set():
        raise TimeoutError(errno.ETIMEDOUT, "no complete answer in time")


def _open_socket(addresses: list[str], port: int, timeout: float) -> socket.socket:
    for address in addresses[:-1]:
        try:
            return socket.create_connection((address, port), timeout)
        except OSError:
            continue
    return socket.create_connection((addresses[-1], port), timeout)


def _cut(stream: socket.socket, over: threading.Event) -> None:
    """End a connection from outside: whoever reads from it wakes up."""
    over.set()
    try:
        stream.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it ended by itself
