"""Flows, events and links of a file as they are on the testbed: everything divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adon.experiments.document import Experiment
from adon.experiments.events import Event, LinkSetting
from adon.experiments.parts import Moment
from adon.experiments.planned import PlannedFlow
from adon.experiments.surroundings import Surroundings
from adon.experiments.workload import FlowEntry
from adon.templates_catalog.builtin_templates import scaled_qspec
from adon.templates_catalog.model import Template
from measurement.model import Metric


def sizes(experiment: Experiment, surroundings: Surroundings) -> float:
    """What sizes are divided by: what the file says, else the scale."""
    return surroundings.scale if experiment.sizes is None else experiment.sizes


def absent(at: Experiment) -> frozenset[str]:
    """Names of what is not there at this point."""
    return frozenset(one.name for one in at.steps if one.absent)


def flows_of(
    at: Experiment, templates: Mapping[str, Template], surroundings: Surroundings
) -> Iterator[PlannedFlow]:
    """The flows of the file as it is at a combination; absent ones are left out."""
    divisor, gone = sizes(at, surroundings), absent(at)
    for entry in at.workload:
        if not entry.absent:
            yield _flow(entry, templates[entry.template], surroundings, divisor, gone)


def _flow(
    entry: FlowEntry, template: Template, surroundings: Surroundings, divisor: float, gone: frozenset[str]
) -> PlannedFlow:
    scale = surroundings.scale
    at, after = _begin(entry.at, entry.after, gone)
    floor = template.qspec.overridden(entry.qspec).bound(Metric.THROUGHPUT)
    return PlannedFlow(
        name=entry.name,
        template=entry.template,
        source=surroundings.host(entry.origin),
        destination=surroundings.host(entry.destination),
        at=at,
        after=after,
        size=None if entry.size is None else max(1, round(entry.size / divisor)),
        lasts=entry.lasts,
        until=entry.until,
        protocol=template.protocol if entry.protocol is None else entry.protocol,
        streams=template.streams if entry.streams is None else entry.streams,
        window=None if entry.window is None else round(entry.window / scale),
        rate=None if entry.rate is None else entry.rate / scale,
        priority=template.priority if entry.priority is None else entry.priority,
        deadline=entry.deadline,
        qspec=None if entry.qspec is None else scaled_qspec(entry.qspec, 1 / scale),
        floor=None if floor is None else floor / scale,
        path=entry.path,
        store=entry.store,
    )


def _begin(
    at: float | None, after: Moment | None, gone: frozenset[str]
) -> tuple[float | None, Moment | None]:
    """When something begins; what is absent is taken to have happened at the trial's beginning."""
    if after is None:
        return (0.0 if at is None else at), None
    return (after.wait, None) if after.of in gone else (None, after)


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
