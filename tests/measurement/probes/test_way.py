"""One UDP path for the probes of an order, and what is known of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from measurement.probes import wire
from measurement.probes.findings import Report, RoundTrips, TrainFound, Widened
from measurement.probes.guarding import Allowance
from measurement.probes.line import Line
from measurement.probes.orders import Order, Sandwich, SandwichBack, Train, TrainBack, UdpEcho
from measurement.probes.prober import Prober
from measurement.probes.service import Limits
from measurement.probes.threads import Loads, Threads
from measurement.probes.train import Shape
from measurement.probes.train_sockets import send_train
from measurement.probes.way import Way
from tests.measurement.probes.test_limits import KEY, serving

NEVER = threading.Event()


def on_a_way(what: Callable[[Way], None], limits: Limits | None = None) -> None:
    """Do something with a way to a real agent."""

    async def do() -> None:
        async with serving(limits or Limits()) as target:
            line = await Line.connect(target, KEY)
            way = Way(target, line.keys)
            await asyncio.to_thread(what, way)
            way.close()
            line.close()

    asyncio.run(do())


def port(way: Way) -> int:
    with way.path() as path:
        return int(path.timed.socket.getsockname()[1])


def test_what_was_seen_is_not_asked_again() -> None:
    def do(way: Way) -> None:
        assert way.known(1, 0, 0) is None
        assert len(way.show(3, 900, 0, NEVER)) == 3
        before = way.known(3, 900, 0)
        assert before is not None
        assert len(before) == 3
        assert way.known(4, 0, 0) is None
        assert way.known(3, 901, 0) is None
        assert way.known(3, 0, 65) is None, "that long packets arrive says nothing of the way back"
        assert len(way.show(4, 0, 1000, NEVER)) == 4
        assert way.known(4, 1000, 1000), "an answer is as long as its request"
        way.echoes(1200, 2, 0.0, 1.0, NEVER)
        assert way.known(4, 1200, 1200)
        assert way.known(5, 0, 0) is None, "round trips of long packets are no short ones"

    on_a_way(do)


def test_all_probes_have_one_path() -> None:
    def do(way: Way) -> None:
        first = port(way)
        way.show(2, 500, 500, NEVER)
        way.echoes(300, 2, 0.0, 1.0, NEVER)
        assert port(way) == first

    on_a_way(do)


@pytest.mark.parametrize("back", [False, True])
def test_sandwiches_show_what_comes(back: bool) -> None:
    def do(way: Way) -> None:
        way.show(1, 0, 0, NEVER)
        way.saw(Widened((0.0, 0.0), 1472), back=back)
        assert (way.known(1, 1472, 0) is not None) is (not back)
        assert (way.known(1, 0, 1472) is not None) is back
        way.saw(Widened((0.0, None), 1472), back=back)
        assert way.known(0, 65, 0) is None, "one of them did not come"

    on_a_way(do)


def test_after_a_failure_or_silence_the_next_probe_has_another_path() -> None:
    def do(way: Way) -> None:
        first = port(way)
        way.show(1, 0, 0, NEVER)
        with pytest.raises(OSError, match="too late"), way.path():
            raise OSError("too late")
        assert way.known(1, 0, 0) is None
        second = port(way)
        assert second != first
        found = way.echoes(64, 12, 0.0, 0.2, NEVER)
        assert None in found.times, "the agent answers ten"
        assert port(way) != second

    on_a_way(do, Limits(packets=Allowance(0.01, 10)))


def test_a_probe_that_takes_the_socket_leaves_the_next_another() -> None:
    def do(way: Way) -> None:
        first = port(way)
        with way.last() as path:
            assert path.timed.socket.getsockname()[1] == first
        assert path.timed.socket.fileno() == -1
        assert port(way) != first

    on_a_way(do)


def test_times_of_going_out_are_of_their_packets_also_after_a_train() -> None:
    def do(way: Way) -> None:
        with way.path() as path:
            path.reserve(5)  # for packets that the target is to send
            sent = [path.send(wire.Kind.FILL, 64) for _ in range(2)]
            path.reserve(7)
            sent.append(path.send(wire.Kind.FILL, 64))
            assert [*path.went_out()] == sent
            send_train(path, Shape(burst=10, bursts=1), path.reserve(10), NEVER)
            path.time_again()
            after = path.send(wire.Kind.FILL, 64)
            assert [*path.went_out()] == [after]

    on_a_way(do)


def test_an_order_with_all_of_them_shows_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandwiches show that long packets come, so trains do not ask; after a train packets are timed again."""

    def never(*_: object) -> bool:
        raise AssertionError("that long packets come was seen already")

    monkeypatch.setattr("measurement.probes.way.arrives", never)
    monkeypatch.setattr("measurement.probes.way.comes_back", never)
    shape = Shape(burst=20, bursts=2)
    back = SandwichBack(count=2, large=1472)
    probes = (
        UdpEcho(count=3),
        Sandwich(count=2, large=1472),
        Train(shape),
        back,
        TrainBack(shape),
        UdpEcho(),
    )

    async def do() -> Report:
        threads = Threads()
        async with serving(Limits()) as target:
            report = await Prober(KEY, threads, Loads(2)).carry_out(Order(target, probes))
        threads.close()
        return report

    echoes, widened, train, widened_back, train_back, again = asyncio.run(do()).findings
    for found in (widened, widened_back):
        assert isinstance(found, Widened)
        assert None not in found.by
    for found in (train, train_back):
        assert isinstance(found, TrainFound)
        assert found.lost == 0
    for found in (echoes, again):
        assert isinstance(found, RoundTrips)
        assert None not in found.times
