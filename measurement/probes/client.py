"""Asking an instance's agent to probe others."""

from __future__ import annotations

import asyncio
import itertools
from types import TracebackType
from typing import Any, Self

from measurement.instances import Instance
from measurement.probes.documents import order_to_json, report_from_json
from measurement.probes.findings import Failure, ProbeError, Report
from measurement.probes.line import CONNECT_TIMEOUT, Line, answered
from measurement.probes.orders import Order
from measurement.probes.wire import WireError


class Agent:
    """A connection to an instance's agent; several orders may be under way on it at the same time.

    ::

        key = read_key(Path("probes.key"))            # measurement.probes.key
        async with await Agent.connect(instance, key) as agent:
            report = await agent.probe(Order(target, (UdpEcho(), Train())))
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._over: ProbeError | None = None
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, instance: Instance, key: bytes, timeout: float = CONNECT_TIMEOUT) -> Self:
        """Connect and authenticate, both ways.

        :raises ProbeError: ``unreachable``, ``denied``, ``version``, ``limited``, ``vanished``.
        """
        return cls(await Line.connect(instance, key, timeout))

    async def probe(self, order: Order) -> Report:
        """Have the instance probe another.

        What a probe could not do is in the report, beside what the others found.

        :raises ProbeError: ``bad-order``, or ``vanished`` if the asked instance itself does not answer.
        """
        document = await self._ask({"do": "probe", "order": order_to_json(order)})
        try:
            return report_from_json(document)
        except ValueError as error:
            raise ProbeError(Failure.FAULT, f"the answer is no report: {error}") from None

    async def close(self) -> None:
        """End the connection, and what is under way on it."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        self._line.close()
        self._end(ProbeError(Failure.VANISHED, "the connection was closed here"))

    async def _ask(self, message: dict[str, Any]) -> Any:
        if self._over is not None:
            raise ProbeError(self._over.why, str(self._over))
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._line.send({"id": number, **message})
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        try:
            while True:
                message = await self._line.receive()
                answer = self._waiting.get(message.get("id", -1))
                if answer is None or answer.done():
                    continue
                try:
                    answer.set_result(answered(message))
                except ProbeError as error:
                    answer.set_exception(error)
        except ProbeError as error:
            self._end(error)
        except (WireError, ValueError) as error:
            self._end(ProbeError(Failure.VANISHED, f"what it says makes no sense: {error}"))

    def _end(self, error: ProbeError) -> None:
        self._over = self._over if self._over is not None else error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ProbeError(error.why, str(error)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
