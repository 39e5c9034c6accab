"""Connections to many agents: who is gone, who is busy, who is late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from measurement.instances import Instance
from measurement.probes.connections import GONE, Connections, Untold
from measurement.probes.findings import Failure, ProbeError, Report
from measurement.probes.orders import Order, UdpEcho

NAMES = {name: Instance(name, "192.0.2.1") for name in "ab"}
ORDER = Order(NAMES["b"], (UdpEcho(),))
REPORT = Report((), 0.0, 1.0)


class Answering:
    """An agent that answers so, and counts how often it was asked."""

    def __init__(self, answer: Exception | None, late: float = 0.0) -> None:
        self.answer, self.late, self.asked, self.closed = answer, late, 0, False

    async def probe(self, order: Order) -> Report:
        self.asked += 1
        await asyncio.sleep(self.late)
        if self.answer is not None:
            raise self.answer
        return REPORT

    async def close(self) -> None:
        self.closed = True


def connecting(agent: Answering) -> Callable[[Instance], Awaitable[Answering]]:
    async def connect(instance: Instance) -> Answering:
        if instance.name == "b":
            raise ProbeError(Failure.DENIED, "it does not know our key")
        return agent

    return connect


def asked_twice(agent: Answering) -> list[str]:
    """What is said to two orders, one after the other."""

    async def scene() -> list[str]:
        connections = Connections(NAMES, connecting(agent))
        await connections.connect_to(NAMES)
        said = []
        for _ in range(2):
            try:
                await connections.report("a", ORDER, 0.05)
                said.append("")
            except Untold as error:
                said.append(f"{'busy ' if error.busy else ''}{error}")
        await connections.close()
        return said

    said = asyncio.run(scene())
    assert agent.closed
    return said


@pytest.mark.parametrize("why", Failure)
def test_after_some_failures_nothing_more_is_asked(why: Failure) -> None:
    agent = Answering(ProbeError(why, "because"))
    first, second = asked_twice(agent)
    over = why in {Failure.UNREACHABLE, Failure.VANISHED, Failure.DENIED, Failure.VERSION}
    assert first == ("busy a: because" if why is Failure.BUSY else "a: because")
    assert (agent.asked, second) == ((1, f"a: {GONE}") if over else (2, first))


def test_a_connection_that_breaks_is_over() -> None:
    agent = Answering(ConnectionResetError())
    assert asked_twice(agent) == ["a: ConnectionResetError", f"a: {GONE}"]


def test_who_is_late_once_is_asked_again() -> None:
    agent = Answering(None, late=60)
    assert asked_twice(agent) == ["a: no report came in time"] * 2
    assert agent.asked == 2


def test_who_cannot_be_connected_to_is_gone_with_the_reason() -> None:
    async def scene() -> None:
        connections = Connections(NAMES, connecting(Answering(None)))
        await connections.connect_to(NAMES)
        assert connections.connected.keys() == {"a"}
        assert await connections.report("a", ORDER, 1) == REPORT
        with pytest.raises(Untold, match="b: it does not know our key"):
            await connections.report("b", ORDER, 1)

    asyncio.run(scene())
