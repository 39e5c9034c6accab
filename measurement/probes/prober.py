"""Carrying out an order: one probe after the other, each with a finding or why there is none."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from measurement.instances import Instance
from measurement.probes import orders
from measurement.probes.crossing import beside, from_two
from measurement.probes.documents import value_from_json, value_to_json
from measurement.probes.findings import (
    Carried,
    Failed,
    Failure,
    Finding,
    Load,
    ProbeError,
    Report,
    RoundTrips,
    Route,
    TrainFound,
    Widened,
)
from measurement.probes.icmp import IcmpChannel
from measurement.probes.line import Line
from measurement.probes.round_trips import Channel, round_trips
from measurement.probes.sandwich import Apart, SandwichReceiver, sandwich
from measurement.probes.streams import TcpChannel, connect_times, pour
from measurement.probes.threads import Loads, Threads
from measurement.probes.tracing import routers
from measurement.probes.train_sockets import LONGEST_SEND, Came, Sent, send_train
from measurement.probes.udp import Numbers, UdpChannel, UdpPath, arrives, comes_back, hops, named
from measurement.probes.way_back import Receiver, as_asked, train_from, until_quiet
from measurement.probes.weighing import weighed

LOG = logging.getLogger(__name__)
ANSWER_TIMEOUT = 5.0
_SLOW_START = 0.1
"""The share of a bulk connection's time that does not count: it has not found its rate yet."""


class Prober:
    """Probes other instances.

    :param key: shared with their agents.
    """

    def __init__(self, key: bytes, threads: Threads, loads: Loads) -> None:
        self._key = key
        self._threads = threads
        self._loads = loads

    async def carry_out(self, order: orders.Order) -> Report:
        """All probes of an order; what one cannot do does not keep the others from it."""
        began = time.time()
        async with _Contact(order.target, self._key) as contact:
            findings = []
            for left, probe in reversed([*enumerate(reversed(order.probes))]):
                contact.last = left == 0
                findings.append(await self._found(probe, contact))
            return Report(tuple(findings), began, time.time(), contact.own, contact.seen)

    async def _found(self, probe: orders.Probe, contact: _Contact) -> Finding:
        try:
            return await self._probed(probe, contact)
        except ProbeError as error:
            return Failed(error.why, str(error))
        except OSError as error:
            failure = named(error, contact.target.name)
            return Failed(failure.why, str(failure))
        except Exception:  # one probe's fault is named, and the others are still tried
            LOG.exception("event=fault probe=%s target=%s", probe.kind, contact.target.name)
            return Failed(Failure.FAULT, "the probe failed in a way that nobody thought of")

    async def _probed(self, probe: orders.Probe, contact: _Contact) -> Finding:
        match probe:
            case orders.IcmpEcho():
                channel = IcmpChannel(contact.target.address, probe.length)
                with contextlib.closing(channel):
                    return await self._echoes(channel, probe)
            case orders.TcpConnect():
                arguments = (contact.target, probe.count, probe.interval, probe.timeout)
                return RoundTrips(await self._threads.run(connect_times, *arguments))
            case orders.UdpEcho():
                return await self._udp(probe, contact)
            case orders.Sandwich():
                with await contact.path() as path:
                    return await self._threads.run(sandwich, path, probe)
            case orders.TcpEcho():
                async with contact.handed_over() as line:
                    await line.ask("echo", ANSWER_TIMEOUT, length=probe.length)
                    return await self._echoes(TcpChannel(line.socket, line.keys, probe.length), probe)
            case orders.Throughput():
                received = await self._carried(contact, probe.intervals, probe.interval, probe.connections)
                return Carried(probe.interval, tuple(received))
            case orders.Train():
                with self._loads.one():
                    return await self._train(probe, contact)
            case orders.SandwichBack():
                with self._loads.one():
                    return await self._sandwich_back(probe, contact)
            case orders.TrainBack():
                with self._loads.one():
                    return await self._train_back(probe, contact)
            case orders.CrossTraffic():
                return await self._crossing(probe, contact)
            case orders.Hops():
                return await self._route(probe, contact)

    async def _echoes(self, channel: Channel, probe: Any) -> RoundTrips:
        arguments = (channel, probe.count, probe.interval, probe.timeout)
        return RoundTrips(await self._threads.run(round_trips, *arguments))

    async def _udp(self, probe: orders.UdpEcho, contact: _Contact) -> RoundTrips:
        with await contact.path() as path:
            found = await self._echoes(UdpChannel(path, probe.length), probe)
            if not found.answered and probe.length > orders.SHORTEST_UDP:
                await self._must_arrive(path, probe.length)
        if None in found.times:
            await contact.must_not_be_limited()
        return found

    async def _heard(self, path: UdpPath, contact: _Contact, count: int) -> tuple[float, ...]:
        """Round trips on a path: the target knows where it begins from here on.

        :raises ProbeError: ``unreachable`` or ``limited`` if there are none.
        """
        echoes = orders.UdpEcho(count=count, interval=0.0, timeout=1.0)
        heard = (await self._echoes(UdpChannel(path, echoes.length), echoes)).answered
        if not heard:
            await contact.must_not_be_limited()
            raise ProbeError(Failure.UNREACHABLE, "its agent takes connections, but no UDP packets")
        return heard

    async def _must_come_back(self, path: UdpPath, length: int) -> None:
        if not await self._threads.run(comes_back, path, length):
            raise ProbeError(
                Failure.TOO_LARGE, f"packets with {length} bytes do not come back, shorter ones do"
            )

    async def _must_arrive(self, path: UdpPath, length: int) -> None:
        if await self._threads.run(arrives, path, length) is False:
            raise ProbeError(Failure.TOO_LARGE, f"packets with {length} bytes do not arrive, shorter ones do")

    async def _carried(
        self, contact: _Contact, intervals: int, interval: float, connections: int
    ) -> list[int]:
        """Bytes per interval of all connections together."""
        with self._loads.one(connections):
            async with contextlib.AsyncExitStack() as stack:
                lines = [await stack.enter_async_context(contact.another()) for _ in range(connections)]
                for line in lines:
                    await line.ask("drain", ANSWER_TIMEOUT, intervals=intervals, interval=interval)
                counts = await asyncio.gather(*(self._poured(line, intervals * interval) for line in lines))
        return [sum(each) for each in zip(*counts, strict=True)]

    async def _poured(self, line: Line, seconds: float) -> list[int]:
        await self._threads.run(pour, line.socket, seconds)
        line.socket.setblocking(False)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT + seconds):
                answer = await line.receive()
        except TimeoutError:
            raise ProbeError(Failure.VANISHED, "it does not say what came") from None
        return [int(count) for count in answer["ok"]]

    async def _crossing(self, probe: orders.CrossTraffic, contact: _Contact) -> Load:
        intervals = max(1, round(probe.duration / probe.sample))
        one = await self._carried(contact, intervals, probe.sample, 1)
        rates = tuple(8 * count / probe.sample for count in one)
        alone = _mean(rates)
        link = probe.link
        if link is None and alone > 0:
            two = await self._carried(contact, intervals, probe.sample, 2)
            each = _mean(tuple(4 * count / probe.sample for count in two))
            found = from_two(alone, each) if each > 0 else None
            link = None if found is None else found.link
        if link is None or alone <= 0:
            return Load(rates, probe.sample, link, (), None)
        others = tuple(beside(link, rate) if rate > 0 else None for rate in rates)
        return Load(rates, probe.sample, link, others, beside(link, alone))

    async def _route(self, probe: orders.Hops, contact: _Contact) -> Route:
        with await contact.path() as path:
            found: Route = await self._threads.run(hops, path, probe.most, probe.timeout)
            if not probe.routers:
                return found
            if found.count is not None:
                return await self._threads.run(routers, path, found.count, probe.timeout)
            farthest = await self._threads.run(routers, path, probe.most + 1, probe.timeout)
            return Route(None, farthest.routers)

    async def _train(self, probe: orders.Train, contact: _Contact) -> TrainFound:
        line = await contact.line()
        with await contact.path() as path:
            heard = await self._heard(path, contact, max(1, probe.echoes))
            # Beforehand, alone: virtual links let packets of any length pass that come several at a time.
            await self._must_arrive(path, probe.shape.packet)
            first = path.reserve(probe.shape.burst * probe.shape.bursts)
            shape = value_to_json(probe.shape)
            await line.ask("train", ANSWER_TIMEOUT, shape=shape, first=first)
            sent = await self._threads.run(send_train, path, probe.shape, first)
            answer = await line.ask("arrived", ANSWER_TIMEOUT + LONGEST_SEND, segments=probe.segments)
            came = value_from_json(Came, answer, "arrived")
            if came.stepped:
                raise ProbeError(Failure.CLOCK_STEPPED, "the receiver's clock was set during the train")
        return _weighed(probe, sent, came, heard)

    async def _train_back(self, probe: orders.TrainBack, contact: _Contact) -> TrainFound:
        line = await contact.line()
        with await contact.path() as path:
            heard = await self._heard(path, contact, max(1, probe.echoes))
            await self._must_come_back(path, probe.shape.packet)
            first = path.reserve(probe.shape.burst * probe.shape.bursts)
            receiver = train_from(path, line.keys, probe.shape, first)
            asked = {"shape": value_to_json(probe.shape), "first": first}
            sent = value_from_json(Sent, await self._sent_back(line, "train-back", asked, receiver), "sent")
            came = receiver.came(probe.segments)
        if came.stepped:
            raise ProbeError(Failure.CLOCK_STEPPED, "our clock was set during the train")
        return _weighed(probe, sent, came, heard)

    async def _sandwich_back(self, probe: orders.SandwichBack, contact: _Contact) -> Widened:
        line = await contact.line()
        with await contact.path() as path:
            await self._heard(path, contact, 1)
            first = path.reserve(3 * probe.count)
            receiver = SandwichReceiver(path, probe, first)
            asked = {"sandwich": as_asked(probe), "first": first}
            answer = await self._sent_back(line, "sandwich-back", asked, receiver)
            return receiver.found(value_from_json(Apart, answer, "sent"))

    async def _sent_back(self, line: Line, what: str, asked: dict[str, Any], receiver: Receiver) -> Any:
        """Have the target send, and take what comes; its answer."""
        longest = orders.LONGEST_BACK + LONGEST_SEND + ANSWER_TIMEOUT
        taking = asyncio.ensure_future(self._threads.run(receiver.receive, longest))
        try:
            answer = await line.ask(what, longest, **asked)
            await until_quiet(receiver, taking)
            return answer
        finally:
            receiver.stop()
            await asyncio.gather(taking, return_exceptions=True)


def _weighed(
    probe: orders.Train | orders.TrainBack, sent: Sent, came: Came, heard: tuple[float, ...]
) -> TrainFound:
    """What is found by a train of which so much was sent.

    :raises ProbeError: ``bad-order`` if not even a burst was.
    """
    if sent.bursts == 0:
        raise ProbeError(
            Failure.BAD_ORDER,
            f"a burst of {probe.shape.burst} packets takes this path above {LONGEST_SEND:g} s",
        )
    rtt = min(heard) if probe.echoes else None
    return weighed(replace(probe.shape, bursts=sent.bursts), came, rtt)


def _mean(rates: tuple[float, ...]) -> float:
    settled_rates = rates[int(_SLOW_START * len(rates)) :]
    return sum(settled_rates) / len(settled_rates)


class _Contact:
    """The target of an order: connected to when the first probe needs its agent, and not tried again."""

    def __init__(self, target: Instance, key: bytes) -> None:
        self.target = target
        self.own = self.seen = ""
        self.last = False
        """Whether the probe under way is the order's last."""
        self._key = key
        self._line: Line | None = None
        self._failure: ProbeError | None = None
        self._numbers = Numbers()

    async def line(self) -> Line:
        """The connection with its agent.

        :raises ProbeError: why there is none.
        """
        if self._failure is not None:
            raise ProbeError(self._failure.why, str(self._failure))
        if self._line is None:
            try:
                self._line = await Line.connect(self.target, self._key)
            except ProbeError as error:
                self._failure = error
                raise
            self.seen = self._line.seen
            self.own = str(self._line.socket.getsockname()[0])
        return self._line

    async def path(self) -> contextlib.closing[UdpPath]:
        """A way for UDP probes, to be closed."""
        line = await self.line()
        return contextlib.closing(UdpPath(self.target, line.keys, self._numbers))

    @contextlib.asynccontextmanager
    async def handed_over(self) -> AsyncIterator[Line]:
        """A connection that a probe takes over: this one, if nothing else needs it any more."""
        if self.last:
            yield await self.line()
            return
        async with self.another() as line:
            yield line

    @contextlib.asynccontextmanager
    async def another(self) -> AsyncIterator[Line]:
        """A connection for one probe alone."""
        await self.line()
        line = await Line.connect(self.target, self._key)
        try:
            yield line
        finally:
            line.close()

    async def must_not_be_limited(self) -> None:
        """Ask whether probes were silent because the agent answers only so many.

        :raises ProbeError: ``limited`` if so; ``vanished``.
        """
        status = await (await self.line()).ask("status", ANSWER_TIMEOUT)
        if int(status["limited"]) > 0:
            raise ProbeError(Failure.LIMITED, f"{status['limited']} of our packets were more than it answers")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._line is not None:
            self._line.close()
