"""Results of a run: six CSV tables and ``run.json`` beside the document.

Times are seconds after the start of the trial, rates bits/s, sizes bytes, all as built: nothing is multiplied
by the scale.  None is what is unknown or did not happen.  The fields of a row are the columns of its table.
"""

from __future__ import annotations

import csv
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import BeforeValidator

from adon import yamlfile
from adon.api.base import Time
from adon.errors import InvalidInput, Problem
from adon.values import FrozenMap
from measurement.model import from_json, to_json
from mininet_topos.experiments.document import POLICY, Moment, Phase, Scalar

RUN_FILE, DOCUMENT_FILE = "run.json", "experiment.yaml"

T = TypeVar("T")
MaybeEmpty = Annotated[T | None, BeforeValidator(lambda cell: None if cell == "" else cell)]
"""A cell that may be empty, which is None."""


class FlowState(StrEnum):
    """State of a flow at the end of its trial; finished: the receiver counted every byte."""

    FINISHED = "finished"
    FAILED = "failed"
    REJECTED = "rejected"
    WAITING = "waiting"
    RUNNING = "running"


class FlowRow(NamedTuple):
    """A flow of a trial.

    :param paths: its paths in order, with `` > `` between them.
    :param asked, began, ended: request, first byte sent, last byte received.
    :param size: bytes to send; None for a flow that lasts a time.
    :param floor: bits/s that its QSpec demands.
    :param packets_sent: UDP datagrams or TCP segments.
    :param packets_lost: missing datagrams or segments that were sent again.
    :param jitter: mean difference of consecutive delays (UDP).
    :param problem: what went wrong, in words.
    """

    trial: int
    flow: str
    template: str = ""
    source: str = ""
    destination: str = ""
    state: FlowState = FlowState.WAITING
    paths: str = ""
    asked: MaybeEmpty[float] = None
    began: MaybeEmpty[float] = None
    ended: MaybeEmpty[float] = None
    size: MaybeEmpty[int] = None
    received: int = 0
    streams: int = 1
    window: MaybeEmpty[int] = None
    priority: MaybeEmpty[int] = None
    floor: MaybeEmpty[float] = None
    packets_sent: MaybeEmpty[int] = None
    packets_lost: MaybeEmpty[int] = None
    jitter: MaybeEmpty[float] = None
    problem: str = ""

    @property
    def outcome(self) -> str:
        """Its name, state and problem: ``soykb is failed (cut off)``."""
        return f"{self.flow} is {self.state}" + (f" ({self.problem})" if self.problem else "")


class ThroughputRow(NamedTuple):
    """Bytes that a receiver counted in the second from ``at`` on; ``flow`` may be an event with a load."""

    trial: int
    at: float
    flow: str
    path: MaybeEmpty[str]
    received: int


class MeasurementRow(NamedTuple):
    """Result of a test; ``value`` is None if the test failed."""

    trial: int
    at: float
    path: str
    source: str
    destination: str
    metric: str
    value: MaybeEmpty[float]


class DecisionRow(NamedTuple):
    """Decision about a flow; ``quality`` is Q of the chosen path ([ADON] equation 1), if it is ADON's."""

    trial: int
    at: float
    flow: str
    outcome: str
    path: MaybeEmpty[str]
    site: MaybeEmpty[str]
    quality: MaybeEmpty[float]
    reason: str

    @property
    def change(self) -> str:
        """What it decided: ``admit on al2s, computed at hpc``, ``move to internet``."""
        preposition = "to" if self.outcome == "move" else "on"
        where = "" if self.path is None else f" {preposition} {self.path}"
        return f"{self.outcome}{where}" + ("" if self.site is None else f", computed at {self.site}")


class MomentRow(NamedTuple):
    """Moment of a flow or event that came."""

    trial: int
    at: float
    of: str
    what: Phase


class EventRow(NamedTuple):
    """An event that was carried out (``phase``: begins or ends), or a fault of the trial."""

    trial: int
    at: float
    event: str
    phase: str
    about: str
    problem: str


@dataclass(frozen=True)
class Tables:
    """Rows of a run or of a trial."""

    flows: Sequence[FlowRow] = ()
    throughput: Sequence[ThroughputRow] = ()
    measurements: Sequence[MeasurementRow] = ()
    decisions: Sequence[DecisionRow] = ()
    moments: Sequence[MomentRow] = ()
    events: Sequence[EventRow] = ()

    def find_flows(self, name: str | None) -> list[FlowRow]:
        """Return the row of a flow; of all flows without a name."""
        return [row for row in self.flows if name in (None, row.flow)]

    def find_turns(self, flow: str) -> list[DecisionRow]:
        """Return the decisions that changed a flow's state, in order."""
        changes = [row for row in self.decisions if row.flow == flow and row.outcome not in ("stay", "end")]
        changes.sort(key=lambda row: row.at)
        return [next(rows) for _, rows in groupby(changes, key=lambda row: row.change)]

    def time_of(self, moment: Moment) -> float | None:
        """Return the time of a moment in seconds after the start of the trial; None if it did not come."""
        times = (row.at for row in self.moments if (row.of, row.what) == moment.key)
        return next((at + moment.wait for at in times), None)

    @cached_property
    def by_trial(self) -> Mapping[int, Tables]:
        """The rows of each trial that has any."""
        found: defaultdict[int, dict[str, list[Any]]] = defaultdict(lambda: {name: [] for name in ROWS})
        for name in ROWS:
            for row in getattr(self, name):
                found[row.trial][name].append(row)
        return {trial: Tables(**rows) for trial, rows in found.items()}


ROWS: Mapping[str, type[Any]] = {
    name: get_args(annotation)[0] for name, annotation in get_type_hints(Tables).items()
}
"""Type of the rows of each table."""


@dataclass(frozen=True, slots=True)
class TrialName:
    """What distinguishes a trial from the others of a run.

    :param number: from 1, in order of execution.
    :param key: combination, policy and repetition: ``soykb.size=25 GB / ours / 1``.
    :param seed: of its ports.
    """

    number: int
    key: str
    policy: str
    point: Mapping[str, Scalar]
    repetition: int
    seed: int

    @property
    def combination(self) -> str:
        """The key without the repetition."""
        return self.key.rpartition(" / ")[0]

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """Values of its combination, and its policy."""
        return {**self.point, POLICY: self.policy}


@dataclass(frozen=True, slots=True)
class TrialRecord(TrialName):
    """A trial as it was carried out.

    :param partial: reason why it is partial; empty for a complete one.
    """

    began_at: Time
    seconds: float
    partial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What ``run.json`` holds.

    :param experiment: name of the experiment; the document beside it has the rest.
    :param scale: divisor of rates and windows.
    :param sizes: divisor of sizes.
    :param planned: number of trials of the plan.
    :param partial: reason why it is partial; empty for a complete one.
    :param platform, machine: descriptions, by name; the machine's with the versions of its software.
    """

    format: Literal["adon-experiment-run/3"] = "adon-experiment-run/3"
    experiment: str
    scale: float
    sizes: float
    planned: int
    began_at: Time
    ended_at: Time | None = None
    partial: str = "it has not ended"
    platform: Mapping[str, str] = FrozenMap()
    machine: Mapping[str, str] = FrozenMap()
    trials: tuple[TrialRecord, ...] = ()


@dataclass(frozen=True)
class RunResult:
    """A run: its description and its rows."""

    info: RunInfo
    tables: Tables = Tables()

    def rows(self, trial: TrialRecord) -> Tables:
        """Return the rows of a trial."""
        return self.tables.by_trial.get(trial.number, Tables())

    def complete(self, where: Mapping[str, Scalar] = FrozenMap()) -> list[TrialRecord]:
        """Return the complete trials with these values, in order."""
        complete = (trial for trial in self.info.trials if not trial.partial)
        return [trial for trial in complete if trial.settings.items() >= where.items()]


def start_run(folder: Path, document: str, info: RunInfo) -> None:
    """Write the document, empty tables and ``run.json`` to a folder, in place of a previous run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DOCUMENT_FILE).write_text(document, "utf-8")
    for name, kind in ROWS.items():
        _table(folder, name).write_text(",".join(kind._fields) + "\n", "utf-8")
    _write_info(folder, info)


def write_trial(folder: Path, trial: TrialRecord, tables: Tables) -> None:
    """Add a trial's rows to the tables and then the trial to ``run.json``.

    Rows of a trial that ``run.json`` does not name are those of a write that was interrupted.
    """
    for name in ROWS:
        with _table(folder, name).open("a", encoding="utf-8", newline="") as output:
            csv.writer(output).writerows(getattr(tables, name))
    info = _read_info(folder)
    _write_info(folder, replace(info, trials=(*info.trials, trial)))


def write_emulation(folder: Path, emulation: str) -> None:
    """Note how the testbed of a run emulates links."""
    info = _read_info(folder)
    _write_info(folder, replace(info, platform={**info.platform, "emulation": emulation}))


def end_run(folder: Path, partial: str = "") -> None:
    """Note the end of a run, and why it is partial."""
    _write_info(folder, replace(_read_info(folder), ended_at=time.time(), partial=partial))


def _write_info(folder: Path, info: RunInfo) -> None:
    """Replace ``run.json``, whole or not at all."""
    partial = folder / f".{RUN_FILE}.partial"
    partial.write_text(json.dumps(to_json(info), indent=1) + "\n", "utf-8")
    partial.replace(folder / RUN_FILE)


def _read_info(folder: Path) -> RunInfo:
    file = folder / RUN_FILE
    try:
        return from_json(RunInfo, json.loads(yamlfile.read_text(file)))
    except ValueError as error:
        raise InvalidInput(Problem("", str(error), str(file))) from error


def read_run(folder: Path) -> RunResult:
    """Return a run.

    :raises InvalidInput: naming the file, and the field or line that is wrong.
    """
    info = _read_info(folder)
    known = {trial.number for trial in info.trials}
    tables = {
        name: [row for row in _read_rows(_table(folder, name), kind) if row.trial in known]
        for name, kind in ROWS.items()
    }
    return RunResult(info, Tables(**tables))


def _table(folder: Path, name: str) -> Path:
    return folder / f"{name}.csv"


def _read_rows(file: Path, kind: type[Any]) -> Iterator[Any]:
    number = 1
    try:
        with file.open(encoding="utf-8", newline="") as source:
            lines = csv.reader(source, strict=True)
            _check_columns(next(lines, []), kind._fields)
            for line in lines:
                number = lines.line_num
                yield from_json(kind, dict(zip(kind._fields, line, strict=True)))
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidInput(Problem("", f"cannot be read: {error}", str(file), number)) from error


def _check_columns(found: Sequence[str], expected: Sequence[str]) -> None:
    if list(found) != list(expected):
        raise ValueError(f"has other columns; expected {', '.join(expected)}")
