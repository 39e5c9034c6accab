"""What becomes of one flow, or one load, in a trial: put together as it happens, told as a row at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from adon.experiments.planned import PlannedFlow
from adon.experiments.results import FlowRow, FlowState, ThroughputRow
from adon.experiments.rows import path_at, seconds
from mininet_topos.carrying import Carriage, Delivered


@dataclass(slots=True)
class Carried:
    """Something under way between two hosts; times are seconds since 1970.

    :param stopped: whether it was told to end, perhaps before it began.
    :param since: when it last made progress.
    :param stalled: seconds in which nothing of it arrived, before that.
    """

    carriage: Carriage | None = None
    ordered: bool = False
    stopped: bool = False
    began: float | None = None
    ended: float | None = None
    delivered: Delivered | None = None
    seen: int = 0
    since: float = 0.0
    stalled: float = 0.0

    @property
    def running(self) -> bool:
        """Whether its carrier has work to do."""
        return self.ordered and self.ended is None

    @property
    def received(self) -> int:
        """Bytes that its receiver has counted."""
        if self.delivered is not None:
            return self.delivered.received
        return 0 if self.carriage is None else self.carriage.received

    def stop(self) -> None:
        """Let it end now; what has no programs yet ends as soon as it has."""
        self.stopped = True  # first: whoever brings the programs looks at it afterwards
        if self.carriage is not None and self.running:
            self.carriage.stop()

    def look(self, now: float) -> None:
        """Note whether it makes progress; to be called every second or so."""
        if self.began is None or self.ended is not None:
            return
        if self.received > self.seen:
            self.seen, self.since = self.received, now
        elif now - self.since > LONGEST_SILENCE:
            self.stalled += now - self.since
            self.since = now

    def seconds(self) -> tuple[float, tuple[int, ...]]:
        """When its series begins, and the bytes of each second."""
        if self.delivered is not None and self.delivered.began_at:
            return self.delivered.began_at, self.delivered.per_second
        begun = self.began or 0.0
        if self.delivered is not None:
            return begun, self.delivered.per_second
        return begun, () if self.carriage is None else self.carriage.so_far


LONGEST_SILENCE = 2.0
"""Receivers tell about each second: after twice that nothing has arrived."""


@dataclass(slots=True)
class FlowLife:
    """A flow of the plan.

    :param port: at its destination.
    :param paths: those that it was given, and since when.
    :param refused: why it is never carried.
    :param cut: whether it was broken off, because its trial was over.
    :param number: ADON's name of it.
    """

    flow: PlannedFlow
    port: int
    carried: Carried = field(default_factory=Carried)
    asked: float | None = None
    decided: float | None = None
    paths: list[tuple[float, str]] = field(default_factory=list)
    refused: str | None = None
    cut: bool = False
    number: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.refused is not None or self.carried.ended is not None

    @property
    def state(self) -> FlowState:
        """What has become of it."""
        if self.carried.ended is not None and not self.cut:
            delivered = self.carried.delivered
            return FlowState.FAILED if delivered is None or delivered.trouble else FlowState.FINISHED
        if self.refused is not None:
            return FlowState.REJECTED
        return FlowState.RUNNING if self.carried.began is not None else FlowState.WAITING

    def row(self, trial: int, began_at: float) -> FlowRow:
        """As the table of flows has it."""
        flow, carried = self.flow, self.carried
        delivered = carried.delivered or Delivered(carried.received)

        def since(at: float | None) -> float | None:
            return None if at is None else at - began_at

        asked = since(self.asked)
        return FlowRow(
            trial=trial,
            flow=flow.name,
            flow_id=self.number,
            template=flow.template,
            source=flow.source,
            destination=flow.destination,
            state=self.state.value,
            path=self.paths[-1][1] if self.paths else None,
            paths=" > ".join(path for _, path in self.paths),
            asked=asked,
            decided=since(self.decided),
            began=since(carried.began),
            ended=None if self.cut else since(carried.ended),
            size=flow.size,
            received=delivered.received,
            streams=flow.streams,
            window=flow.window,
            priority=flow.priority,
            # One that was never asked for has missed it, too: it must not look as if it had had none.
            deadline=None if flow.deadline is None else (asked or 0.0) + flow.deadline,
            floor=flow.floor,
            packets_sent=delivered.packets_sent,
            packets_lost=delivered.packets_lost,
            rtt=delivered.rtt,
            jitter=delivered.jitter,
            trouble=delivered.trouble or self.refused or "",
        )

    def throughput(self, trial: int, began_at: float) -> list[ThroughputRow]:
        """What its receiver counted each second, and on which path that was."""
        begun, counted = self.carried.seconds()
        return [
            ThroughputRow(trial, at - began_at, self.flow.name, path_at(self.paths, at), count)
            for at, count in seconds(begun, counted)
        ]
