"""The web side: how much one user, one address and all together may ask of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from adon.config.parts import Section, Span


class Rate(Section):
    """So many requests in any stretch of time of this length.

    It is what may come at once; divided by the length, what may come for long.
    """

    requests: int = Field(ge=1, le=100_000)
    per: Span


def _rate(requests: int, per: str) -> Rate:
    return Rate.model_validate({"requests": requests, "per": per})


class WebLimits(Section):
    """What one may ask, and how many may listen.

    :param reads, writes: requests of one user to the API that change nothing, and that do.
    :param inside: what the pages ask on behalf of one user; one page asks some twenty times.
    :param anonymous: requests to the API without an identity, from one address.
    :param sign_in: attempts to sign in, and tokens that are not valid, from one address.
    :param addresses: requests of every kind from one address.
    :param streams: listeners to events there may be at once, and :param streams_per_user: of one user.
    :param connections: open connections, and :param connections_per_address: of one address that is no proxy.
    """

    reads: Rate = _rate(100, "5 s")
    writes: Rate = _rate(30, "10 s")
    inside: Rate = _rate(400, "5 s")
    anonymous: Rate = _rate(50, "5 s")
    sign_in: Rate = _rate(30, "60 s")
    addresses: Rate = _rate(1000, "5 s")
    streams: int = Field(default=1000, ge=1, le=10_000)
    streams_per_user: int = Field(default=50, ge=1, le=10_000)
    connections: int = Field(default=2000, ge=10, le=60_000)
    connections_per_address: int = Field(default=1000, ge=10, le=60_000)

    @property
    def rates(self) -> Mapping[str, Rate]:
        """The rates by their names."""
        names = ("reads", "writes", "inside", "anonymous", "sign_in", "addresses")
        return {name: getattr(self, name) for name in names}


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise ValueError(f"{text!r} is neither an address nor a network: {error}") from None


Network = Annotated[str, AfterValidator(_network)]
"""``192.0.2.7`` or ``2001:db8::/32``."""
