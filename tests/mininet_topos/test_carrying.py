"""Flows carried between two programs of this machine: a bed whose hosts are all loopback."""

from __future__ import annotations

import threading

import pytest

from adon.errors import Unavailable
from mininet_topos.carrying import Carriage, Delivered, Load, carrying, deliver
from mininet_topos.waiting import wait_until
from tests.ports import free_port

HERE = ("here", "127.0.0.1")


class Loopback:
    """Programs run as they are."""

    def inside(self, argv, host=None):
        return list(argv)


def carried(load: Load, meanwhile=lambda carriage: None) -> tuple[Delivered, list[str]]:
    said: list[str] = []
    with carrying(Loopback(), load) as carriage:
        thread = threading.Thread(target=meanwhile, args=(carriage,))
        thread.start()
        done = deliver(Loopback(), load, carriage, lambda: said.append("began"))
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
    with pytest.raises(Unavailable, match="the receiver in here does not listen"):
        carried(Load(HERE, ("here", "192.0.2.1"), free_port(), size=1))


def test_a_receiver_that_dies_leaves_what_it_told():
    def kill(carriage: Carriage) -> None:
        assert wait_until(lambda: len(carriage.so_far) >= 2, 20)
        carriage.receiver.kill()

    done, _ = carried(Load(HERE, HERE, free_port(), seconds=600, rate=8e6), kill)
    assert done.trouble != ""
    assert done.received == sum(done.per_second) > 0


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
    assert "Cannot assign requested address" in done.trouble
