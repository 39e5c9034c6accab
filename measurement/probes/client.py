"""Asking an instance's agent to probe others."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from measurement.instances import Instance
from measurement.probes.findings import Report
from measurement.probes.orders import Order


class Agent:
    """A connection to an instance's agent; orders may be under way at the same time.

    ::

        key = read_key(Path("probes.key"))            # measurement.probes.key
        async with await Agent.connect(instance, key) as agent:
            report = await agent.probe(Order(target, (UdpEcho(), Train())))
    """

    @classmethod
    async def connect(cls, instance: Instance, key: bytes, timeout: float = 5.0) -> Self:
        """Connect and authenticate, both ways.

        :raises ProbeError: ``unreachable``, ``denied``, ``version``, ``vanished``.
        """
        raise NotImplementedError

    async def probe(self, order: Order) -> Report:
        """Have the instance probe another.

        What a probe could not do is in the report; partial results are kept.

        :raises ProbeError: ``bad-order``, or ``vanished`` if the asked instance itself does not answer.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """End the connection, and what is under way on it."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
