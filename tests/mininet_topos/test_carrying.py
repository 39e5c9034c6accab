"""Flows carried between two programs of this machine: a bed whose hosts are all loopback."""

from __future__ import annotations

import json
import shlex
import signal
import threading
import time

import pytest

from mininet_topos import carrying as carryings
from mininet_topos.carrying import Carriage, Delivered, Load, carrying, deliver
from mininet_topos.waiting import wait_until
from tests.ports import free_port
from tests.support.refusals import refused

HERE = ("here", "127.0.0.1")


class Loopback:
    """Programs run as they are."""

    def inside(self, argv, host=None):
        return list(argv)


class Saying:
    """In each host a program that says what it is given, and ends."""

    def __init__(self, **said):
        self.said = said

    def inside(self, argv, host=None):
        lines = "\n".join(json.dumps(message) for message in self.said[host])
        return ["sh", "-c", f"printf '%s\\n' {shlex.quote(lines)}"]


def carried(load: Load, meanwhile=lambda carriage: None, bed=None) -> tuple[Delivered, list[str]]:
    said: list[str] = []
    bed = bed or Loopback()
    with carrying(bed, load) as carriage:
        thread = threading.Thread(target=meanwhile, args=(carriage,))
        thread.start()
        done = deliver(bed, load, carriage, lambda: said.append("began"))
        thread.join()
    return done, said


def test_bytes_over_streams():
    done, said = carried(Load(HERE, HERE, free_port(), size=5_000_000, streams=3))
    assert said == ["began"]
    assert (done.received, sum(done.per_second), done.trouble) == (5_000_000, 5_000_000, "")
    assert done.packets_sent >= done.packets_lost >= 0
    assert done.began_at > 1e9


def test_a_medium_for_seconds():
    done, _ = carried(Load(HERE, HERE, free_port(), "udp", seconds=0.5, rate=400_000))
    assert (done.packets_sent, done.packets_lost, done.trouble) == (25, 0, "")
    assert done.received == 25 * 1000
    assert done.jitter is not None


def test_a_medium_of_a_size_takes_as_long_as_its_rate_says():
    load = Load(HERE, HERE, 5, "udp", size=100_000, rate=400_000)
    assert load.media_seconds == 2.0


@pytest.mark.parametrize(
    "load",
    [
        Load(HERE, HERE, free_port(), seconds=600, rate=8e6),
        Load(HERE, HERE, free_port(), size=10**12, rate=8e6),
        Load(HERE, HERE, free_port(), "udp", seconds=600, rate=400_000),
    ],
    ids=["of seconds", "of a size", "a medium"],
)
def test_what_is_stopped_counts_as_far_as_it_came(load):
    def stop(carriage: Carriage) -> None:
        assert wait_until(lambda: carriage.received > 0, 20)
        carriage.stop()

    done, _ = carried(load, stop)
    assert done.received > 0
    assert done.trouble == ""
    assert sum(done.per_second) == done.received


def test_what_is_stopped_before_it_began_ends_at_once():
    done, _ = carried(
        Load(HERE, HERE, free_port(), seconds=600, patience=1), lambda carriage: carriage.stop()
    )
    assert done.received == 0 or done.trouble == ""


def test_a_receiver_that_cannot_listen_is_said():
    with refused("unavailable"):
        carried(Load(HERE, ("here", "192.0.2.1"), free_port(), size=1))


def test_a_receiver_that_dies_leaves_what_it_told():
    def kill(carriage: Carriage) -> None:
        assert wait_until(lambda: len(carriage.so_far) >= 2, 20)
        carriage.receiver.kill()

    done, _ = carried(Load(HERE, HERE, free_port(), seconds=600, rate=8e6), kill)
    assert done.trouble != ""
    assert done.received == sum(done.per_second) > 0


def interrupt(carriage: Carriage, then=lambda: None) -> None:
    """Nothing arrives any more, and nobody hangs up: the path is dead; until the receiver has ended."""
    assert wait_until(lambda: carriage.received > 0 and carriage.sender is not None, 20)
    carriage.sender.send_signal(signal.SIGSTOP)
    then()
    assert wait_until(lambda: carriage.receiver.poll() is not None, 20)
    carriage.sender.send_signal(signal.SIGCONT)


def test_of_what_fails_every_byte_counts_when_it_came():
    done, _ = carried(Load(HERE, HERE, free_port(), size=10**12, rate=8e6, patience=1.2), interrupt)
    assert "1.2 s" in done.trouble
    assert done.received == sum(done.per_second) > 0
    assert done.began_at > 1e9
    assert done.ended_at == 0


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_what_is_stopped_on_a_dead_path_ends_soon_and_is_no_failure(protocol, monkeypatch):
    monkeypatch.setattr(carryings, "REPORT_S", 0.2)
    stopped: list[float] = []

    def stop(carriage: Carriage) -> None:
        stopped.append(time.time())
        carriage.stop()
        carriage.stop()

    load = Load(HERE, HERE, free_port(), protocol, seconds=600, rate=400_000, patience=15)
    done, _ = carried(load, lambda carriage: interrupt(carriage, lambda: stop(carriage)))
    assert done.trouble == ""
    assert done.received == sum(done.per_second) > 0
    assert stopped[0] <= done.ended_at <= time.time()


SENT = ({"event": "sending"}, {"event": "sent", "packets": 3})
LISTENING = {"event": "listening"}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_sender_that_hangs_when_it_is_stopped_holds_nothing_up(protocol, monkeypatch):
    monkeypatch.setattr(carryings, "REPORT_S", 0.2)

    def hang_and_stop(carriage: Carriage) -> None:
        assert wait_until(lambda: carriage.received > 0, 20)
        assert carriage.sender is not None
        carriage.sender.send_signal(signal.SIGSTOP)
        carriage.stop()

    load = Load(HERE, HERE, free_port(), protocol, seconds=600, rate=400_000, patience=15)
    done, _ = carried(load, hang_and_stop)
    assert done.trouble == ""
    assert done.received == sum(done.per_second) > 0


def test_a_receiver_that_waited_for_more_says_for_how_long():
    """Of a medium whose farewell was lost it says so when its patience is over."""
    report = {"event": "received", "bytes": 30, "packets": 3, "sent": None, "jitter": 0.0}
    times = {"seconds": 2.0, "silent": 60.0, "per_second": [10, 10, 10]}
    bed = Saying(there=[LISTENING, {**report, **times}], here=SENT)
    before = time.time()
    done, _ = carried(Load(HERE, ("there", "127.0.0.1"), 5, "udp", seconds=3, rate=8e3), bed=bed)
    assert before - 60 <= done.ended_at <= time.time() - 60
    assert done.began_at == done.ended_at - 2
    assert (done.packets_sent, done.packets_lost) == (3, 0)


@pytest.mark.parametrize(
    ("last", "received", "began"),
    [
        ([], 1_000, False),
        (
            [
                {
                    "event": "failed",
                    "reason": "nothing moved",
                    "bytes": 1_080,
                    "seconds": 19.5,
                    "silent": 60.0,
                    "per_second": [100, 400, *13 * [0], 10, 570],
                }
            ],
            1_080,
            True,
        ),
    ],
    ids=["killed", "failed"],
)
def test_seconds_without_bytes_stay_in_the_series_of_what_ends_without_a_report(last, received, began):
    told = [(100, 0, 100), (200, 1, 100), (510, 15, 10), (1_000, 16, 20)]
    progress = [
        {"event": "progress", "bytes": bytes_, "second": second, "of_second": of_second}
        for bytes_, second, of_second in told
    ]
    bed = Saying(there=[LISTENING, *progress, *last], here=SENT)
    done, _ = carried(Load(HERE, ("there", "127.0.0.1"), 5, size=5_000), bed=bed)
    assert done.trouble
    assert (done.received, done.began_at > 0) == (received, began)
    assert done.per_second == (100, 400, *13 * [0], *((10, 570) if began else (480, 20)))


@pytest.mark.parametrize(
    "wrong", [{}, {"size": 1, "seconds": 1.0}, {"protocol": "udp", "size": 1}], ids=["none", "both", "udp"]
)
def test_what_cannot_be_carried_is_refused(wrong):
    with pytest.raises(ValueError, match=r"size|rate"):
        Load(HERE, HERE, 1, **wrong)


def test_a_sender_that_cannot_begin_is_said_at_once():
    """192.0.2.1 (RFC 5737) is no address of ours: the receiver would wait for nobody until its time-out."""
    load = Load(("here", "192.0.2.1"), HERE, free_port(), size=1, patience=2)
    done, said = carried(load)
    assert said == []
    assert done.trouble
