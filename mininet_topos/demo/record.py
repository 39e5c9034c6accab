"""What happened in one run of the demo, as plain values that can be written, read and reported.

Times are seconds since the run began, except where a name says ``_at`` (seconds since the epoch).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Moment:
    """One of t1..t9."""

    step: str
    at: float
    text: str
    flow: str = ""


@dataclass(slots=True)
class Transfer:
    """One transfer, as its receiver counted it; ``series`` is bytes per second of the transfer."""

    flow: str
    flow_id: str
    path: str
    size: int
    streams: int
    received: int
    began: float
    ended: float
    series: list[int] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began

    @property
    def rate(self) -> float:
        """Bits/s that its receiver got on average; 0 for a transfer that took no time."""
        return self.received * 8 / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class Check:
    """One expectation and whether it held."""

    text: str
    held: bool
    found: str


@dataclass(slots=True)
class Plan:
    """What was to be measured when, and what became of it.

    :param schedule: as ``GET /schedule`` answers.
    :param page: a round of it as a picture: an HTML page that needs nothing else.
    :param executions: as ``GET /executions`` answers, the oldest first.
    :param overlaps: conflicting tests that ran at the same time, in words.
    """

    schedule: Mapping[str, Any]
    page: str
    executions: Sequence[Mapping[str, Any]]
    overlaps: list[str]


@dataclass(slots=True)
class Record:
    """Everything the report is made of.

    :param alarms: as ``GET /alarms`` answers.
    :param plan: the plan of the tests; None if it was not read.
    :param sequel: the scene after t9; None if it was not told.
    """

    began_at: float
    seed: int
    scale: float
    moments: list[Moment] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    decisions: Sequence[Mapping[str, Any]] = field(default_factory=list)
    measurements: Sequence[Mapping[str, Any]] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    alarms: Sequence[Mapping[str, Any]] = field(default_factory=list)
    plan: Plan | None = None
    sequel: Record | None = None

    @property
    def every_check(self) -> list[Check]:
        """The checks of this and of the scene after it."""
        return [*self.checks, *([] if self.sequel is None else self.sequel.every_check)]

    @property
    def passed(self) -> bool:
        """Whether every expectation held."""
        return bool(self.checks) and all(check.held for check in self.every_check)

    def turns(self) -> list[Mapping[str, Any]]:
        """The decisions that changed what becomes of a flow, in order.

        A waiting flow is examined at every measurement; that it still waits, for one reason more or less,
        is recorded by ADON and is no turn.
        """
        found: list[Mapping[str, Any]] = []
        last: dict[str, tuple[Any, ...]] = {}
        for decision in self.decisions:
            what = (decision["outcome"], decision["path"], decision["compute_site"])
            if decision["outcome"] != "stay" and last.get(decision["flow"]) != what:
                last[decision["flow"]] = what
                found.append(decision)
        return found

    def decided(self) -> list[tuple[str, str, str | None, str | None]]:
        """Flow, outcome, path and site of each turn in order: what two runs are compared by."""
        return [
            (self.names.get(d["flow"], d["flow"]), d["outcome"], d["path"], d["compute_site"])
            for d in self.turns()
        ]

    def save(self, path: Path) -> None:
        """Write the record as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")
