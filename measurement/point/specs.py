"""What a point accepts: task bodies and test specifications, checked field by field.  Pure.

Specifications follow pScheduler 5.2.  What this point's tools cannot do is refused by name rather than
ignored.  Addresses and names end up in argument lists, so they are addresses or host names and nothing
else; counts and lengths have ceilings, because every one of them costs the network something.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from measurement.instances import PORT
from measurement.point.model import TESTS, Schedule
from measurement.probes.probe_types import MAX_PACKETS
from measurement.pscheduler.iso8601 import parse_duration, parse_timestamp

LONGEST = 3600.0
_M = TypeVar("_M", bound=BaseModel)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NODE = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::\d{{1,5}})?")


def _host(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if not _NAME.fullmatch(text) or len(text) > 253:
            raise ValueError(f"{text[:60]!r} is not an address or a host name") from None
    return text


def _node(text: str) -> str:
    if not _NODE.fullmatch(text) or len(text) > 262:
        raise ValueError(f"{text[:60]!r} is not HOST or HOST:PORT")
    return text


def _without_port(node: str) -> str:
    return node[1 : node.index("]")] if node.startswith("[") else node.partition(":")[0]


def _seconds(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


Host = Annotated[str, AfterValidator(_host)]
Node = Annotated[str, AfterValidator(_node)]
Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=LONGEST)]


def _hyphens(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class Spec(BaseModel):
    """What all tests share: the host that measures, the one that is asked if it is not named."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_hyphens, allow_inf_nan=False, strict=True
    )
    schema_: Annotated[int, Field(ge=1, le=7)] = 1
    source: Host | None = None
    source_node: Node | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it makes this point turn to, by address or name."""
        return ()

    @property
    def lasts(self) -> float:
        """Length of the time slot, seconds: the measurement and what is around it."""
        raise NotImplementedError

    @property
    def participants(self) -> tuple[str, ...]:
        """Who must run something for it; empty when it is only the host that is asked."""
        found = self.source_node if self.source_node is not None else self.source
        return () if found is None else (found,)


class PathSpec(Spec):
    """What all tests of a path share: they go from the source to a destination."""

    dest: Host
    dest_node: Node | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The destination, and the point there."""
        node = () if self.dest_node is None else (_without_port(self.dest_node),)
        return (self.dest, *node)


class Throughput(PathSpec):
    """TCP or UDP throughput from source to dest."""

    duration: Seconds = 10.0
    interval: Seconds | None = None
    parallel: Annotated[int, Field(ge=1, le=128)] = 1
    udp: bool = False
    bandwidth: Annotated[int, Field(ge=1, le=10**12)] | None = None
    window_size: Annotated[int, Field(ge=1, le=2**30)] | None = None
    mss: Annotated[int, Field(ge=88, le=9216)] | None = None
    buffer_length: Annotated[int, Field(ge=16, le=2**20)] | None = None
    ip_tos: Annotated[int, Field(ge=0, le=255)] | None = None
    ip_version: Literal[4, 6] | None = None
    omit: Seconds | None = None
    congestion: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,16}$")] | None = None
    no_delay: bool = False
    zero_copy: bool = False
    reverse: bool = False

    @property
    def lasts(self) -> float:
        """Both programs start and exchange results within four seconds beside the measurement."""
        return self.duration + (self.omit if self.omit is not None else 0.0) + 4.0

    @property
    def participants(self) -> tuple[str, ...]:
        """The source leads; the other is dest."""
        far = self.dest_node if self.dest_node is not None else self.dest
        return (*(super().participants or (LOCAL,)), far)


class Rtt(PathSpec):
    """Round trips to dest."""

    count: Annotated[int, Field(ge=1, le=10_000)] = 5
    interval: Seconds = 1.0
    timeout: Seconds = 2.0
    deadline: Seconds | None = None
    length: Annotated[int, Field(ge=16, le=65_000)] | None = None
    ttl: Annotated[int, Field(ge=1, le=255)] | None = None
    ip_tos: Annotated[int, Field(ge=0, le=255)] | None = None
    ip_version: Literal[4, 6] | None = None
    hostnames: bool = True

    @property
    def lasts(self) -> float:
        """All requests, and the wait for the last answer."""
        return min(LONGEST, self.count * self.interval) + self.timeout + 1.0


class Latency(PathSpec):
    """One-way delay and loss from source to dest."""

    packet_count: Annotated[int, Field(ge=1, le=100_000)] = 100
    packet_interval: Annotated[float, Field(ge=0.0001, le=60)] = 0.1
    packet_timeout: Annotated[float, Field(ge=0, le=60)] = 0
    packet_padding: Annotated[int, Field(ge=0, le=8900)] = 0
    bucket_width: Annotated[float, Field(gt=0, lt=1)] = 0.001
    ip_tos: Annotated[int, Field(ge=0, le=255)] | None = None
    ip_version: Literal[4] | None = None
    output_raw: bool = False

    @property
    def lasts(self) -> float:
        """The packets, the wait for the last, and the session's start and end."""
        return self.packet_count * self.packet_interval + self.packet_timeout + 3.0


class LatencyBackground(Latency):
    """One-way delay and loss without a pause for ``duration``, told once per ``packet_count`` packets."""

    packet_count: Annotated[int, Field(ge=10, le=100_000)] = 600
    duration: Annotated[float, BeforeValidator(_seconds), Field(ge=1, le=86_400)] = 86_400.0

    @model_validator(mode="after")
    def _at_least_one_period(self) -> Self:
        if not 1 <= self.period <= min(self.duration, LONGEST):
            raise ValueError("packet-count times packet-interval must be 1 to 3600 s, and within duration")
        return self

    @property
    def period(self) -> float:
        """Seconds that one result is about."""
        return self.packet_count * self.packet_interval

    @property
    def lasts(self) -> float:
        """The packets, the wait for the last, and the sessions' start and end."""
        return self.duration + self.packet_timeout + 3.0


class Trace(PathSpec):
    """The hops towards dest.  Real servers ignore unknown fields here, so this one does."""

    model_config = ConfigDict(extra="ignore")
    hops: Annotated[int, Field(ge=1, le=255)] = 30
    wait: Seconds = 1.0
    length: Annotated[int, Field(ge=28, le=65_000)] | None = None
    probe_type: Literal["icmp", "udp", "tcp"] = "udp"

    @property
    def lasts(self) -> float:
        """Sixteen probes are under way at a time, so silence costs two waits or so."""
        return (self.hops / 16 + 2) * self.wait + 5.0


class TrainSpec(PathSpec):
    """A packet train to the probe agent at dest ([CHOREO] 3.1)."""

    dest_port: Annotated[int, Field(ge=1, le=65_535)] = PORT
    packet_length: Annotated[int, Field(ge=64, le=65_000)] = 1472
    burst: Annotated[int, Field(ge=2, le=5000)] = 200
    bursts: Annotated[int, Field(ge=1, le=100)] = 10
    pause: Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=1)] = 0.001

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        if self.burst * self.bursts > MAX_PACKETS:
            raise ValueError(f"burst times bursts is above {MAX_PACKETS}")
        return self

    @property
    def lasts(self) -> float:
        """The train, and starting what sends it."""
        return self.bursts * self.pause + 14.0


class HealthSpec(PathSpec):
    """The indicators of [HEALTH] 5.1, towards the probe agent at dest.

    :param count: requests of each kind; :param intervals: of one second, of throughput; 0 for none.
    """

    dest_port: Annotated[int, Field(ge=1, le=65_535)] = PORT
    count: Annotated[int, Field(ge=1, le=100)] = 5
    intervals: Annotated[int, Field(ge=0, le=60)] = 10
    timeout: Annotated[Seconds, Field(le=30)] = 5.0

    @property
    def lasts(self) -> float:
        """All kinds, one after the other; of a silent dest each waits for its time-out."""
        return self.intervals + 8 * (self.timeout + 0.2 * self.count) + 5.0


class MetricSpec(Spec):
    """A metric of this host, sampled every ``interval`` (the metric's own if absent) for ``duration``."""

    metric: Annotated[str, Field(min_length=1, max_length=100)]
    interval: Seconds | None = None
    duration: Annotated[float, BeforeValidator(_seconds), Field(ge=1, le=86_400)] = 3600.0

    @property
    def lasts(self) -> float:
        """The samples, and the last one's own time."""
        return self.duration + 5.0


LOCAL = ""
"""The participant that is the host asked: pScheduler answers null for it."""

_SPECS: Mapping[str, type[Spec]] = {
    "throughput": Throughput,
    "rtt": Rtt,
    "latency": Latency,
    "latencybg": LatencyBackground,
    "trace": Trace,
    "adon-train": TrainSpec,
    "adon-health": HealthSpec,
    "adon-metric": MetricSpec,
}


def parse_spec(test: str, value: object) -> Spec:
    """A test's specification.

    :raises ValueError: one line per problem; for an unknown test too.
    """
    if test not in TESTS:
        raise ValueError(f'No test "{test[:40]}" is available.')
    return validate_model(_SPECS[test], value)


class TestBody(BaseModel):
    """The test of a task."""

    model_config = ConfigDict(extra="forbid")
    type: str
    spec: dict[str, Any]
    __test__ = False


class ScheduleBody(BaseModel):
    """The schedule of a task, as written."""

    model_config = ConfigDict(extra="forbid", alias_generator=_hyphens)
    schema_: Literal[1] = 1
    start: str | None = None
    slip: str = "P0D"
    sliprand: bool = False
    repeat: str | None = None
    until: str | None = None
    max_runs: Annotated[int, Field(ge=1, strict=True)] | None = None


class TaskBody(BaseModel):
    """A task as posted."""

    model_config = ConfigDict(extra="forbid", alias_generator=_hyphens)
    schema_: Annotated[int, Field(ge=1, le=5)] = 1
    test: TestBody
    schedule: ScheduleBody
    tool: str | None = None
    tools: list[str] | None = None
    archives: list[Any] = []
    reference: Any = None
    priority: int | None = None
    debug: bool = False
    key: Annotated[str | None, Field(alias="_key", max_length=1000)] = None


def parse_task(value: object) -> TaskBody:
    """A task's body.

    :raises ValueError: one line per problem.
    """
    return validate_model(TaskBody, value)


def parse_schedule(body: ScheduleBody, now: float) -> Schedule:
    """When a task posted now runs.

    :raises ValueError: for a zero repeat, a past or relative ``until``, a malformed time.
    """
    repeat = None if body.repeat is None else parse_duration(body.repeat)
    if repeat is not None and repeat < 1:
        raise ValueError("schedule.repeat: must be at least one second")
    until = None if body.until is None else parse_timestamp(body.until)
    if until is not None and until <= now:
        raise ValueError("schedule.until: is in the past")
    slip = parse_duration(body.slip)
    if repeat is not None:
        slip = min(slip, repeat)
    return Schedule(_start(body.start, now), slip, repeat, until, body.max_runs)


def _start(text: str | None, now: float) -> float:
    if text is None:
        return now
    if text.startswith("@"):
        multiple = parse_duration(text[1:])
        if multiple <= 0:
            raise ValueError("schedule.start: a multiple of nothing")
        return (now // multiple + 1) * multiple
    if text.startswith("P"):
        return now + parse_duration(text)
    return max(now, parse_timestamp(text))


def without_comments(value: object) -> object:
    """JSON without the keys that start with ``#``, which pScheduler reads as comments."""
    if isinstance(value, dict):
        return {key: without_comments(item) for key, item in value.items() if not key.startswith("#")}
    if isinstance(value, list):
        return [without_comments(item) for item in value]
    return value


def validate_model(model: type[_M], value: object) -> _M:
    """A value of a pydantic model.

    :raises ValueError: one line per problem.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        lines = (f"{'.'.join(map(str, item['loc'])) or 'document'}: {item['msg']}" for item in error.errors())
        raise ValueError("\n".join(lines)) from None
