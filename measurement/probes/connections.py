"""Connections to the agents of many instances: one to each, and all orders over that.

Whatever goes wrong with one agent is told to who asked it, and concerns nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from measurement.instances import Instance
from measurement.probes.findings import Failure, ProbeError, Report
from measurement.probes.orders import Order

CONNECTING_AT_ONCE = 32
GONE = "its agent does not answer any more"
ITS_END = frozenset({Failure.UNREACHABLE, Failure.VANISHED, Failure.DENIED, Failure.VERSION})
"""After these nothing more can be asked over a connection."""


class Asked(Protocol):
    """An instance's agent, connected to (:class:`measurement.probes.client.Agent`)."""

    async def probe(self, order: Order) -> Report:
        """Have it probe another.

        :raises ProbeError: if it does not answer itself, or not such an order.
        """

    async def close(self) -> None:
        """End the connection."""


Connect = Callable[[Instance], Awaitable[Asked]]


class Untold(Exception):
    """An agent says nothing of an order; the text says why, and begins with the instance's name.

    :param busy: whether for being busy with others.
    """

    def __init__(self, instance: str, why: str, *, busy: bool = False) -> None:
        super().__init__(f"{instance}: {why}")
        self.busy = busy


@dataclass(slots=True)
class Connections:
    """See the module's text.

    :param names: all instances by name.
    :param connected: those that are connected to.
    :param gone: who does not answer (any more), and why.
    """

    names: Mapping[str, Instance]
    connect: Connect
    connected: dict[str, Asked] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)

    async def connect_to(self, instances: Iterable[str]) -> None:
        """Connect to so many; who cannot be is gone."""
        room = asyncio.Semaphore(CONNECTING_AT_ONCE)

        async def one(name: str) -> None:
            async with room:
                try:
                    self.connected[name] = await self.connect(self.names[name])
                except (ProbeError, OSError) as error:
                    self.gone[name] = str(error) or type(error).__name__

        await asyncio.gather(*map(one, sorted(instances)))

    async def report(self, instance: str, order: Order, longest: float) -> Report:
        """What an instance's agent says.

        :param longest: seconds to wait for it.
        :raises Untold: if it says nothing.
        """
        if instance in self.gone:
            raise Untold(instance, self.gone[instance])
        try:
            async with asyncio.timeout(longest):
                return await self.connected[instance].probe(order)
        except TimeoutError:
            raise Untold(instance, "no report came in time") from None
        except (ProbeError, OSError) as error:
            if isinstance(error, OSError) or error.why in ITS_END:
                self.gone.setdefault(instance, GONE)
            busy = isinstance(error, ProbeError) and error.why is Failure.BUSY
            raise Untold(instance, str(error) or type(error).__name__, busy=busy) from None

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(agent.close() for agent in self.connected.values()), return_exceptions=True)
