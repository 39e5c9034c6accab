"""Who asks: bulk transfers to a target, and what others send beside them."""

from __future__ import annotations

import asyncio
import contextlib

from measurement.probes.contact import ANSWER_TIMEOUT, Contact
from measurement.probes.crossing import beside, from_two
from measurement.probes.findings import Carried, Failure, Load, ProbeError
from measurement.probes.line import Line
from measurement.probes.orders import CrossTraffic, Throughput
from measurement.probes.streams import pour
from measurement.probes.threads import Loads, Threads

_SLOW_START = 0.1
"""The share of a bulk connection's time that does not count: it has not found its rate yet."""


async def throughput(probe: Throughput, contact: Contact, threads: Threads, loads: Loads) -> Carried:
    """What TCP carries to the target.

    :raises ProbeError: why that is not known.
    """
    received = await _received(contact, threads, loads, probe.intervals, probe.interval, probe.connections)
    return Carried(probe.interval, tuple(received))


async def cross_traffic(probe: CrossTraffic, contact: Contact, threads: Threads, loads: Loads) -> Load:
    """What others send where the path is narrowest.

    :raises ProbeError: why that is not known.
    """
    intervals = max(1, round(probe.duration / probe.sample))
    one = await _received(contact, threads, loads, intervals, probe.sample, 1)
    rates = tuple(8 * count / probe.sample for count in one)
    alone = _mean(rates)
    link = probe.link
    if link is None and alone > 0:
        two = await _received(contact, threads, loads, intervals, probe.sample, 2)
        each = _mean(tuple(4 * count / probe.sample for count in two))
        found = from_two(alone, each) if each > 0 else None
        link = None if found is None else found.link
    if link is None or alone <= 0:
        return Load(rates, probe.sample, link, (), None)
    others = tuple(beside(link, rate) if rate > 0 else None for rate in rates)
    return Load(rates, probe.sample, link, others, beside(link, alone))


async def _received(
    contact: Contact, threads: Threads, loads: Loads, intervals: int, interval: float, connections: int
) -> list[int]:
    """Bytes per interval of all connections together."""
    with loads.one(connections):
        async with contextlib.AsyncExitStack() as stack:
            lines = [await stack.enter_async_context(contact.another()) for _ in range(connections)]
            for line in lines:
                await line.ask("drain", ANSWER_TIMEOUT, intervals=intervals, interval=interval)
            seconds = intervals * interval
            counts = await asyncio.gather(*(_poured(line, seconds, threads) for line in lines))
    return [sum(each) for each in zip(*counts, strict=True)]


async def _poured(line: Line, seconds: float, threads: Threads) -> list[int]:
    await threads.run(pour, line.socket, seconds)
    line.socket.setblocking(False)
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT + seconds):
            answer = await line.receive()
    except TimeoutError:
        raise ProbeError(Failure.VANISHED, "it does not say what came") from None
    return [int(count) for count in answer["ok"]]


def _mean(rates: tuple[float, ...]) -> float:
    settled_rates = rates[int(_SLOW_START * len(rates)) :]
    return sum(settled_rates) / len(settled_rates)
