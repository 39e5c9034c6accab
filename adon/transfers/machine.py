"""The life of a transfer that a tool carries: from what happens to what is to be done next.  Pure.

::

    waiting ──► starting ──► running ──► done
       ▲          ▲  │          │  └───► failed (for good)
       │          │  ▼          │
       │        retrying ◄──────┤
       └────── stopping ◄───────┘        cancelled: from every phase, through stopping if it may run

What is to be done follows from where a transfer is (:func:`todo`), not from how it came there: a process
that starts again reads the transfer and goes on.  From ``starting`` on a run of the tool may exist; it is
left only when the tool has said that there is none (any more), so there are never two.
Times in seconds since the epoch, sizes in bytes, rates in bits/s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from adon.transfers.pace import UNKNOWN, Pace


class Phase(StrEnum):
    """Where a transfer is in its life."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    RETRYING = "retrying"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing more happens."""
        return self in (Phase.DONE, Phase.FAILED, Phase.CANCELLED)

    @property
    def may_run(self) -> bool:
        """Whether a run of the tool may be under way."""
        return self in (Phase.STARTING, Phase.RUNNING, Phase.STOPPING)


class Deed(StrEnum):
    """What is to be done with the tool now."""

    START = "start"
    LOOK = "look"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Patience:
    """How often, and after which pauses, a transfer that broke is started again.

    :param slow: below this share of what was promised it is slow.
    """

    tries: int
    backoff: float
    longest: float
    slow: float = 0.5

    def pause(self, failures: int, chance: float) -> float:
        """Seconds before the next start: doubled by each failure, and by chance between half and all of it.

        :param chance: from 0 to 1; so that many that broke together do not come back together.
        """
        # 2**60 backoffs are above any longest pause: the number itself must not overflow.
        return min(self.longest, self.backoff * 2.0 ** min(60, max(0, failures - 1))) * (0.5 + chance / 2)


@dataclass(frozen=True, slots=True)
class Report:
    """What the controller is yet to be told."""

    status: str
    bytes: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """See the module.

    :param key: names its runs at the tool; no other transfer has it.
    :param go: whether its flow is active.
    :param over: whether its flow has ended.
    :param attached: it follows a job of somebody else's, which is neither stopped nor started again.
    :param pausable: it is stopped while its flow waits.
    :param tries: starts so far; failures: those that broke.
    :param job: what the tool calls the run, and ``mark`` what tells it from an earlier one of that name, or
        under which it is about to be asked for.
    :param bytes: known to have arrived; never less than before.
    :param kept: of these, what this run need not move again.
    :param whole, files, files_whole: bytes in all, files that arrived, files in all; as this run knows it.
    :param rate: what it is to be held to; None for nothing.
    :param promised: what was expected of it; None if nothing was.
    :param pace: how fast it really is.
    :param next_at: when it is started again, while ``retrying``.
    :param error: the tool's own words on what went wrong last, and since when something does.
    :param report: what the controller is yet to be told.
    :param told: what its owner has been told (:mod:`adon.transfers.news`).
    """

    flow: int
    key: str
    at: str
    attached: bool = False
    pausable: bool = False
    phase: Phase = Phase.WAITING
    since: float = 0.0
    go: bool = False
    over: bool = False
    tries: int = 0
    failures: int = 0
    job: int | str | None = None
    mark: str = ""
    bytes: int = 0
    kept: int = 0
    whole: int | None = None
    files: int | None = None
    files_whole: int | None = None
    rate: float | None = None
    promised: float | None = None
    pace: Pace = UNKNOWN
    next_at: float | None = None
    error: str = ""
    error_since: float | None = None
    report: Report | None = None
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowStands:
    """Where the flow is."""

    go: bool
    over: bool
    rate: float | None = None
    promised: float | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The run is asked for next, under this mark.

    Kept before the tool is asked, so that a second asking (nobody heard the answer, or we were killed) is
    known to be the same run.
    """

    mark: str


@dataclass(frozen=True, slots=True)
class Started:
    """The tool has a run of it.

    :param mark: by which the run is told from one of the same name, after the tool was started anew.
    """

    job: int | str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Progressed:
    """The run has brought so much.

    :param whole, files, files_whole: what this run has to bring, files that it has brought and has to bring;
        None where the tool does not know.
    :param trouble: what it is struggling with, in the tool's words.
    """

    bytes: int
    whole: int | None = None
    files: int | None = None
    files_whole: int | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The run is over, and all is there: so much, where that is known."""

    bytes: int


@dataclass(frozen=True, slots=True)
class Broke:
    """There is no run (any more), or it could not be started.

    :param kept: what the next run need not move again, of what this one brought.
    :param again: whether another run may go better.
    """

    why: str
    kept: int = 0
    again: bool = True


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The tool did not answer: what it does is not known."""

    why: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The tool has no run of it (any more)."""

    kept: int = 0


@dataclass(frozen=True, slots=True)
class RetryAsked:
    """Somebody does not want to wait for the pause to be over."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""


Event = (
    FlowStands
    | Prepared
    | Started
    | Progressed
    | Succeeded
    | Broke
    | Unanswered
    | Stopped
    | RetryAsked
    | Ticked
)


def todo(transfer: Transfer) -> Deed | None:
    """What is to be done with the tool now; None for nothing."""
    match transfer.phase:
        case Phase.STARTING:
            return Deed.START
        case Phase.RUNNING:
            return Deed.LOOK
        case Phase.STOPPING:
            return Deed.STOP
        case _:
            return None


def step(transfer: Transfer, event: Event, now: float, patience: Patience, chance: float) -> Transfer:
    """The transfer after an event; an event that comes too late changes nothing.

    :param chance: from 0 to 1, for the pause before another start.
    """
    if transfer.phase.final:
        return replace(transfer, over=transfer.over or (isinstance(event, FlowStands) and event.over))
    after = _happened(transfer, event, now, patience, chance)
    after = _settled(after, now)
    if bool(after.error) is not (after.error_since is not None):
        after = replace(after, error_since=now if after.error else None)
    return after if after.phase is transfer.phase else replace(after, since=now)


def told(transfer: Transfer, report: Report) -> Transfer:
    """The transfer when the controller has taken a report; what came up meanwhile is still to be told."""
    return replace(transfer, report=None) if transfer.report == report else transfer


def _happened(t: Transfer, event: Event, now: float, patience: Patience, chance: float) -> Transfer:
    match event:
        case FlowStands(go, over, rate, promised):
            return replace(t, go=go, over=t.over or over, rate=rate, promised=promised)
        case Prepared(mark) if t.phase is Phase.STARTING:
            return replace(t, mark=mark)
        case Started(job, mark) if t.phase is Phase.STARTING:
            began = replace(t, phase=Phase.RUNNING, job=job, mark=mark, tries=t.tries + 1, error="")
            return replace(began, report=Report("started", t.bytes), pace=UNKNOWN)
        case Progressed() if t.phase is Phase.RUNNING:
            return _progressed(t, event, now, patience.slow)
        case Succeeded(total) if t.phase in (Phase.RUNNING, Phase.STOPPING):
            t = _brought(t, total)
            return replace(t, phase=Phase.DONE, error="", report=Report("finished", t.bytes))
        case Broke() if t.phase in (Phase.STARTING, Phase.RUNNING):
            return _broke(t, event, now, patience, chance)
        case Unanswered(why) if t.phase.may_run:
            return replace(t, error=why)
        case Stopped(kept) if t.phase is Phase.STOPPING:
            t = replace(t, job=None, mark="", kept=t.kept + kept, pace=UNKNOWN)
            return replace(t, phase=Phase.CANCELLED if t.over else Phase.WAITING)
        case RetryAsked() if t.phase is Phase.RETRYING:
            return replace(t, next_at=now)
        case _:
            return t


def _progressed(t: Transfer, event: Progressed, now: float, slow: float) -> Transfer:
    pace = t.pace.seen(t.kept + event.bytes, now).judged(t.promised, slow, now)
    whole = None if event.whole is None else t.kept + event.whole
    t = replace(t, whole=whole, files=event.files, files_whole=event.files_whole, pace=pace)
    return _brought(replace(t, error=event.trouble), t.kept + event.bytes)


def _brought(t: Transfer, brought: int) -> Transfer:
    if brought <= t.bytes:
        return t
    return replace(t, bytes=brought, report=Report("progress", brought))


def _broke(t: Transfer, event: Broke, now: float, patience: Patience, chance: float) -> Transfer:
    failures = t.failures + 1
    t = replace(t, job=None, mark="", kept=t.kept + event.kept, failures=failures, pace=UNKNOWN)
    t = replace(t, error=event.why)
    if not event.again or t.attached or failures >= patience.tries:
        return replace(t, phase=Phase.FAILED, report=Report("failed", t.bytes, event.why))
    return replace(t, phase=Phase.RETRYING, next_at=now + patience.pause(failures, chance))


def _settled(t: Transfer, now: float) -> Transfer:
    """Where a transfer goes by itself."""
    if t.phase.final:
        return t
    if t.over:
        if t.phase.may_run and not t.attached:
            return replace(t, phase=Phase.STOPPING, report=None)
        return replace(t, phase=Phase.CANCELLED, next_at=None, report=None)
    if not t.go:
        # Nobody knows yet whether what is starting has begun: that is found out by stopping it.
        stops = t.phase is Phase.STARTING or (t.phase is Phase.RUNNING and t.pausable)
        if stops and not t.attached:
            return replace(t, phase=Phase.STOPPING)
        if t.phase is Phase.RETRYING and t.next_at is not None and t.next_at <= now:
            return replace(t, phase=Phase.WAITING, next_at=None)
        return t
    if t.phase is Phase.WAITING or (t.phase is Phase.RETRYING and t.next_at is not None and t.next_at <= now):
        return replace(t, phase=Phase.STARTING, next_at=None)
    return t
