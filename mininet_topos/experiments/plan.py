"""Trials of an experiment: flows, events and links with rates, windows and sizes as built.

The same document and topology give the same plan.  The seed of a trial depends on what the trial is, not on
its number, so that a further value or policy changes no other trial.  Repetitions are outermost: an
interrupted run has whole repetitions, and slow drift of the machine affects all policies.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any, Literal, TypeVar

from adon import yamlfile
from adon.templates_catalog.builtin_templates import scale_qspec, scale_template
from adon.templates_catalog.model import Template
from adon.values import FrozenMap
from adon.yamlfile import Place
from measurement.model import Metric
from mininet_topos.experiments import document
from mininet_topos.experiments.results import TrialName
from mininet_topos.topologies.campus_topo import CampusTopo, TransitPath

Point = Mapping[str, document.Scalar]
"""Combination: a value per key of the sweep, and the name of the case."""
Rated = TypeVar("Rated", document.LoadEvent | None, document.LinkEvent | None, document.LinkSetting)


class PlannedFlow(document.FlowEntry):
    """Flow as it is requested: source and destination are hosts, rates and sizes are as built.

    :param at: None with ``after``.
    :param requested: bytes to request: of a flow that lasts a time, what it can send in it at most.
    :param floor: bits/s that its bounds demand; None without such a bound.
    """

    protocol: Literal["tcp", "udp"]
    streams: int
    priority: int
    requested: int
    floor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(TrialName):
    """One run of the workload under one policy.

    :param limit: seconds after which it is stopped.
    """

    flows: tuple[PlannedFlow, ...]
    events: tuple[document.Event, ...]
    links: Mapping[str, document.LinkSetting]
    templates: tuple[Template, ...]
    measuring: Mapping[str, float | None]
    configuration: Mapping[str, Any]
    limit: float


def plan_trials(experiment: document.Experiment, topo: CampusTopo) -> tuple[Trial, ...]:
    """Return the trials of an experiment without problems, in order."""
    variants = [(point, _build(at, topo)) for point, at in list_variants(experiment)]
    repetitions = range(1, experiment.repetitions + 1)
    trials: list[Trial] = []
    for repetition, (point, built), policy in itertools.product(repetitions, variants, experiment.policies):
        settings = " ".join(f"{name}={value}" for name, value in point.items())
        key = " / ".join(filter(None, (settings, policy, str(repetition))))
        seed = _seed(experiment.seed, key)
        trials.append(Trial(len(trials) + 1, key, policy, point, repetition, seed, **built))
    return tuple(trials)


def size_divisor(experiment: document.Experiment, topo: CampusTopo) -> float:
    """Return the divisor of sizes: ``sizes``, by default the scale."""
    return topo.scale if experiment.sizes is None else experiment.sizes


def needs_netem(trial: Trial) -> bool:
    """Return whether a trial gives a link a delay or a loss, which the kernel must emulate."""
    links = [*trial.links.values(), *(event.link for event in trial.events)]
    return any(link.delay or link.loss for link in links if link is not None)


def host_of(topo: CampusTopo, end: str) -> str:
    """Return the host of a name; of a campus the host that measures."""
    return topo.campuses[end].measuring if end in topo.campuses else end


def paths_between(topo: CampusTopo, one: str, other: str) -> dict[str, TransitPath]:
    """Return the paths between two campuses or hosts."""
    campuses = {name for name, campus in topo.campuses.items() if {one, other} & {name, *campus.dtns}}
    return {name: path for name, path in topo.paths.items() if set(path.campuses) == campuses}


def measured_ends(topo: CampusTopo, path: str) -> list[tuple[str, str]]:
    """Return host and address at each end of a path between which it is measured."""
    found = topo.paths[path]
    return [(topo.campuses[campus].measuring, found.addresses[campus]) for campus in found.campuses]


def circuit_of(topo: CampusTopo, name: str) -> str:
    """Return the circuit of this name, or the narrowest of the path of this name."""
    return topo.paths[name].bottleneck if name in topo.paths else name


def _build(at: document.Experiment, topo: CampusTopo) -> dict[str, Any]:
    """Return what all trials of a combination have in common."""
    return {
        "flows": tuple(_plan_flow(flow, at, topo) for flow in at.workload),
        "events": tuple(_plan_event(event, topo.scale) for event in at.events),
        "links": FrozenMap({name: _as_built(setting, topo.scale) for name, setting in at.links.items()}),
        "templates": tuple(scale_template(template, 1 / topo.scale) for template in at.catalog.values()),
        "measuring": at.measuring,
        "configuration": at.configuration,
        "limit": at.limit,
    }


def _seed(seed: int, key: str) -> int:
    """Return 63 bits that are the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{seed}\x1f{key}".encode()).digest()[:8]) >> 1


def _plan_flow(entry: document.FlowEntry, at: document.Experiment, topo: CampusTopo) -> PlannedFlow:
    template, scale = at.catalog[entry.template], topo.scale
    floor = template.qspec.override(entry.qspec).bound(Metric.THROUGHPUT)
    size = None if entry.size is None else max(1, round(entry.size / size_divisor(at, topo)))
    rate = None if entry.rate is None else entry.rate / scale
    built = {
        "source": host_of(topo, entry.source),
        "destination": host_of(topo, entry.destination),
        "at": None if entry.after is not None else entry.at or 0.0,
        "size": size,
        "requested": size or _largest_size(entry, rate, topo, at.limit),
        "protocol": entry.protocol or template.protocol,
        "streams": entry.streams or template.streams,
        "window": None if entry.window is None else round(entry.window / scale),
        "rate": rate,
        "priority": template.priority if entry.priority is None else entry.priority,
        "qspec": None if entry.qspec is None else scale_qspec(entry.qspec, 1 / scale),
        "floor": None if floor is None else floor / scale,
    }
    return PlannedFlow.model_construct(**{**dict(entry), **built})


def _largest_size(entry: document.FlowEntry, rate: float | None, topo: CampusTopo, limit: float) -> int:
    """Return the bytes that a flow without a size can send until its end."""
    goodputs = [path.goodput for path in paths_between(topo, entry.source, entry.destination).values()]
    fastest = rate or max(goodputs, default=1e6)
    return max(1, round(fastest / 8 * (limit if entry.lasts is None else entry.lasts)))


def _plan_event(event: document.Event, scale: float) -> document.Event:
    built = {"load": _as_built(event.load, scale), "link": _as_built(event.link, scale)}
    return event.model_copy(update=built)


def _as_built(part: Rated, scale: float) -> Rated:
    if part is None or part.rate is None:
        return part
    return part.model_copy(update={"rate": part.rate / scale})


def count_trials(experiment: document.Experiment) -> int:
    """Return the number of trials."""
    return math.prod(map(len, swept_values(experiment).values())) * experiment.repetitions


def list_points(experiment: document.Experiment) -> Iterator[FrozenMap[str, document.Scalar]]:
    """Yield each combination: case by case, the last key of the sweep changing first."""
    values = swept_values(experiment)
    del values[document.POLICY]
    for combination in itertools.product(*values.values()):
        yield FrozenMap(zip(values, combination, strict=True))


def list_variants(experiment: document.Experiment) -> Iterator[tuple[Point, document.Experiment]]:
    """Return each combination and the document at it.

    :raises InvalidInput: as :func:`experiment_at`.
    """
    return ((point, experiment_at(experiment, point)) for point in list_points(experiment))


def swept_values(experiment: document.Experiment) -> dict[str, tuple[document.Scalar, ...]]:
    """Return the values of each name that a ``where``, an x or a curve may have."""
    cases = {document.CASE: tuple(experiment.cases)} if experiment.cases else {}
    return {**cases, **experiment.sweep, document.POLICY: experiment.policies}


def settings_at(experiment: document.Experiment, point: Point) -> Iterator[tuple[Place, Place]]:
    """Yield each place that a combination sets, and the place of its value in the document.

    A key that names no flow or event is left out.
    """
    case, targets = str(point.get(document.CASE)), find_targets(experiment)
    sources: dict[str, Place] = {key: ("cases", case, key) for key in experiment.cases.get(case, {})}
    sources |= {key: ("sweep", key, values.index(point[key])) for key, values in experiment.sweep.items()}
    for key, source in sources.items():
        name, *fields = key.split(".")
        if name in targets:
            yield (*targets[name], *fields), source


def find_targets(experiment: document.Experiment) -> dict[str, Place]:
    """Return the places whose fields can be swept, by the first part of a key."""
    places: dict[str, Place] = {"links": ("links",), "measuring": ("measuring",)}
    places |= {one.name: ("workload", row) for row, one in enumerate(experiment.workload)}
    return places | {one.name: ("events", row) for row, one in enumerate(experiment.events)}


def experiment_at(experiment: document.Experiment, point: Point) -> document.Experiment:
    """Return the document at a combination.

    :raises InvalidInput: if a value is refused; names the field in the document.
    """
    settings = list(settings_at(experiment, point))
    if not settings:
        return experiment
    data: Any = experiment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for place, source in settings:
        _put(data, place, reduce(getitem, source, data))
    return yamlfile.check_model(data, document.Experiment)


def _put(data: Any, place: Place, value: object) -> None:
    """Set the value at a place; create the mappings on the way there."""
    for step, following in itertools.pairwise(place):
        if isinstance(following, str) and isinstance(step, str) and not isinstance(data.get(step), dict):
            data[step] = {}
        data = data[step]
    data[place[-1]] = value
