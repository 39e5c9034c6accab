"""Normalised measurements of all sources, and the JSON codec of values.

Units: throughput in bits/s, delays and jitter in seconds, loss and health as ratios 0..1.  Times are seconds
since the Unix epoch, UTC.  Metric meanings follow RFC 7679 (one-way delay), RFC 7680 (one-way loss),
RFC 3393 (delay variation; reported here as the mean absolute difference of consecutive one-way
delays) and perfSONAR's words for tasks, runs and results.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from measurement.errors import InvalidValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import CoreSchema

T = TypeVar("T")


class Metric(StrEnum):
    """Metric of a transit path; ``higher_is_better`` states its good direction."""

    THROUGHPUT = "throughput"
    RTT = "rtt"
    ONE_WAY_DELAY = "one_way_delay"
    JITTER = "jitter"
    LOSS = "loss"
    HEALTH = "health"
    """H-ALL of a pair of instances that probe each other along the path ([HEALTH] 6), from 0 (dead) to 1."""

    @property
    def higher_is_better(self) -> bool:
        """True for throughput and health: the others are better the smaller they are."""
        return self in (Metric.THROUGHPUT, Metric.HEALTH)

    @property
    def is_ratio(self) -> bool:
        """Whether its values are ratios, which are never above 1."""
        return self in (Metric.LOSS, Metric.HEALTH)


_CUSTOM = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
_RUN = re.compile(
    r"/runs/([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})(?=$|[/?#])"
)


def _object_schema(kind: Any) -> CoreSchema:
    """Return the schema of a named tuple of strings: an object with its field names, not a list."""
    from pydantic_core import core_schema

    fields = {name: core_schema.typed_dict_field(core_schema.str_schema()) for name in kind._fields}
    return core_schema.no_info_wrap_validator_function(
        lambda data, read: data if isinstance(data, kind) else kind(**read(data)),
        core_schema.typed_dict_schema(fields),
        serialization=core_schema.plain_serializer_function_ser_schema(kind._asdict),
    )


def sparse_schema(kind: Any, handler: Any, *always: str) -> CoreSchema:
    """Return the schema of a dataclass that is written without default values.

    :param always: fields that are always written.
    """
    schema: CoreSchema = handler(kind)
    arguments = handler.resolve_ref_schema(schema)
    while arguments["type"] != "dataclass-args":
        arguments = arguments["schema"]
    parts = {part["name"]: part for part in arguments["fields"]}
    for one in fields(kind):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if one.name not in always and default is not MISSING:
            parts[one.name]["serialization_exclude_if"] = partial(operator.eq, default)
    return schema


def headed_schema(schema: CoreSchema, *head: str) -> CoreSchema:
    """Return the schema of a dataclass whose documents must have some fields in spite of their defaults.

    :param head: the required fields.
    """
    from pydantic_core import core_schema

    def check(data: Any) -> Any:
        missing = [name for name in head if isinstance(data, Mapping) and name not in data]
        if missing:
            raise ValueError("\n".join(f"{name}: is required" for name in missing))
        return data

    return core_schema.no_info_before_validator_function(check, schema)


class PathKey(NamedTuple):
    """Direction of a transit path: its configured name, and its source and destination site."""

    path: str
    source: str
    destination: str

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        return _object_schema(cls)

    def __str__(self) -> str:
        return f"{self.path}:{self.source}>{self.destination}"


class Series(NamedTuple):
    """Time series of a metric of a directed path, or of a host (:class:`Observation`)."""

    path: str
    source: str
    destination: str
    metric: str

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        return _object_schema(cls)

    @property
    def key(self) -> PathKey:
        """Directed path or host of the series."""
        return PathKey(self.path, self.source, self.destination)

    def __str__(self) -> str:
        return f"{self.key}/{self.metric}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Value of a metric of a directed path.

    :param key: the directed path.
    :param metric: the metric.
    :param value: in the units of this module; finite and not negative.
    :param started_at: start of the test.
    :param observed_at: end of the test: the age of a value counts from here.
    :param source: identifier of its origin, such as a run's URL.
    :param tool: the program that measured (``iperf3``, ``ping``).
    :param parameters: the test's own parameters that change its meaning (``streams``, ``protocol``).
    :raises ValueError: for an impossible value (NaN, negative, a loss above 1) or a test that
        ends before it begins.
    """

    key: PathKey
    metric: Metric
    value: float
    started_at: float
    observed_at: float
    source: str
    tool: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not math.isfinite(self.value) or self.value < 0:
            raise ValueError(f"{self.metric}: {self.value!r} is not a measurable value")
        if self.metric.is_ratio and self.value > 1:
            raise ValueError(f"{self.metric}: {self.value!r} is above 1")
        if not (math.isfinite(self.started_at) and math.isfinite(self.observed_at)):
            raise ValueError("observed_at: not a time")
        if self.observed_at < self.started_at:
            raise ValueError("observed_at: the test ends before it begins")

    @property
    def series(self) -> Series:
        """The time series it is a value of."""
        return Series(*self.key, self.metric.value)

    @property
    def origin(self) -> str:
        """Identity of the result: see :func:`origin_of`."""
        return origin_of(self.source)

    def age(self, now: float) -> float:
        """Return the seconds since the end of the test; 0 if the clock of the measured host is ahead."""
        return max(0.0, now - self.observed_at)


@dataclass(frozen=True, slots=True)
class Observation:
    """Value of a custom metric: of a host, a workflow, an estimate.

    :param key: the object of the metric; for a host ``PathKey("", host, "")`` (:func:`host_key`).
    :param metric: a dotted name (``host.memory_available``, ``pegasus.percent_done``).
    :param value: a finite number; ``parameters["unit"]`` is its unit, if any.
    :param parameters: details as JSON (a workflow's state, a job's id).
    :raises ValueError: for an infinite value or time, or a metric of :class:`Metric`.
    """

    key: PathKey
    metric: str
    value: float
    observed_at: float
    source: str
    tool: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _CUSTOM.fullmatch(self.metric) or self.metric in set(Metric):
            raise ValueError(f"metric: {self.metric[:60]!r} is not the name of a custom metric")
        if not math.isfinite(self.value):
            raise ValueError(f"{self.metric}: {self.value!r} is not a number")
        if not math.isfinite(self.observed_at):
            raise ValueError("observed_at: not a time")

    @property
    def series(self) -> Series:
        """The time series it is a value of."""
        return Series(*self.key, self.metric)

    @property
    def origin(self) -> str:
        """As :attr:`Measurement.origin`; several values of one source differ by their time."""
        return f"{origin_of(self.source)}@{float(self.observed_at)!r}"


def host_key(host: str) -> PathKey:
    """Return the key of the observations of a host."""
    return PathKey("", host, "")


def origin_of(source: str) -> str:
    """Return the identity of a result: the UUID of the run if ``source`` names a run.

    A run's URL begins differently when it is polled (the host as configured), pushed (the host's own name)
    or read from an archive; its UUID is the same.
    """
    found = _RUN.search(source)
    return source if found is None else found[1].lower()


STRICT = {"extra": "forbid"}
"""``__pydantic_config__`` of a value whose documents have only the keys of its fields."""

_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def type_adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the codec of a type; the first call takes some milliseconds."""
    from pydantic import TypeAdapter  # imported on demand, because probe agents do not need it

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(value: object, kind: Any = None) -> Any:
    """Return a value (a dataclass, a model, or a collection of them) as JSON values.

    :param kind: its type if ``type(value)`` is not enough: ``tuple[Shape, ...]``.
    """
    document = type_adapter(type(value) if kind is None else kind).dump_python(value, mode="json")
    return _replace_infinity([document])[0]


def from_json(kind: type[T], data: object) -> T:
    """Return the value that :func:`to_json` wrote.

    :raises InvalidValue: for data that are not a value of this type; one line that names each wrong field,
        and the code of the first problem.
    """
    from pydantic import ValidationError

    try:
        return cast(T, type_adapter(kind).validate_python(data))
    except ValidationError as error:
        cause = error.errors(include_url=False, include_input=False)[0].get("ctx", {}).get("error")
        raise InvalidValue("; ".join(list_problems(error)), getattr(cause, "code", "invalid")) from None


LISTED = 5
"""Maximum number of problems in an error."""


def list_problems(error: ValidationError, whole: str = "value") -> list[str]:
    """Return a line per problem with field and cause: the first ones, and the number of others.

    :param whole: name for a problem without a field.
    """
    found = error.errors(include_url=False, include_input=False)
    lines = [_problem_line(each, whole) for each in found[:LISTED]]
    return [*lines, f"and {len(found) - LISTED} more"] if len(found) > LISTED else lines


def _problem_line(problem: Any, whole: str) -> str:
    field = ".".join(map(str, problem["loc"]))
    if problem["type"] != "value_error":
        return f"{field or whole}: {problem['msg']}"
    cause = str(problem["ctx"]["error"])  # the value's own error, whose text names the field
    return f"{field}: {cause}" if field and not cause.startswith(f"{field}:") else cause


def finite(value: Any) -> Any:
    """Return JSON values of plain Python ones: mappings, lists, and infinity as the string ``"inf"``."""
    from pydantic_core import to_jsonable_python

    return _replace_infinity([to_jsonable_python(value, inf_nan_mode="constants")])[0]


def _replace_infinity(parts: Any) -> Any:
    # In place, because a copy of a large document takes longer than its serialisation.
    for key, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
        if isinstance(part, float):
            if math.isinf(part):
                parts[key] = str(part)
        elif isinstance(part, dict | list):
            _replace_infinity(part)
    return parts
