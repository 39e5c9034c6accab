"""What a client and a guest say to each other, however it is cut on its way."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.guest.messages import (
    MOST,
    Kind,
    Start,
    Wire,
    moment,
    moment_of,
    signal_of,
    size,
    size_of,
    status,
    status_of,
)

MESSAGES = st.tuples(st.sampled_from(Kind), st.binary(max_size=300))
STARTS = st.builds(
    Start,
    st.lists(st.text(), min_size=1, max_size=4),
    st.none() | st.text(),
    st.text(),
    st.dictionaries(st.text(), st.text(), max_size=3),
    st.none() | st.tuples(st.integers(0, 65_535), st.integers(0, 65_535)),
)


@given(st.lists(MESSAGES, max_size=20), st.integers(1, 400))
def test_what_is_said_is_heard(messages: list[tuple[Kind, bytes]], chunk: int) -> None:
    one, other = socket.socketpair()
    middle, last = socket.socketpair()
    with one, other, middle, last:
        speaker, hearer = Wire(one), Wire(last)
        for kind, data in messages:
            speaker.say(kind, data)
        one.shutdown(socket.SHUT_WR)
        heard = list[tuple[Kind, bytes]]()
        while come := other.recv(chunk):
            middle.sendall(come)
            heard += hearer.take() or []
        middle.shutdown(socket.SHUT_WR)
        while (more := hearer.take()) is not None:
            heard += more
        assert heard == messages


def test_what_has_no_room_waits() -> None:
    one, other = socket.socketpair()
    with one, other:
        speaker, hearer = Wire(one), Wire(other)
        while not speaker.waiting:
            speaker.say(Kind.OUTPUT, bytes(MOST // 4))
        said = 0
        while not speaker.full:
            speaker.say(Kind.OUTPUT, bytes(MOST // 4))
            said += 1
        assert said <= 4
        heard = 0
        while speaker.waiting:
            heard += sum(len(data) for _, data in hearer.take() or [])
            speaker.flush()
        while messages := hearer.take():
            heard += sum(len(data) for _, data in messages)
        assert heard % (MOST // 4) == 0
        assert heard >= MOST


def test_half_a_message_is_none_yet_and_no_end() -> None:
    one, other = socket.socketpair()
    with one, other:
        hearer = Wire(other)
        whole = b"\x06\0\0\0\x02ab"
        one.sendall(whole[:3])
        assert hearer.take() == []
        one.sendall(whole[3:])
        assert hearer.take() == [(Kind.OUTPUT, b"ab")]
        one.shutdown(socket.SHUT_WR)
        assert hearer.take() is None


@given(STARTS)
def test_a_start(start: Start) -> None:
    assert Start.unpacked(start.packed()) == start


@given(st.integers(-64, 255), st.integers(0, 65_535), st.integers(0, 65_535))
def test_numbers(code: int, rows: int, columns: int) -> None:
    assert status_of(status(code)) == code
    assert size_of(size(rows, columns)) == (rows, columns)


@given(st.integers(-(2**63), 2**63 - 1))
def test_moments(nanoseconds: int) -> None:
    assert moment_of(moment(nanoseconds)) == nanoseconds


@pytest.mark.parametrize("nonsense", [b"", b"{}", b"[1]", b'{"argv": 1}', b"\xff"])
def test_what_starts_nothing(nonsense: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        Start.unpacked(nonsense)
    with pytest.raises(ValueError, match="no exit status"):
        status_of(b"x")
    with pytest.raises(ValueError, match="no size"):
        size_of(b"x")
    with pytest.raises(ValueError, match="no moment"):
        moment_of(b"x")
    with pytest.raises(ValueError, match="no signal"):
        signal_of(b"")


def test_a_command_line_that_no_message_holds() -> None:
    start = Start(["x" * MOST], None, "/", {}, None)
    with pytest.raises(ValueError, match="the command line and its environment are more than 65536 bytes"):
        start.packed()


def test_a_message_that_is_too_long() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"\x01\xff\xff\xff\xff")
        with pytest.raises(ValueError, match="4294967295 bytes"):
            Wire(other).take()
