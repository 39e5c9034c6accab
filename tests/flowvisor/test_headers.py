"""What tells connections apart, against a slower reader, and against bytes that make no sense."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.flowvisor.flowspace import Connection
from adon.flowvisor.headers import connection, service
from adon.flowvisor.openflow import five_tuple
from tests.flowvisor.frames import frame

ports = st.integers(0, 0xFFFF)


@settings(max_examples=100)
@given(
    addresses=st.tuples(st.ip_addresses(v=4), st.ip_addresses(v=4))
    | st.tuples(st.ip_addresses(v=6), st.ip_addresses(v=6)),
    protocol=st.sampled_from([6, 17, 132]),
    source_port=ports,
    port=ports,
    options=st.sampled_from([b"", bytes(4), bytes(40)]),
)
def test_a_frame_is_read_as_the_slow_reader_reads_it(
    addresses: tuple[object, object], protocol: int, source_port: int, port: int, options: bytes
) -> None:
    source, destination = map(str, addresses)
    sent = frame(source_port, port, source, destination, protocol, options=options)
    found = service(sent)
    assert found is not None
    ends = ip_address(source), ip_address(destination)
    assert connection(found[0]) == Connection(*ends, protocol, port)
    assert int.from_bytes(found[1]) == source_port
    slowly = five_tuple(sent)
    assert slowly is not None
    assert (slowly[0].source_port, slowly[0].destination_port) == (source_port, port)
    assert (slowly[1], slowly[2]) == (source, destination)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        frame(1)[:37],
        frame(1, fragment=1),
        frame(1, fragment=0x2100),
        frame(1, protocol=1),
        frame(1, source="2001:db8::1", destination="2001:db8::2")[:57],
        frame(1, source="2001:db8::1", destination="2001:db8::2", protocol=0),
        frame(1)[:12] + b"\x81\x00\x00\x05" + frame(1)[12:],
        frame(1)[:14] + b"\x41" + frame(1)[15:],
        frame(1)[:14] + b"\x65" + frame(1)[15:],
    ],
)
def test_what_is_not_a_connection_is_nobodys(sent: bytes) -> None:
    assert service(sent) is None


def test_the_first_fragment_has_the_ports() -> None:
    assert service(frame(1, fragment=0x2000)) is not None


@settings(max_examples=100)
@given(st.binary(max_size=120) | st.binary(max_size=80).map(lambda rest: frame(1)[:20] + rest))
def test_nothing_that_arrives_raises(sent: bytes) -> None:
    found = service(sent)
    assert found is None or len(found[1]) == 2


def test_other_bytes_are_no_service() -> None:
    with pytest.raises(ValueError, match="no service"):
        connection(b"abc")
