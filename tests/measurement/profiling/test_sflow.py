"""sFlow datagrams: those of the standard are read, what is not whole is refused."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.profiling.packets import End, Link
from measurement.profiling.sflow import Datagram, FlowSample, Header, read
from tests.measurement.profiling.frames import datagram, ethernet, header, ip, part, sample
from tests.support.refusals import refused

FRAME = ethernet(ip(End("10.0.0.1", 1), End("10.0.0.2", 2), 1000))
COUNTERS = part(2, bytes(96))


def test_a_datagram_by_hand() -> None:
    """Word by word from the standard's structures, not by the functions that other tests use."""
    words = [
        5, 1, 0xC0000201, 3, 42, 12_500, 1,  # version, IPv4 agent, sub-agent, sequence, uptime, samples
        1, 32 + 8 + 16 + 8, 9, 0x01000007, 256, 2304, 2, 4, 5, 1,  # flow sample with one record
        1, 24, 1, 1018, 4, 6,  # sampled header: Ethernet, length, stripped, six bytes
    ]  # fmt: skip
    data = struct.pack(f"!{len(words)}I", *words) + b"abcdef\0\0"
    found = Header(Link.ETHERNET, 1014, b"abcdef")
    assert read(data) == Datagram("192.0.2.1", 3, 42, 12.5, (FlowSample(9, 0x01000007, 256, 2, (found,)),))


@pytest.mark.parametrize("expanded", [False, True])
@pytest.mark.parametrize("agent", ["192.0.2.1", "2001:db8::1"])
def test_samples_and_what_is_passed_over(expanded: bool, agent: str) -> None:
    records = [part(1001, bytes(16)), header(FRAME), header(b"\0" * 9, protocol=2)]
    data = datagram(7, [COUNTERS, sample(3, records, drops=5, expanded=expanded), part(99, b"")], agent=agent)
    (found,) = read(data).samples
    assert (found.sequence, found.origin, found.rate, found.drops) == (3, 7, 100, 5)
    assert found.headers == (Header(Link.ETHERNET, len(FRAME), FRAME[:128]),)
    assert read(data).agent == agent


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (datagram(1, [], version=4), "version"),
        (struct.pack("!II", 5, 3) + bytes(40), "agent"),
        (datagram(1, [sample(1, [header(FRAME)], rate=0)]), "sample"),
        (datagram(1, [part(1, bytes(8))]), "sample"),
        (datagram(1, [sample(1, [part(1, bytes(8))])]), "record"),
        (b"", "datagram"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, field: str) -> None:
    with refused(ValueError, field):
        read(data)


WHOLE = datagram(1, [sample(1, [header(FRAME), header(FRAME)]), COUNTERS])


@given(st.integers(0, len(WHOLE) - 1))
def test_a_datagram_that_is_cut_off_is_refused(length: int) -> None:
    with refused(ValueError, "datagram"):
        read(WHOLE[:length])


@given(st.binary(max_size=200) | st.binary(max_size=200).map(lambda rest: WHOLE[:8] + rest))
def test_any_bytes_are_a_datagram_or_refused(data: bytes) -> None:
    with contextlib.suppress(ValueError):  # which is what is promised
        read(data)


def test_a_number_of_samples_that_cannot_be_costs_nothing() -> None:
    data = WHOLE[:24] + struct.pack("!I", 2**32 - 1)
    with refused(ValueError, "datagram"):
        read(data)
