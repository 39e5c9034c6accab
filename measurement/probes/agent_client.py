"""Clients of probe agents for asynchronous callers: one agent, and those of many instances."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from measurement.instances import Instance
from measurement.probes.documents import from_document, to_document
from measurement.probes.findings import FailureCause, ProbeError, ProbeReport
from measurement.probes.probe_types import ProbeOrder
from measurement.probes.secure_channel import SecureChannel

CONNECTING_AT_ONCE = 32
_GONE = frozenset(
    {FailureCause.UNREACHABLE, FailureCause.VANISHED, FailureCause.DENIED, FailureCause.VERSION}
)
"""After these causes an agent answers no more requests."""
_THREADS = ThreadPoolExecutor(1024, "agent-client")


class AgentClient:
    """Client of an instance's agent; several orders may be under way at the same time.

    ::

        key = read_key(Path("probes.key"))            # measurement.probes.secure_channel
        async with await AgentClient.connect(instance, key) as agent:
            report = await agent.probe(ProbeOrder(target, (UdpEcho(), Train())))
    """

    def __init__(self, instance: Instance, key: bytes, channel: SecureChannel) -> None:
        self._instance = instance
        self._key = key
        self._idle = [channel]

    @classmethod
    async def connect(cls, instance: Instance, key: bytes) -> Self:
        """Connect and authenticate, both ways.

        :raises ProbeError: ``unreachable``, ``denied``, ``version``, ``limited``, ``vanished``.
        """
        return cls(instance, key, await _open_channel(instance, key))

    async def probe(self, order: ProbeOrder) -> ProbeReport:
        """Have the instance probe another.

        A probe that failed is in the report with its cause, in addition to the results of the others.

        :raises ProbeError: ``bad-order``, or ``vanished`` if the asked instance itself does not answer.
        """
        channel = self._idle.pop() if self._idle else await _open_channel(self._instance, self._key)
        try:
            document = await asyncio.get_running_loop().run_in_executor(
                _THREADS, lambda: channel.request("probe", None, order=to_document(order))
            )
        except BaseException:
            channel.close()  # ends the order, and wakes the thread
            raise
        self._idle.append(channel)
        try:
            return from_document(ProbeReport, document, "report")
        except ValueError as error:
            raise ProbeError(FailureCause.FAULT, f"the answer is not a report: {error}") from None

    async def close(self) -> None:
        """End the connections; an order that is under way ends its own when it is cancelled."""
        for channel in self._idle:
            channel.close()
        self._idle.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _open_channel(instance: Instance, key: bytes) -> SecureChannel:
    """Connect in a thread; if this is cancelled, the connection is closed as soon as it exists."""
    opening = _THREADS.submit(SecureChannel.connect, instance, key)
    try:
        return await asyncio.shield(asyncio.wrap_future(opening))
    except asyncio.CancelledError:
        opening.add_done_callback(lambda done: None if done.exception() else done.result().close())
        raise


ConnectAgent = Callable[[Instance], Awaitable[AgentClient]]


class MissingReport(Exception):
    """An agent gave no report; the text begins with the instance's name.

    :param busy: whether it was busy with other orders.
    """

    def __init__(self, instance: str, why: str, *, busy: bool = False) -> None:
        super().__init__(f"{instance}: {why}")
        self.busy = busy


@dataclass(slots=True)
class AgentPool:
    """Agents of many instances; a failure of one concerns only its own orders.

    :param names: all instances by name.
    :param connected: those that are connected to.
    :param gone: those that do not answer (any more), with the cause.
    """

    names: Mapping[str, Instance]
    connect: ConnectAgent
    connected: dict[str, AgentClient] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)

    async def connect_to(self, instances: Iterable[str]) -> None:
        """Connect to so many instances; those that fail are gone."""
        room = asyncio.Semaphore(CONNECTING_AT_ONCE)

        async def connect_one(name: str) -> None:
            async with room:
                try:
                    self.connected[name] = await self.connect(self.names[name])
                except (ProbeError, OSError) as error:
                    self.gone[name] = str(error) or type(error).__name__

        await asyncio.gather(*map(connect_one, sorted(instances)))

    async def request_report(self, instance: str, order: ProbeOrder, longest: float) -> ProbeReport:
        """Return the report of an instance's agent.

        :param longest: seconds to wait for it.
        :raises MissingReport: if there is none.
        """
        if instance in self.gone:
            raise MissingReport(instance, self.gone[instance])
        try:
            async with asyncio.timeout(longest):
                return await self.connected[instance].probe(order)
        except TimeoutError:
            raise MissingReport(instance, "no report arrived in time") from None
        except (ProbeError, OSError) as error:
            if isinstance(error, OSError) or error.why in _GONE:
                self.gone.setdefault(instance, "its agent does not answer any more")
            busy = isinstance(error, ProbeError) and error.why is FailureCause.BUSY
            raise MissingReport(instance, str(error) or type(error).__name__, busy=busy) from None

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(agent.close() for agent in self.connected.values()), return_exceptions=True)
