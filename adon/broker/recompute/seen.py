"""What one decision saw, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from adon.broker.alarms import Waived
from adon.broker.flow import Flow
from adon.broker.gate import Gate
from adon.broker.optimisation.plan import Together
from adon.broker.preemption import Rivals
from adon.broker.refuge import Exodus, Loss
from adon.broker.site_comparison import Regarded
from adon.config import Configuration
from adon.flowvisor.selection.performance import Counters, FlowLoad, MeasuredLoad, PathChange
from adon.flowvisor.topology.topology import Topology
from adon.reasons import Reason
from adon.templates_catalog.model import Template
from measurement.model import Measurement, Metric, PathKey


@dataclass(frozen=True, slots=True)
class Known:
    """What was known by measurement of one directed path.

    :param results: the newest per metric, however old.
    :param changes: since when a metric is different, by an alarm.
    :param carried: what it carried in all during its newest test, if that was known.
    :param best: the best test ever, bits/s.
    :param beside: the streams of ours that were beside its newest test, if that was known.
    """

    key: PathKey
    results: tuple[Measurement, ...] = ()
    changes: tuple[tuple[Metric, PathChange], ...] = ()
    carried: MeasuredLoad | None = None
    best: float | None = None
    beside: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """What other flows put on a path, summed up on both sides of the last test and of the last count.

    :param used: what all flows there used by their counters, if that was known.
    """

    others: tuple[FlowLoad, ...]
    used: Counters | None


@dataclass(frozen=True, slots=True)
class OwnRates:
    """A running flow's own rates by its counters, in bits/s.

    :param during: while the last test on its path ran.
    :param latest: and when that was.
    """

    during: float | None
    latest: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Placed:
    """A flow without a path was tried.

    :param rivals: whose place it might have taken, where it asked.
    :param nowhere: why there was no path at all, where there was none.
    :param regarded: what was known of compute sites, and how far off promises of the paths had been.
    :param together: those that were planned together with it; a part of its own, since each refers to it.
    :param apart: why it waited though it could have gone, where it did.
    """

    rivals: Rivals | None
    nowhere: str
    regarded: Regarded
    together: Together | None = None
    apart: Reason | None = None
    kind: Literal["placed"] = "placed"


@dataclass(frozen=True, slots=True)
class Looked:
    """A running flow was looked at.

    :param dwell: seconds that it was to stay on its path.
    :param urged: the alarm, or else the trigger of its template, that it was looked at for, in words.
    """

    waived: Waived
    dwell: float
    urged: str = ""
    kind: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True)
class Expelled:
    """A flow had lost its path, with others.

    :param exodus: all of them; a part of its own, since each of them refers to it.
    """

    loss: Loss
    exodus: Exodus
    kind: Literal["expelled"] = "expelled"


@dataclass(frozen=True, slots=True)
class Displaced:
    """A flow gave way to another one."""

    why: str
    kind: Literal["displaced"] = "displaced"


Step = Placed | Looked | Expelled | Displaced
"""How it came to the decision, with what only that way of coming to it looks at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a decision about one flow looked at; see the package's text for what it leaves out.

    :param at: the event's time.
    :param flow: as it was, the misses that this event adds counted.
    :param shut: paths that were closed to it, and why.
    :param best: the best values seen that lookup tables were generated from.
    :param loads: per path name; a path without flows is absent.
    :param paths: what was known of each candidate.
    """

    event: str
    at: float
    flow: Flow
    shut: Mapping[str, Reason]
    best: Mapping[Metric, float]
    loads: Mapping[str, Load]
    own: OwnRates | None
    step: Step
    paths: tuple[Known, ...]
    template: Template
    topology: Topology
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a recorded decision saw.

    :param decision: its id.
    :param alarm: the id of the alarm that its event was about.
    :param trigger: what of its template's triggers led to it.
    :param gate: the queue ladder at the port by which the flow leaves, where there are ladders.
    :param meter: the number of the meter that it has, if it has one.
    :param cause_text: what its event was.
    """

    decision: str
    seen: Seen
    alarm: str | None = None
    gate: Gate | None = None
    meter: int | None = None
    trigger: str | None = None
    cause_text: str = ""
