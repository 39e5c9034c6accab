"""Rate limits: token buckets as values, and the parts in which a batch is sent (R18, R19).

A bucket holds up to ``burst`` tokens and gains ``rate`` tokens per second.  A message without a token waits
or is dropped.  In any span of t seconds at most ``burst + rate·t`` messages pass (the token bucket of RFC
2697 with one colour).  The module reads no clock: times are arguments.

Flow-mods are paced by number, not by bytes, because the load of a switch's CPU depends on their number.
References are to the OpenFlow Switch Specification 1.3.5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

OFPT_FLOW_MOD = 14
HEADER_SIZE = 8


@dataclass(frozen=True, slots=True)
class Bucket:
    """Token bucket at one time.

    :param rate: tokens per second, above 0.
    :param burst: maximum number of tokens, at least 1.
    :param tokens: present number of tokens.
    :param at: the time (s) of ``tokens``.
    """

    rate: float
    burst: float
    tokens: float
    at: float

    @classmethod
    def full(cls, rate: float, burst: float, now: float) -> Bucket:
        """Return a full bucket."""
        return cls(rate, burst, burst, now)

    def refill(self, now: float) -> Bucket:
        """Return the bucket at ``now``."""
        return replace(self, tokens=min(self.burst, self.tokens + (now - self.at) * self.rate), at=now)

    def take(self, now: float, wanted: int = 1) -> Bucket | None:
        """Return the bucket without ``wanted`` tokens; None if it holds fewer."""
        bucket = self.refill(now)
        if bucket.tokens < wanted:
            return None
        return replace(bucket, tokens=bucket.tokens - wanted)

    def borrow(self, now: float, wanted: int) -> tuple[Bucket, float]:
        """Return the bucket without ``wanted`` tokens, and the time (s) until they are available.

        Missing tokens are a debt: the bucket goes below zero, and the next caller waits longer.
        """
        bucket = self.refill(now)
        left = bucket.tokens - wanted
        return replace(bucket, tokens=left), max(0.0, -left / self.rate)


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole messages that are sent together, and the number of flow-mods among them."""

    data: bytes
    flow_mods: int


def split_messages(messages: bytes, most: int) -> Iterator[Piece]:
    """Cut packed messages into pieces of at most ``most`` flow-mods, in their order.

    :param messages: consecutive whole OpenFlow messages (7.1).
    :raises ValueError: for an impossible length of a message.
    """
    begin = offset = flow_mods = 0
    while offset < len(messages):
        if offset + HEADER_SIZE > len(messages):
            raise ValueError(f"a truncated header at byte {offset}")
        kind, length = struct.unpack_from("!BH", messages, offset + 1)
        if length < HEADER_SIZE or offset + length > len(messages):
            raise ValueError(f"a message of length {length} at byte {offset}")
        if kind == OFPT_FLOW_MOD and flow_mods == most:
            yield Piece(messages[begin:offset], flow_mods)
            begin, flow_mods = offset, 0
        flow_mods += kind == OFPT_FLOW_MOD
        offset += length
    if begin < offset:
        yield Piece(messages[begin:offset], flow_mods)
