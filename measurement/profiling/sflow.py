"""sFlow version 5 as switches send it: the flow samples in a datagram (sflow.org, "sFlow Version 5", 2004).

Only what a profile needs is read: flow samples, plain and expanded, with the sampled headers of frames.
Counters and records of other kinds are passed over by their lengths, as the format wants.  Everything is
checked against the bytes that are there, for datagrams come from a network.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from measurement.profiling.packets import Link

VERSION = 5
PORT = 6343
"""Where collectors listen (IANA)."""

_ADDRESS_BYTES = {1: 4, 2: 16}
_FLOW, _FLOW_EXPANDED = 1, 3
_HEADER_RECORD = 1
_LINKS = {1: Link.ETHERNET, 11: Link.RAW, 12: Link.RAW}
"""What a sampled header begins with: Ethernet, IPv4, IPv6."""


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a sampled frame.

    :param length: bytes of the whole frame, without its checksum.
    """

    link: Link
    length: int
    frame: bytes


@dataclass(frozen=True, slots=True)
class FlowSample:
    """One packet out of many.

    :param sequence: counts the samples of its source.
    :param origin: the interface, or other part, of the agent that took it.
    :param rate: one in so many packets is sampled.
    :param drops: samples that the agent itself had to drop, since it started.
    """

    sequence: int
    origin: int
    rate: int
    drops: int
    headers: tuple[Header, ...]


@dataclass(frozen=True, slots=True)
class Datagram:
    """What an agent sent.

    :param agent: its IP address; :param sub_agent: a part of it that counts for itself.
    :param sequence: counts the datagrams of the sub-agent.
    :param uptime: seconds since the agent started.
    """

    agent: str
    sub_agent: int
    sequence: int
    uptime: float
    samples: tuple[FlowSample, ...]


class _Bytes:
    """Big-endian numbers, one after the other (XDR, RFC 4506)."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._at = 0
        self._what = what

    def numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"!{count}I", self.some(4 * count))

    def number(self) -> int:
        return self.numbers(1)[0]

    def some(self, count: int) -> bytes:
        """So many bytes, and what fills them up to whole words."""
        padded = -(-count // 4) * 4
        if self._at + padded > len(self._data):
            raise ValueError(f"{self._what}: ends after {len(self._data)} bytes, within a field")
        found = self._data[self._at : self._at + count]
        self._at += padded
        return found

    def several(self, what: str) -> Iterator[tuple[int, _Bytes]]:
        """Parts with a format and a length each, as many as the number before them says."""
        for _ in range(self.number()):
            form, length = self.numbers(2)
            yield form, _Bytes(self.some(length), what)


def read(data: bytes) -> Datagram:
    """A datagram.

    :raises ValueError: if it is not one of version 5, or ends too early; it names the part.
    """
    rest = _Bytes(data, "datagram")
    version, kind = rest.numbers(2)
    if version != VERSION:
        raise ValueError(f"version: sFlow {version} is not {VERSION}")
    if kind not in _ADDRESS_BYTES:
        raise ValueError(f"agent: an address of type {kind} is neither IPv4 nor IPv6")
    agent = str(ipaddress.ip_address(rest.some(_ADDRESS_BYTES[kind])))
    sub_agent, sequence, uptime = rest.numbers(3)
    samples = (_sample(form, part) for form, part in rest.several("sample"))
    found = tuple(each for each in samples if each is not None)
    return Datagram(agent, sub_agent, sequence, uptime / 1000, found)


def _sample(form: int, part: _Bytes) -> FlowSample | None:
    if form == _FLOW:
        sequence, origin, rate, _pool, drops, _input, _output = part.numbers(7)
    elif form == _FLOW_EXPANDED:
        sequence, kind, index, rate, _pool, drops = part.numbers(6)
        origin = kind << 32 | index
        part.numbers(4)  # the interfaces in and out
    else:
        return None
    if rate < 1:
        raise ValueError("sample: rate: one in 0 packets is no sampling")
    headers = (_header(record) for kind, record in part.several("record") if kind == _HEADER_RECORD)
    return FlowSample(sequence, origin, rate, drops, tuple(each for each in headers if each is not None))


def _header(record: _Bytes) -> Header | None:
    protocol, length, stripped, size = record.numbers(4)
    link = _LINKS.get(protocol)
    # The length on the wire counts what was stripped off before the sample, its checksum for one.
    return None if link is None else Header(link, length - min(stripped, length), record.some(size))
