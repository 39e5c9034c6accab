"""How alike two specifications are, explained part by part; and whether the other one succeeded.

[ADON] 3.1: a template can be re-applied by "self-service", without the performance engineer, "if a similar
specification was successfully handled previously".  The distance of two templates is a weighted mean of the
distances of their parts, each between 0 (the same) and 1 (nothing in common); similarity is one minus that.
Quantities are compared by their ratio: :data:`APART` times is as far apart as can be.

That a specification succeeded is said by the lower end of Wilson's interval for the share of its flows whose
QSpec was kept all the time (Wilson, "Probable inference", JASA 22, 1927): ten of ten are less than ninety of
a hundred.  What somebody may get by self-service is at most what the similar template gives: :func:`excess`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from adon.templates_catalog.lookup import UNITS
from adon.templates_catalog.model import RSpec, Template, normalised
from adon.units import format_duration, format_rate, format_ratio, format_size
from measurement.model import Metric

APART = 8.0
"""Two quantities with a ratio of so much, or more, have nothing in common."""

SHARES: Mapping[str, float] = MappingProxyType(
    {"qspec": 0.45, "weights": 0.2, "rspec": 0.15, "protocol": 0.1, "sites": 0.05, "streams": 0.05}
)
"""How much each part counts: what a flow needs first, where it may go last."""

CONFIDENT = 1.96
"""Standard deviations of Wilson's interval: 95 %."""

_WRITTEN = {"bps": format_rate, "s": format_duration, "ratio": format_ratio}


@dataclass(frozen=True, slots=True)
class PartDistance:
    """How far one part of two specifications is apart.

    :param share: how much the part counts.
    :param distance: 0 to 1.
    :param differs: what differs, in words, "here" being the one that is compared; empty if nothing does.
    """

    part: str
    share: float
    distance: float
    differs: str = ""

    @property
    def lost(self) -> float:
        """What it takes off the similarity."""
        return self.share * self.distance


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike a specification is to a template of the catalog."""

    reference: str
    value: float
    parts: tuple[PartDistance, ...]

    @property
    def text(self) -> str:
        """``like soykb@3: 0.93, because the same protocol; qspec: throughput 600 Mbps here, ... (-0.04)``."""
        same = [part.part for part in self.parts if part.distance == 0]
        differing = sorted((part for part in self.parts if part.distance > 0), key=lambda part: -part.lost)
        words = [f"the same {', '.join(same)}"] if same else []
        words += [f"{part.part}: {part.differs} (-{part.lost:.2f})" for part in differing]
        return f"like {self.reference}: {self.value:.2f}, because {'; '.join(words)}"


def similarity(template: Template, known: Template) -> Similarity:
    """How alike a specification is to one of the catalog; symmetric but for its words."""
    distances = {
        "qspec": _qspec(template, known),
        "weights": _weights(template, known),
        "rspec": _rspec(template.rspec, known.rspec),
        "protocol": _same(template.protocol, known.protocol),
        "sites": _sites(template.rspec.sites, known.rspec.sites),
        "streams": _quantity("streams", template.streams, known.streams, "{:g}".format),
    }
    parts = tuple(PartDistance(name, SHARES[name], *distances[name]) for name in SHARES)
    return Similarity(known.reference, 1.0 - math.fsum(part.lost for part in parts), parts)


def ranked(template: Template, known: Iterable[Template]) -> list[Similarity]:
    """How alike it is to each of these, the most similar first."""
    found = [similarity(template, one) for one in known]
    return sorted(found, key=lambda one: (-one.value, one.reference))


Distance = tuple[float, str]
"""From 0 to 1, and what differs in words."""


def _qspec(here: Template, there: Template) -> Distance:
    found: list[Distance] = []
    for metric in Metric:
        one, other = here.qspec.bound(metric), there.qspec.bound(metric)
        if one is not None or other is not None:
            found.append(_quantity(metric.value, one, other, _WRITTEN[UNITS[metric]]))
    return _mean(found)


def _weights(here: Template, there: Template) -> Distance:
    one, other = normalised(here.weights), normalised(there.weights)
    moved = {m: one.get(m, 0.0) - other.get(m, 0.0) for m in Metric if m in one or m in other}
    distance = min(1.0, math.fsum(abs(by) for by in moved.values()) / 2)
    told = [f"{m} {one.get(m, 0.0):.2f} here, {other.get(m, 0.0):.2f} there" for m, by in moved.items() if by]
    return (distance, ", ".join(told)) if distance > 1e-9 else (0.0, "")


class _Write(Protocol):
    def __call__(self, value: float, /) -> str: ...


_COMPUTE: tuple[tuple[str, str, _Write], ...] = (
    ("worker nodes", "worker_nodes", "{:g}".format),
    ("cores", "cores", "{:g}".format),
    ("memory", "memory", format_size),
)


def _rspec(here: RSpec, there: RSpec) -> Distance:
    quantities: list[tuple[str, float | None, float | None, _Write]] = [
        ("ceiling", here.bandwidth_ceiling, there.bandwidth_ceiling, format_rate),
        ("storage", here.storage or None, there.storage or None, format_size),
    ]
    for name, field, write in _COMPUTE:
        one, other = (
            None if side.compute is None else getattr(side.compute, field) or None for side in (here, there)
        )
        quantities.append((name, one, other, write))
    found = [
        _quantity(name, a, b, write) for name, a, b, write in quantities if a is not None or b is not None
    ]
    if here.software or there.software:
        found.append(_sets("software", set(here.software), set(there.software)))
    return _mean(found)


def _sites(here: tuple[str, ...], there: tuple[str, ...]) -> Distance:
    if bool(here) != bool(there):  # none named: all
        return 0.5, f"{', '.join(here) or 'all sites'} here, {', '.join(there) or 'all sites'} there"
    return _sets("sites", set(here), set(there)) if here else (0.0, "")


def _sets(name: str, here: set[str], there: set[str]) -> Distance:
    """Jaccard's distance."""
    distance = 1 - len(here & there) / len(here | there)
    if not distance:
        return 0.0, ""
    only = [f"{', '.join(sorted(here - there))} only here"] if here - there else []
    only += [f"{', '.join(sorted(there - here))} only there"] if there - here else []
    return distance, f"{name}: {', '.join(only)}"


def _same(here: str, there: str) -> Distance:
    return (0.0, "") if here == there else (1.0, f"{here} here, {there} there")


def _quantity(name: str, here: float | None, there: float | None, write: _Write) -> Distance:
    """By the ratio of two quantities; one that is only there on one side is as far apart as can be."""
    if here == there:
        return 0.0, ""
    one, other = ("none" if value is None else write(value) for value in (here, there))
    told = f"{name} {one} here, {other} there"
    if not here or not there:
        return 1.0, told
    return min(1.0, abs(math.log(here / there)) / math.log(APART)), told


def _mean(found: list[Distance]) -> Distance:
    if not found:
        return 0.0, ""
    return math.fsum(distance for distance, _ in found) / len(found), ", ".join(t for _, t in found if t)


# -- whether it succeeded ------------------------------------------------------------------------------


class Served(Protocol):
    """What is asked of a flow's outcome (:class:`adon.broker.outcomes.FlowOutcome` has all of it)."""

    @property
    def template(self) -> str:
        """The template version that it was served by."""

    @property
    def state(self) -> str:
        """How it ended."""

    @property
    def kept(self) -> bool:
        """Whether its QSpec was kept all the time."""


@dataclass(frozen=True, slots=True)
class Success:
    """How the flows of a template version fared.

    :param at_least: the lower end of Wilson's interval for the share that kept its QSpec.
    """

    outcomes: int
    kept: int
    at_least: float


def success(reference: str, outcomes: Iterable[Served]) -> Success:
    """How the flows of one template version fared; those that somebody cancelled say nothing."""
    told = [one.kept and one.state == "finished" for one in outcomes if _counts(one, reference)]
    return Success(len(told), sum(told), wilson(sum(told), len(told)))


def _counts(outcome: Served, reference: str) -> bool:
    return outcome.template == reference and outcome.state != "cancelled"


def wilson(successes: int, of: int, z: float = CONFIDENT) -> float:
    """The lower end of Wilson's interval for a share; 0 where nothing was tried."""
    if of == 0:
        return 0.0
    share, square = successes / of, z * z
    middle = share + square / (2 * of)
    spread = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    # Never more than the share itself, which rounding would make it for none of many.
    return min(share, max(0.0, (middle - spread) / (1 + square / of)))


# -- what would be more than the other one has -----------------------------------------------------------


def excess(template: Template, known: Template) -> tuple[str, ...]:
    """Every right that a template would give beyond those of a known one, as ``field: cause``.

    Its ``match`` is not looked at: what is registered by self-service has none.
    """
    return tuple(_excess(template, known))


def _excess(template: Template, known: Template) -> Iterator[str]:
    yield from _above("priority", template.priority, known.priority, "{:g}".format)
    yield from _above("streams", template.streams, known.streams, "{:g}".format)
    bound, allowed = template.qspec.bound(Metric.THROUGHPUT), known.qspec.bound(Metric.THROUGHPUT)
    yield from _above("qspec.throughput.min", bound or 0.0, allowed or 0.0, format_rate)
    ceiling, most = template.rspec.bandwidth_ceiling, known.rspec.bandwidth_ceiling
    if most is not None:
        if ceiling is None:
            yield f"rspec.bandwidth_ceiling: none here, {format_rate(most)} there"
        else:
            yield from _above("rspec.bandwidth_ceiling", ceiling, most, format_rate)
    yield from _more_resources(template.rspec, known.rspec)
    for name in ("switch_margin", "min_dwell"):
        if getattr(template.selection, name) < getattr(known.selection, name):
            yield f"selection.{name}: is smaller here: its flows would move more often"
    for name in ("triggers", "monitoring"):
        if not set(getattr(template, name)) <= set(getattr(known, name)):
            yield f"{name}: some are not in {known.reference}"
    if template.marking is not None and template.marking != known.marking:
        yield f"marking: is another one than in {known.reference}"


def _more_resources(here: RSpec, there: RSpec) -> Iterator[str]:
    yield from _above("rspec.storage", here.storage, there.storage, format_size)
    if here.compute is not None:
        if there.compute is None:
            yield "rspec.compute: none is needed there"
        else:
            one, other = here.compute, there.compute
            yield from _above(
                "rspec.compute.worker_nodes", one.worker_nodes, other.worker_nodes, "{:g}".format
            )
            yield from _above("rspec.compute.cores", one.cores, other.cores, "{:g}".format)
            yield from _above("rspec.compute.memory", one.memory, other.memory, format_size)
    if there.sites and not (here.sites and set(here.sites) <= set(there.sites)):
        yield f"rspec.sites: {', '.join(here.sites) or 'all'} here, {', '.join(there.sites)} there"


def _above(field: str, here: float, there: float, write: _Write) -> Iterator[str]:
    if here > there:
        yield f"{field}: {write(here)} here, {write(there)} there"
