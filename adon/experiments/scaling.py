"""Flows, events and links of a file as they are on the testbed: everything divided, groups drawn.

What is drawn depends on the seed and the repetition only: every policy and every swept value meets the same
requests.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from adon.experiments.document import Experiment
from adon.experiments.drawn import drawn
from adon.experiments.events import Event, LinkSetting
from adon.experiments.parts import Moment
from adon.experiments.planned import PlannedFlow
from adon.experiments.seeds import seed_of
from adon.experiments.surroundings import Surroundings
from adon.experiments.workload import DrawEntry, FlowEntry, Sending
from adon.templates_catalog.builtins import scaled_qspec
from adon.templates_catalog.model import Template
from measurement.model import Metric


def sizes(experiment: Experiment, surroundings: Surroundings) -> float:
    """What sizes are divided by: what the file says, else the scale."""
    return surroundings.scale if experiment.sizes is None else experiment.sizes


def absent(at: Experiment) -> frozenset[str]:
    """Names of what is not there at this point."""
    return frozenset(one.name for one in (*at.workload, *at.events) if one.absent)


def flows_of(
    at: Experiment, templates: Mapping[str, Template], surroundings: Surroundings, repetition: int
) -> Iterator[PlannedFlow]:
    """The flows of the file as it is at a combination, in a repetition; absent ones are left out."""
    for entry in at.workload:
        if entry.absent:
            continue
        template = templates[entry.template]
        if isinstance(entry, FlowEntry):
            yield _flow(entry, template, surroundings, sizes(at, surroundings), absent(at))
        else:
            yield from _group(entry, template, surroundings, sizes(at, surroundings), (at.seed, repetition))


def _flow(
    entry: FlowEntry, template: Template, surroundings: Surroundings, divisor: float, gone: frozenset[str]
) -> PlannedFlow:
    at, after = _begin(entry.at, entry.after, gone)
    return _planned(
        entry,
        template,
        surroundings,
        name=entry.name,
        ends=(entry.origin, entry.destination),
        at=at,
        after=after,
        size=None if entry.size is None else max(1, round(entry.size / divisor)),
        lasts=entry.lasts,
        until=entry.until,
        deadline=entry.deadline,
    )


def _begin(
    at: float | None, after: Moment | None, gone: frozenset[str]
) -> tuple[float | None, Moment | None]:
    """When something begins; what is absent is taken to have happened at the trial's beginning."""
    if after is None:
        return (0.0 if at is None else at), None
    return (after.wait, None) if after.of in gone else (None, after)


def _group(
    entry: DrawEntry,
    template: Template,
    surroundings: Surroundings,
    divisor: float,
    seed: tuple[int, int],
) -> Iterator[PlannedFlow]:
    chance = random.Random(seed_of(*seed, entry.name))  # noqa: S311 - a reproducible draw, no secret
    for number, one in enumerate(drawn(entry, chance), 1):
        size = max(1, round(one.size / divisor))
        best = surroundings.best(*one.ends, entry.path)
        yield _planned(
            entry,
            template,
            surroundings,
            name=f"{entry.name}-{number}",
            ends=one.ends,
            at=one.at,
            after=None,
            size=size,
            lasts=None,
            until=None,
            deadline=None if one.slack is None or not best else one.slack * size * 8 / best,
        )


def _planned(
    entry: Sending,
    template: Template,
    surroundings: Surroundings,
    *,
    name: str,
    ends: tuple[str, str],
    at: float | None,
    after: Moment | None,
    size: int | None,
    lasts: float | None,
    until: Moment | None,
    deadline: float | None,
) -> PlannedFlow:
    scale = surroundings.scale
    floor = template.qspec.overridden(entry.qspec).bound(Metric.THROUGHPUT)
    source, destination = (surroundings.host(end) for end in ends)
    return PlannedFlow(
        name=name,
        group=getattr(entry, "draw", name),
        template=entry.template,
        source=source,
        destination=destination,
        at=at,
        after=after,
        size=size,
        lasts=lasts,
        until=until,
        protocol=template.protocol if entry.protocol is None else entry.protocol,
        streams=template.streams if entry.streams is None else entry.streams,
        window=None if entry.window is None else round(entry.window / scale),
        rate=None if entry.rate is None else entry.rate / scale,
        priority=template.priority if entry.priority is None else entry.priority,
        deadline=deadline,
        qspec=None if entry.qspec is None else scaled_qspec(entry.qspec, 1 / scale),
        floor=None if floor is None else floor / scale,
        path=entry.path,
        store=entry.store,
    )


def event_on_testbed(event: Event, factor: float, gone: frozenset[str]) -> Event:
    """An event with the testbed's rates.

    :param factor: that full-scale rates are multiplied by.
    :param gone: names of what is absent.
    """
    changes: dict[str, object] = {}
    changes["at"], changes["after"] = _begin(event.at, event.after, gone)
    if event.load is not None and event.load.rate is not None:
        changes["load"] = event.load.model_copy(update={"rate": event.load.rate * factor})
    if event.link is not None and event.link.rate is not None:
        changes["link"] = event.link.model_copy(update={"rate": event.link.rate * factor})
    return event.model_copy(update=changes)


def setting_on_testbed(setting: LinkSetting, factor: float) -> LinkSetting:
    """What a link is like, with the testbed's rate."""
    rate = None if setting.rate is None else setting.rate * factor
    return setting.model_copy(update={"rate": rate})
