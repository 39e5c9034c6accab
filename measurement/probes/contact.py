"""The target of an order: connected to when the first probe needs its agent, and not tried again."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

from measurement.instances import Instance
from measurement.probes.findings import Failure, ProbeError
from measurement.probes.line import Line
from measurement.probes.way import Way

ANSWER_TIMEOUT = 5.0
"""Seconds to wait for what its agent says."""


class Contact:
    """See the module's text.

    :param key: shared with its agent.
    """

    def __init__(self, target: Instance, key: bytes) -> None:
        self.target = target
        self.own = self.seen = ""
        """The address that we sent from, and that its agent saw; empty before there is a connection."""
        self._key = key
        self._line: Line | None = None
        self._way: Way | None = None
        self._failure: ProbeError | None = None

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

    async def way(self) -> Way:
        """Where UDP probes go.

        :raises ProbeError: why they cannot.
        """
        line = await self.line()
        if self._way is None:
            self._way = Way(self.target, line.keys)
        return self._way

    @contextlib.asynccontextmanager
    async def handed_over(self, *, last: bool) -> AsyncIterator[Line]:
        """A connection that a probe takes over: this one, if nothing else needs it any more.

        :param last: whether the probe is the order's last.
        """
        if last:
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
        if self._way is not None:
            self._way.close()
        if self._line is not None:
            self._line.close()
