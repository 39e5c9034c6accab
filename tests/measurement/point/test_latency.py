"""Continuous one-way delay towards a point that is interrupted; the packets are real ones on loopback."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from measurement.errors import PointRefused
from measurement.point import owd
from measurement.point.children import RunCanceled
from measurement.point.latency import continuous
from measurement.point.specs import LatencyBackground, parse_spec
from tests.support.refusals import refused

A = "127.0.0.1"


class FarEnd:
    """The receiving point, in this process: refuses the sessions that it is told to."""

    def __init__(self, *refused: int) -> None:
        self._refused = refused
        self._sessions = owd.Sessions()
        self.asked = 0

    def open_session(self, request: dict[str, Any]) -> tuple[str, int, bytes]:
        self.asked += 1
        if self.asked in self._refused:
            raise PointRefused("far:443", "no route")
        name, receiver = self._sessions.open(
            request["address"], request["source"], 2 * request["packets"], request["lifetime"]
        )
        return name, receiver.port, receiver.token

    def close_session(self, name: str) -> list[owd.Packet]:
        packets = self._sessions.close(name)
        assert packets is not None
        return packets


def measured(far: FarEnd, pause: Any) -> list[dict[str, Any]]:
    fields = {"source": A, "dest": A, "packet-count": 10, "packet-interval": 0.1, "duration": "PT2S"}
    spec = parse_spec("latencybg", fields)
    assert isinstance(spec, LatencyBackground)
    reported: list[dict[str, Any]] = []
    continuous(spec, pause, lambda _: far, reported.append)  # type: ignore[arg-type, return-value]
    return reported


def short_sleep(seconds: float) -> None:
    time.sleep(min(seconds, 0.1))


def test_an_interruption_costs_the_time_it_lasts_and_no_result():
    far = FarEnd(2)
    reported = measured(far, short_sleep)
    assert far.asked == 3
    assert [(result["packets-sent"], result["packets-lost"]) for result in reported] == [(10, 0), (10, 0)]


def test_without_a_first_session_there_is_no_run():
    with pytest.raises(PointRefused):
        measured(FarEnd(1), short_sleep)


def test_it_is_cancelled_in_the_middle():
    left = [5]

    def pause(seconds: float) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise RunCanceled
        short_sleep(seconds)

    with pytest.raises(RunCanceled):
        measured(FarEnd(), pause)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"packet-count": 5}, "packet-count"),
        ({"packet-count": 10, "packet-interval": 0.01}, "document"),
        ({"duration": "PT30S"}, "document"),
        ({"duration": "P2D"}, "duration"),
        ({"duration": 60}, None),
    ],
)
def test_a_specification_has_at_least_one_period(fields, field):
    if field is None:
        assert parse_spec("latencybg", {"dest": "192.0.2.1", **fields}).lasts == 63
        return
    with refused(ValueError, field):
        parse_spec("latencybg", {"dest": "192.0.2.1", **fields})


def test_sessions_listen_on_the_last_free_ports_of_a_range():
    own = "127.77.1.9"  # no other process listens there
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as busy:
        busy.bind((own, 0))
        last = busy.getsockname()[1]
        sessions = owd.Sessions(range(last - 1, last + 1))
        name, receiver = sessions.open(own, None, 1, 5.0)
        try:
            assert receiver.port == last - 1
            with refused(ValueError):
                sessions.open(own, None, 1, 5.0)
        finally:
            sessions.close(name)
