"""What ADON knows about a flow's path and hosts, for advice: the controller's read-out and the archive.

Only what the asking actor may read is used; the rest is as unknown as what was never measured.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from flask import g

from adon.api.network import PathView
from adon.broker.flow import Flow
from adon.errors import Conflict, NotFound
from adon.tcp_advice.facts import HostFacts, PathFacts, TestedRate
from adon.tcp_advice.host_output import read_observation
from adon.uncertain import Uncertain
from apps.rest.resources.network_resource import path_list
from apps.rest.services import services
from measurement.model import Measurement, Metric, Observation, Series, host_key

WINDOW_S = 86_400.0
"""How far back values are taken for means and spreads."""

VALUES = 30
"""At most so many values, the latest."""

SETTINGS = "host.tcp_receive_limit"
MEMORY = "host.memory_total"


@dataclass(frozen=True, slots=True)
class Subject:
    """What advice for a flow is about.

    :param streams: how many streams the flow opens now.
    """

    path: PathFacts
    sender: HostFacts
    receiver: HostFacts
    streams: int


def subject_of(flow: Flow, path: str | None = None) -> Subject:
    """Path and hosts of a flow.

    :param path: another path than the flow's own.
    :raises NotFound: if there is no such path between its ends.
    :raises Conflict: if the flow is not TCP, or no path leads between its ends.
    :raises Unavailable: if the controller does not answer.
    """
    name, _, version = flow.template.partition("@")
    template = services().store.template(name, int(version) if version else None).template
    if template.protocol != "tcp":
        raise Conflict(
            "template", f"{flow.template} is for {template.protocol}; there is advice for TCP only"
        )
    request = flow.request
    view = _view_of(flow, path)
    return Subject(
        path_facts(view),
        host_facts(request.source),
        host_facts(request.destination),
        template.streams if request.streams is None else request.streams,
    )


def _view_of(flow: Flow, path: str | None) -> PathView:
    sites = {
        host: site["name"] for site in services().snapshots.get()["sites"] for host in site.get("hosts", ())
    }
    ends = sites.get(flow.request.source), sites.get(flow.request.destination)
    between = [view for view in path_list().items if (view.source, view.destination) == ends]
    wanted = flow.path if path is None else path
    if wanted is None:
        between.sort(key=lambda view: not view.usable)
        if not between:
            raise Conflict("path", f"no path leads from {flow.request.source} to {flow.request.destination}")
        return between[0]
    for view in between:
        if view.path == wanted:
            return view
    raise NotFound("path", wanted)


def path_facts(view: PathView) -> PathFacts:
    """A directed path as configured and measured."""
    rtt, loss = (_spread(_values(view, metric)) for metric in (Metric.RTT, Metric.LOSS))
    return PathFacts(
        name=view.path,
        rate=view.capacity_bps if view.capacity_bps > 0 else None,
        rtt=_reading(view, Metric.RTT) if rtt is None else rtt,
        loss=_reading(view, Metric.LOSS) if loss is None else loss,
        mtu=view.mtu,
        reached=_reached(view),
    )


def _values(view: PathView, metric: Metric) -> list[Measurement]:
    parts = services()
    since = parts.clock() - WINDOW_S
    key = {"path": view.path, "source": view.source, "destination": view.destination}
    found = parts.measurements.query(**key, metric=metric, since=since, limit=VALUES)
    return parts.policy.readable(g.actor, ((one.series, one) for one in found))


def _spread(values: Sequence[Measurement]) -> Uncertain | None:
    numbers = [one.value for one in values]
    if not numbers:
        return None
    return Uncertain(statistics.fmean(numbers), statistics.stdev(numbers) if len(numbers) > 1 else 0.0)


def _reading(view: PathView, metric: Metric) -> Uncertain | None:
    found = view.metrics.get(metric.value)
    return None if found is None else Uncertain(found.value)


def _reached(view: PathView) -> TestedRate | None:
    """What the latest throughput tests got, those with as many streams as the latest of them."""
    found = _values(view, Metric.THROUGHPUT)
    if not found:
        return None
    streams = _streams(found[0])
    rate = _spread([one for one in found if _streams(one) == streams])
    return None if rate is None else TestedRate(rate, streams)


def _streams(test: Measurement) -> int:
    given = test.parameters.get("streams", 1)
    return given if isinstance(given, int) and given >= 1 else 1


def host_facts(name: str) -> HostFacts:
    """A host as its measurement point last saw it; nothing is known of one that has none."""
    settings, memory = _observed(name, SETTINGS), _observed(name, MEMORY)
    amount = None if memory is None else memory.value
    if settings is None:
        return HostFacts(name, memory=None if amount is None else int(amount))
    return read_observation(name, settings.parameters, amount, settings.observed_at, "its measurement point")


def _observed(host: str, metric: str) -> Observation | None:
    parts = services()
    key = host_key(host)
    found = parts.measurements.ask(lambda archive: archive.observations(key, metric, limit=1))
    seen = parts.policy.readable(g.actor, ((Series(*key, metric), one) for one in found))
    return seen[0] if seen else None
