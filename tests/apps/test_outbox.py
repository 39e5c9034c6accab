"""What waits to be written to a switch."""

from __future__ import annotations

import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.campus_edge.outbox import BYTES_LIMIT, MESSAGES_LIMIT, Outbox

FLOW_MOD, BARRIER, ECHO_REPLY, PACKET_OUT, REPORT = 14, 20, 3, 13, 18


def message(kind: int, number: int = 0) -> bytes:
    return struct.pack("!BBHI", 4, kind, 8, number)


class Clock:
    """Time that passes when somebody waits for it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def drained(outbox: Outbox, clock: Clock) -> list[tuple[float, bytes]]:
    """Everything with the moment at which it left, as the writing thread would write it."""
    written: list[tuple[float, bytes]] = []
    while True:
        entry, wait = outbox._next()
        if entry is not None:
            written.append((clock.now, entry.data))
            if entry.sent is not None:
                entry.sent()
        elif wait is not None:
            clock.now += wait
        else:
            return written


def numbers(data: bytes) -> list[tuple[int, int]]:
    return [struct.unpack_from("!xB2xI", data, at) for at in range(0, len(data), 8)]


def test_without_a_pace_everything_leaves_in_its_order_and_whole() -> None:
    outbox, clock = Outbox(), Clock()
    batch = b"".join(message(FLOW_MOD, n) for n in range(500))
    outbox.put(batch)
    outbox.put(message(ECHO_REPLY))
    assert drained(outbox, clock) == [(0.0, batch), (0.0, message(ECHO_REPLY))]


@given(
    rate=st.floats(1, 2000),
    batches=st.lists(st.integers(0, 120), min_size=1, max_size=6),
)
def test_a_paced_switch_gets_no_more_than_its_pace_and_everything_in_order(
    rate: float, batches: list[int]
) -> None:
    clock = Clock()
    outbox, told = Outbox(clock), []
    outbox.pace(rate)
    sent: list[tuple[int, int]] = []
    for batch, size in enumerate(batches):
        messages = [(FLOW_MOD, n) for n in range(size)] + [(BARRIER, batch)]
        sent += messages
        data = b"".join(message(*each) for each in messages)
        outbox.put(data, sent=lambda batch=batch: told.append((batch, clock.now)))
    written = drained(outbox, clock)
    assert [each for _, data in written for each in numbers(data)] == sent
    times = [at for at, data in written for kind, _ in numbers(data) if kind == FLOW_MOD]
    burst = max(1.0, min(50.0, rate / 10))
    for first in range(0, len(times), 7):
        for last in range(first, len(times), 11):
            assert last - first + 1 <= 2 * burst + rate * (times[last] - times[first]) + 1e-6
    # Each batch is told of once, when its own last byte leaves.
    barriers = [at for at, data in written for kind, _ in numbers(data) if kind == BARRIER]
    assert told == list(enumerate(barriers))


def test_echoes_and_packet_outs_do_not_wait_behind_a_long_batch() -> None:
    clock = Clock()
    outbox = Outbox(clock)
    outbox.pace(10.0)
    outbox.put(b"".join(message(FLOW_MOD, n) for n in range(100)) + message(BARRIER))
    outbox.put(message(REPORT))
    first = outbox.take()
    assert first is not None
    outbox.put(message(ECHO_REPLY))
    outbox.put(message(PACKET_OUT))
    kinds = [kind for _, data in drained(outbox, clock) for kind, _ in numbers(data)]
    assert kinds[:2] == [ECHO_REPLY, PACKET_OUT]
    assert kinds[-2:] == [BARRIER, REPORT]
    assert clock.now == pytest.approx(9.9)


def test_a_switch_that_reads_nothing_does_not_fill_the_memory() -> None:
    outbox = Outbox()
    assert all(outbox.put(message(REPORT)) for _ in range(MESSAGES_LIMIT))
    assert not outbox.put(message(REPORT))
    large = Outbox()
    block = bytes(BYTES_LIMIT // 4)
    assert [large.put(block) for _ in range(6)] == [True] * 4 + [False] * 2


def test_the_writer_wakes_up_for_what_is_put_and_for_the_end() -> None:
    outbox, taken = Outbox(), []

    def write() -> None:
        while (entry := outbox.take()) is not None:
            taken.append(entry.data)
            arrived.set()

    arrived = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    outbox.put(message(BARRIER))
    assert arrived.wait(60)
    outbox.end()
    writer.join(60)
    assert not writer.is_alive()
    assert taken == [message(BARRIER)]


def test_writing_can_be_claimed_only_where_nothing_waits_and_nobody_writes() -> None:
    outbox = Outbox()
    assert outbox.claim()
    assert not outbox.claim(), "somebody else has claimed it"
    outbox.release()
    outbox.put(message(BARRIER))
    assert not outbox.claim(), "something waits"
    assert outbox.take() is not None
    assert not outbox.claim(), "the writer writes"
    outbox.end()
    assert outbox.take() is None
    assert not outbox.claim(), "it has ended"
    paced = Outbox()
    paced.pace(1000.0)
    assert not paced.claim(), "there is a pace to keep"


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 3e-4)), min_size=1, max_size=60))
def test_what_is_sent_at_once_and_what_waits_leave_in_one_order(steps: list[tuple[bool, float]]) -> None:
    outbox, written, writing = Outbox(), list[bytes](), threading.Lock()

    def write(data: bytes, pause: float) -> None:
        assert writing.acquire(blocking=False), "two wrote at once"
        time.sleep(pause)
        written.append(data)
        writing.release()

    def write_out() -> None:
        while (entry := outbox.take()) is not None:
            write(entry.data, 2e-4)
            if entry.last:
                outbox.end()

    writer = threading.Thread(target=write_out)
    writer.start()
    for number, (writable, pause) in enumerate(steps):
        claimed = outbox.claim()
        if claimed and writable:
            write(message(FLOW_MOD, number), pause)
        if claimed:
            outbox.release()
        if not (claimed and writable):
            outbox.put(message(FLOW_MOD, number))
            time.sleep(pause)
    outbox.put(message(BARRIER, len(steps)), last=True)
    writer.join(60)
    assert not writer.is_alive()
    assert [number for data in written for _, number in numbers(data)] == list(range(len(steps) + 1))


def test_at_the_end_the_writer_waits_for_a_claim() -> None:
    outbox = Outbox()
    assert outbox.claim()
    outbox.end()
    writer = threading.Thread(target=outbox.take)
    writer.start()
    writer.join(0.05)
    assert writer.is_alive(), "the socket may be closed only when nobody writes any more"
    outbox.release()
    writer.join(60)
    assert not writer.is_alive()
