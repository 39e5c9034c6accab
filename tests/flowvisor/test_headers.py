"""What tells connections apart, against a slower reader, and against bytes that make no sense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.connections import service
from tests.flowvisor.frames import frame


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


@given(st.binary(max_size=120) | st.binary(max_size=80).map(lambda rest: frame(1)[:20] + rest))
def test_nothing_that_arrives_raises(sent: bytes) -> None:
    found = service(sent)
    assert found is None or len(found[1]) == 2
