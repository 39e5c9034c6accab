"""Values as people read them, for the page's templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from adon.broker.estimates import METRIC as ESTIMATE
from adon.broker.resources.amounts import KINDS, amount_text
from adon.units import format_duration, format_rate, format_ratio, format_size
from apps.ages import age
from apps.rest.reservation_models import ReservationView
from apps.rest.runs import read_task

METRICS: Mapping[str, str] = {
    "throughput": "Throughput",
    "rtt": "Round trip",
    "one_way_delay": "One-way delay",
    "jitter": "Jitter",
    "loss": "Loss",
}
"""The metrics' names, in the order they are shown."""

NAMES: Mapping[str, str] = {**METRICS, ESTIMATE: "Estimate’s error"}


def error(share: float) -> str:
    """How far off an estimate was: ``+12 %`` promised too much."""
    return f"{100 * share:+.0f} %".replace("-", "−")


_FORMATS: Mapping[str, Callable[[float], str]] = {
    "throughput": format_rate,
    "rtt": format_duration,
    "one_way_delay": format_duration,
    "jitter": format_duration,
    "loss": format_ratio,
    ESTIMATE: error,
}


def value(number: float | None, metric: str) -> str:
    """A metric's value with its unit; a dash where there is none."""
    return "–" if number is None else _FORMATS.get(metric, "{:.4g}".format)(number)


def seconds(span: float | str) -> str:
    """A time span of a decision, in which ``"inf"`` means impossible."""
    return "impossible" if span == "inf" else format_duration(float(span))


def rate(number: float | str) -> str:
    """A rate of a decision, in which ``"inf"`` means not limited here."""
    return "no limit" if number == "inf" else format_rate(float(number))


def rate_of(number: float | None) -> str:
    """A rate of a prediction; a question mark where it is no finite number."""
    return "?" if number is None else format_rate(number)


def time(at: float | None) -> str:
    """A time to the second, UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def score(number: float | None) -> str:
    """A score or a Q to two places; a dash where there is none."""
    return "–" if number is None else f"{number:.2f}"


def name(metric: str) -> str:
    """A metric's name."""
    return NAMES.get(metric, metric)


def clock(at: float | None) -> str:
    """The time of day to the second, UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def task(name: str) -> str:
    """A test of the plan: ``throughput on al2s, mu → osu``."""
    read = read_task(name)
    if read is None:
        return name
    demanded = ", on demand" if read.demanded else ""
    return f"{read.kind} on {read.key.path}, {read.key.source} → {read.key.destination}{demanded}"


def amounts(found: Mapping[str, int]) -> list[tuple[str, str]]:
    """Amounts of resources, each with its words, in the usual order."""
    return [(kind, amount_text(kind, found[kind])) for kind in KINDS if kind in found]


def kinds(reservation: ReservationView) -> dict[str, int]:
    """What a reservation keeps, by kind of resource."""
    fields = ("worker_nodes", "cores", "memory_bytes", "gpus", "storage_bytes", "bandwidth_bps")
    held = {kind: getattr(reservation, field) for kind, field in zip(KINDS, fields, strict=True)}
    return {kind: amount for kind, amount in held.items() if amount}


FILTERS: Mapping[str, Callable[..., object]] = {
    "age": age,
    "amounts": amounts,
    "clock": clock,
    "error": error,
    "kinds": kinds,
    "metric": name,
    "rate": rate,
    "rate_of": rate_of,
    "score": score,
    "seconds": seconds,
    "size": format_size,
    "task": task,
    "time": time,
    "value": value,
}
