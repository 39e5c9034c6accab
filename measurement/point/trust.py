"""Whom a point knows, how it recognises them, and what each may have it do.  Pure.

pScheduler's limits go by a requester's address (its documentation's *identifiers*, *classifiers* and
*limits*); an address is no identity, so every caller presents a bearer token (RFC 6750).  What ADON asks
for is "who can initiate ... who can view" ([ADON] 2.2.1 (4)): rights per known party, narrowed by test and by
destination.

Tokens are known by their SHA-256 only.  A token of 128 random bits needs no slow hash.  Every comparison
takes the same time, and every known party is compared with, so that time tells nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Right(StrEnum):
    """What a known party may do."""

    START = "start"
    """Post tasks, and cancel its own."""
    TAKE_PART = "take-part"
    """Be a point that leads a task in which this one takes part."""
    READ = "read"
    """See the tasks and results of others."""
    ARCHIVE = "archive"
    """Push results to the ingest server of ADON's collector."""


@dataclass(frozen=True, slots=True)
class Known:
    """A party that is known.

    :param tokens: SHA-256 of its tokens, hexadecimal.
    :param tests: the tests that its rights are for; None for all.
    :param towards: networks and host names that its tests may go to; None for all.
    :param nodes: a measurement point's names in tests, with the port where it has one.
    :param own_token: what this point shows there.
    """

    name: str
    rights: frozenset[Right]
    tokens: frozenset[str] = frozenset()
    tests: frozenset[str] | None = None
    towards: tuple[Network | str, ...] | None = None
    nodes: frozenset[str] = frozenset()
    own_token: str | None = field(default=None, repr=False)

    def shows(self, token: str) -> bool:
        """Return whether a token is this party's."""
        return _among(self.tokens, _digest(token))

    def limit(self, test: str, hosts: Iterable[str]) -> str | None:
        """Why its rights do not cover a test towards these hosts; None when they do."""
        if self.tests is not None and test not in self.tests:
            return f"{self.name} may not start {test} tests."
        for host in hosts:
            if self.towards is not None and not any(_covers(place, host) for place in self.towards):
                return f"{self.name} may not start tests towards {host}."
        return None


@dataclass(frozen=True, slots=True)
class Trust:
    """Everybody who is known.

    :param reading: ``open`` when anybody may see tasks and results, as on a real server.
    """

    known: tuple[Known, ...]
    reading: Literal["open", "known"] = "open"

    def who(self, token: str | None) -> Known | None:
        """Return the party that presents this token."""
        if token is None:
            return None
        found = None
        for known in self.known:
            if known.shows(token):
                found = known
        return found

    def token_for(self, node: str) -> str | None:
        """Return what this point shows to the point of this name; no other host gets it."""
        return next((known.own_token for known in self.known if node.casefold() in known.nodes), None)


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: its address, and the known party if its token is known."""

    address: Address
    known: Known | None = None


LOOPBACK: tuple[Network, ...] = (ipaddress.IPv4Network("127.0.0.0/8"), ipaddress.IPv6Network("::1/128"))


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what at this point.

    :param trust: the known parties; None when no trust file was given.
    :param allow: networks from which active requests are accepted, from known parties too; None for all.
    :param open: without a trust file, whether other hosts than this one may have it measure.
    """

    trust: Trust | None = None
    allow: tuple[Network, ...] | None = None
    open: bool = False

    def refusal(self, caller: Caller, right: Right) -> str | None:
        """Why the caller may not use this right; None when it may."""
        if right is Right.READ:
            return self._unread(caller)
        if self.allow is not None and not _within(caller.address, self.allow):
            return f"Requester {caller.address} is not on the allow list."
        if self.trust is not None:
            return self._not_entitled(caller, right)
        if self.open or _within(caller.address, LOOPBACK):
            return None
        return f"Requester {caller.address} is not loopback, and this point has no trust file."

    def _unread(self, caller: Caller) -> str | None:
        if self.trust is None or self.trust.reading == "open":
            return None
        return self._not_entitled(caller, Right.READ)

    def _not_entitled(self, caller: Caller, right: Right) -> str | None:
        if caller.known is None:
            return f"Requester {caller.address} presents no known token."
        if right not in caller.known.rights:
            return f"{caller.known.name} has no right to {right}."
        return None


def plain_address(text: str) -> Address:
    """An address as the socket gives it, with IPv4 that comes through an IPv6 socket as what it is.

    :raises ValueError: for text that is no address.
    """
    found = ipaddress.ip_address(text)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return found if mapped is None else mapped


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _covers(place: Network | str, host: str) -> bool:
    if isinstance(place, str):
        return place.casefold() == host.casefold().rstrip(".")
    try:
        return plain_address(host) in place
    except ValueError:
        return False


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", errors="replace")).hexdigest()


def _among(digests: Iterable[str], found: str) -> bool:
    same = False
    for digest in digests:
        same |= hmac.compare_digest(digest, found)
    return same
