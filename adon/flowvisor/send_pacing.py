"""How fast something may go: token buckets as values, and the pieces a batch is sent in (R18, R19).

A bucket holds up to ``burst`` tokens and gains ``rate`` of them per second; what takes one when none is
left must wait, or is dropped.  Over any span of t seconds no more than ``burst + rate·t`` pass (the
token bucket of RFC 2697, with one colour).  Nothing here reads a clock: the caller says what time it is.

Flow-mods are paced by their number, not by their bytes: that is what a switch's own CPU counts.
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
    """A token bucket at one moment.

    :param rate: tokens per second, above 0.
    :param burst: tokens it holds at most, at least 1.
    :param tokens: that it holds now.
    :param at: the time (s) of which ``tokens`` is told.
    """

    rate: float
    burst: float
    tokens: float
    at: float

    @classmethod
    def full(cls, rate: float, burst: float, now: float) -> Bucket:
        """A bucket that nothing was taken from yet."""
        return cls(rate, burst, burst, now)

    def refill(self, now: float) -> Bucket:
        """The bucket as it is at ``now``."""
        return replace(self, tokens=min(self.burst, self.tokens + (now - self.at) * self.rate), at=now)

    def take(self, now: float, wanted: int = 1) -> Bucket | None:
        """The bucket after so many tokens were taken; None if it does not hold so many."""
        bucket = self.refill(now)
        if bucket.tokens < wanted:
            return None
        return replace(bucket, tokens=bucket.tokens - wanted)

    def borrow(self, now: float, wanted: int) -> tuple[Bucket, float]:
        """The bucket after so many tokens were taken, and how long (s) to wait before using them.

        What is not there yet is owed: the bucket goes below zero, and who comes next waits longer.
        """
        bucket = self.refill(now)
        left = bucket.tokens - wanted
        return replace(bucket, tokens=left), max(0.0, -left / self.rate)


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole messages that are sent together, and how many of them are flow-mods."""

    data: bytes
    flow_mods: int


def pieces(messages: bytes, most: int) -> Iterator[Piece]:
    """Cut packed messages into pieces of at most ``most`` flow-mods, in their order.

    :param messages: whole OpenFlow messages (7.1), one behind the other.
    :raises ValueError: if a message's length is not possible.
    """
    begin = offset = flow_mods = 0
    while offset < len(messages):
        if offset + HEADER_SIZE > len(messages):
            raise ValueError(f"half a header at byte {offset}")
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
