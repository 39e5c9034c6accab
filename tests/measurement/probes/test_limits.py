"""An agent in this process, with small limits and clocks that jump."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import Failed, Failure, ProbeError, RoundTrips
from measurement.probes.guarding import Allowance
from measurement.probes.line import Line
from measurement.probes.orders import Order, Train, UdpEcho
from measurement.probes.prober import Prober
from measurement.probes.service import Limits, Service
from measurement.probes.threads import Loads, Threads
from measurement.probes.train import Shape
from measurement.probes.train_sockets import TrainReceiver, send_train, train_socket
from measurement.probes.udp import Numbers, UdpPath

KEY = b"k" * 32


@asynccontextmanager
async def serving(limits: Limits) -> AsyncIterator[Instance]:
    service = Service("127.0.0.1", 0, KEY, limits)
    task = asyncio.create_task(service.run())
    try:
        yield Instance("b", "127.0.0.1", service.port)
    finally:
        task.cancel()
        await asyncio.wait([task])


def test_who_asks_too_often_is_told_so() -> None:
    async def often() -> None:
        threads = Threads()
        async with serving(Limits(packets=Allowance(0.01, 3))) as target:
            order = Order(target, (UdpEcho(count=3), UdpEcho(count=2, timeout=0.3), Train()))
            report = await Prober(KEY, threads, Loads(1)).carry_out(order)
        threads.close()
        first, second, train = report.findings
        assert isinstance(first, RoundTrips)
        assert len(first.answered) == 3
        for finding in (second, train):
            assert isinstance(finding, Failed)
            assert finding.why == Failure.LIMITED

    asyncio.run(often())


def test_who_connects_too_often_is_not_served() -> None:
    async def often() -> None:
        async with serving(Limits(connections=Allowance(0.01, 2))) as target:
            for _ in range(2):
                (await Line.connect(target, KEY)).close()
            with pytest.raises(ProbeError) as caught:
                await Line.connect(target, KEY)
            assert caught.value.why in (Failure.LIMITED, Failure.VANISHED)

    asyncio.run(often())


def test_strangers_do_not_take_all_places() -> None:
    """They begin to speak and stop; there are places enough as soon as they are gone."""

    async def crowded() -> None:
        async with serving(Limits(strangers=2)) as target:
            idle = [socket.create_connection((target.address, target.port)) for _ in range(2)]
            for sock in idle:
                sock.send(wire.hello(b"n" * wire.NONCE)[:8])
            await asyncio.sleep(0.1)
            with pytest.raises(ProbeError):
                await Line.connect(target, KEY)
            for sock in idle:
                sock.close()
            await asyncio.sleep(0.1)
            (await Line.connect(target, KEY)).close()

    asyncio.run(crowded())


def test_strangers_who_say_nothing_take_no_place() -> None:
    """The system keeps them: their connections are not even taken, and so is one that is only timed."""

    async def crowded() -> None:
        async with serving(Limits(strangers=2)) as target:
            idle = [socket.create_connection((target.address, target.port)) for _ in range(4)]
            await asyncio.sleep(0.1)
            (await Line.connect(target, KEY)).close()
            for sock in idle:
                sock.close()

    asyncio.run(crowded())


@pytest.mark.parametrize(("jump", "stepped"), [(0, False), (3_600 * 10**9, True), (-(10**7), True)])
def test_a_clock_that_is_set_during_a_train_is_found(jump: int, stepped: bool) -> None:
    keys = wire.Keys.of(KEY, wire.hello(b"c" * 32), wire.hello(b"s" * 32))
    offsets = iter([0, jump])
    shape = Shape(burst=50, bursts=2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind(("127.0.0.1", 0))
        local = listening.getsockname()
        path = UdpPath(Instance("b", *local), keys, Numbers())
        source = path.timed.socket.getsockname()
        receiver = TrainReceiver(
            train_socket(local, source), keys, shape, 10, clock_offset=lambda: next(offsets)
        )
        ended = threading.Event()
        taking = threading.Thread(target=receiver.receive, args=(5.0, ended))
        taking.start()
        path.reserve(10)
        assert send_train(path, shape, path.reserve(100), ended).bursts == 2
        taking.join()
        path.close()
    came = receiver.came(2)
    assert came.stepped is stepped
    assert came.overflowed == 0
    assert [sum(each.count for each in burst if each) for burst in came.segments] == [50, 50]
