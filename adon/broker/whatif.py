"""Failure rehearsal: what a failure would do to the flows that run now, without it happening.

The same functions decide as in earnest (:mod:`adon.broker.fleeing`): who would lose the path, where each
would go, planned together so that no refuge is over-subscribed, and who would find none.  Only the failure is
supposed: its paths are taken as dead.  Nothing in the world is changed, no effect comes of it.

What a flow can expect on its refuge is the smaller of what it would get there by itself and what the path
carries less the bounds of all others that would then be on it.  One failure at a time (N-1); who waits is not
looked at.  Bounds are counted, not the surplus that flows use beyond them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adon.broker.fleeing import Fled, carries, lost, planned, staying
from adon.broker.flow import Flow
from adon.broker.maintenance import Scope, paths_of
from adon.broker.refuge import Grade
from adon.broker.scenario import Failure, Scenario
from adon.broker.world import World
from adon.config import Configuration
from adon.errors import InvalidInput, NotFound
from adon.flowvisor.selection import quality
from measurement.model import Metric, PathKey

NO_PATH = "none"
"""The quality of a flow without a path: its QSpec is broken whatever it says."""


@dataclass(frozen=True, slots=True)
class Affected:
    """What would become of one flow.

    :param to: its refuge; None if there is none.
    :param estimate: bits/s that it could expect there, where that is known.
    :param quality: ``met``, ``degraded``, ``unknown``, or :data:`NO_PATH`.
    """

    flow: str
    requester: str
    priority: int
    bound: float
    path: str
    to: str | None
    outcome: str
    q: float | None
    estimate: float | None
    quality: str
    why: str

    @property
    def breaks(self) -> bool:
        """Whether its QSpec would break."""
        return self.quality == NO_PATH


@dataclass(frozen=True, slots=True)
class Load:
    """The throughput bounds on one directed path, in bits/s, before and after."""

    key: PathKey
    capacity: float
    carries: float
    before: float
    after: float
    down: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What one failure would do."""

    scenario: Scenario
    paths: tuple[str, ...]
    flows: tuple[Affected, ...]
    loads: tuple[Load, ...]

    @property
    def broken(self) -> tuple[Affected, ...]:
        """The flows whose QSpec would break."""
        return tuple(flow for flow in self.flows if flow.breaks)

    @property
    def damage(self) -> tuple[int, int, int, int]:
        """For ranking: flows broken, their priorities, flows of unknown quality, flows moved."""
        unknown = sum(flow.quality == "unknown" for flow in self.flows)
        moved = sum(flow.to is not None for flow in self.flows)
        return len(self.broken), sum(flow.priority for flow in self.broken), unknown, moved

    @property
    def verdict(self) -> str:
        """``broken``, ``unknown`` or ``fine``."""
        broken, _, unknown, _ = self.damage
        return "broken" if broken else "unknown" if unknown else "fine"


@dataclass(frozen=True, slots=True)
class _Supposed:
    """A failure as its consequences: dead paths, and hosts that are cut off, each with the reason."""

    paths: Mapping[str, str]
    hosts: Mapping[str, str]


def rehearse(world: World, scenario: Scenario, now: float) -> Report:
    """What would become of the flows that run now.

    :raises InvalidInput: for a name that the configuration does not have.
    """
    supposed = _supposed(world, scenario)
    cut = [flow for flow in world.flows.running() if _cut_off(flow, supposed)]
    gone = {flow.number for flow in cut}
    losses = {
        flow.number: loss
        for flow in world.flows.running()
        if flow.number not in gone and flow.path in supposed.paths
        if (loss := lost(world, flow, now, supposed.paths)) is not None
    }
    fled = planned(world, losses, now, supposed.paths)
    loads = _loads(world, cut, fled, supposed, now)
    without = "queues" if scenario.failure is Failure.MAINTENANCE else "stays"
    affected = [
        *(_cut_flow(world, flow, _cut_off(flow, supposed)) for flow in cut),
        *(_affected(world, one, loads, without) for one in fled),
    ]
    return Report(scenario, tuple(supposed.paths), tuple(affected), tuple(loads.values()))


def every_single_failure(world: World, now: float) -> tuple[Report, ...]:
    """Each link, path, switch and port, one at a time (N-1), the most damage first."""
    reports = (rehearse(world, scenario, now) for scenario in scenarios(world.configuration))
    return tuple(sorted(reports, key=lambda report: report.damage, reverse=True))


def scenarios(configuration: Configuration) -> Iterator[Scenario]:
    """Every single failure that the configuration has a name for."""
    for link in dict.fromkeys(link for path in configuration.paths.values() for link in path.links):
        yield Scenario(Failure.LINK_DOWN, link)
    for path in configuration.paths:
        yield Scenario(Failure.PATH_DOWN, path)
    for switch in configuration.switches:
        yield Scenario(Failure.SWITCH_DOWN, switch)
    for switch, port in dict.fromkeys((*_path_ports(configuration), *_host_ports(configuration))):
        yield Scenario(Failure.PORT_DOWN, f"{switch}:{port}")


# -- what a failure takes away --------------------------------------------------------------------------


def _supposed(world: World, scenario: Scenario) -> _Supposed:
    configuration, name = world.configuration, scenario.name
    match scenario.failure:
        case Failure.PORT_DOWN:
            return _port_down(configuration, name)
        case Failure.MAINTENANCE:
            scope, name = _window(world, name)
            why = f"{scope} {name} is in maintenance"
        case Failure.LINK_DOWN:
            scope, why = Scope.LINK, f"link {name} is down"
        case Failure.PATH_DOWN:
            scope, why = Scope.PATH, f"path {name} is down"
        case Failure.SWITCH_DOWN:
            scope, why = Scope.SWITCH, f"switch {name} is down"
    try:
        return _Supposed(dict.fromkeys(paths_of(configuration, scope, name), why), {})
    except NotFound as error:
        raise InvalidInput.of("name", f"there is no {scope} {name!r}") from error


def _window(world: World, name: str) -> tuple[Scope, str]:
    announced = next((window for window in world.windows if window.id == name), None)
    if announced is not None:
        return announced.scope, announced.name
    scope, _, rest = name.partition(":")
    if scope not in list(Scope) or not rest:
        known = ", ".join(f"{one}:NAME" for one in Scope)
        raise InvalidInput.of("name", f"{name!r} is no announced window such as m-3, nor one of {known}")
    return Scope(scope), rest


def _port_down(configuration: Configuration, name: str) -> _Supposed:
    switch, _, port = name.partition(":")
    why, which = f"port {port} of switch {switch} is down", (switch, port)
    paths = {
        path: why
        for path, one in configuration.paths.items()
        if which in {(configuration.sites[site].edge, end.port) for site, end in one.ends.items()}
    }
    hosts = {
        host: why
        for site in configuration.sites.values()
        for host, one in site.hosts.items()
        if which == (site.edge, one.port)
    }
    if not paths and not hosts:
        raise InvalidInput.of("name", f"{name!r} is no SWITCH:PORT that a path or a host uses")
    return _Supposed(paths, hosts)


def _path_ports(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for path in configuration.paths.values():
        for site, end in path.ends.items():
            yield configuration.sites[site].edge, end.port


def _host_ports(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for site in configuration.sites.values():
        for host in site.hosts.values():
            yield site.edge, host.port


def _cut_off(flow: Flow, supposed: _Supposed) -> str:
    ends = (flow.request.source, flow.request.destination)
    return next((supposed.hosts[host] for host in ends if host in supposed.hosts), "")


# -- what becomes of flows and paths --------------------------------------------------------------------


def _loads(
    world: World, cut: list[Flow], fled: tuple[Fled, ...], supposed: _Supposed, now: float
) -> dict[PathKey, Load]:
    """The paths that are left or fled to."""
    leaving = {flow.number for flow in cut} | {one.flow.number for one in fled}
    arriving: dict[PathKey, float] = {}
    for one in fled:
        if one.place.option is not None:
            key = one.place.option.key
            arriving[key] = arriving.get(key, 0.0) + world.flows.bound(one.flow)
    left = {PathKey(str(flow.path), *world.flows.ends(flow)) for flow in (*cut, *(one.flow for one in fled))}
    oldest = max((one.need.template.selection.max_age for one in fled), default=0.0)
    return {
        key: Load(
            key=key,
            capacity=world.configuration.paths[key.path].capacity,
            carries=0.0 if key.path in supposed.paths else carries(world, key, now, oldest),
            before=staying(world, key),
            after=0.0
            if key.path in supposed.paths
            else staying(world, key, leaving) + arriving.get(key, 0.0),
            down=key.path in supposed.paths,
        )
        for key in sorted(left | set(arriving), key=str)
    }


def _affected(world: World, fled: Fled, loads: Mapping[PathKey, Load], without: str) -> Affected:
    flow, option = fled.flow, fled.place.option
    estimate, after = None, NO_PATH
    if option is not None:
        estimate = _estimate(world, fled, loads[option.key])
        after = _quality(fled, estimate, option.grade)
    return Affected(
        flow=flow.id,
        requester=flow.requester,
        priority=world.flows.priority(flow),
        bound=world.flows.bound(flow),
        path=str(flow.path),
        to=fled.path,
        outcome=without if option is None else "moves",
        q=None if option is None or option.grade is Grade.UNKNOWN else option.q,
        estimate=estimate,
        quality=after,
        why=fled.reason,
    )


def _cut_flow(world: World, flow: Flow, why: str) -> Affected:
    ours, bound = world.flows.priority(flow), world.flows.bound(flow)
    reason = f"{why}: no path leads around it"
    return Affected(
        flow.id, flow.requester, ours, bound, str(flow.path), None, "stays", None, None, NO_PATH, reason
    )


def _estimate(world: World, fled: Fled, load: Load) -> float | None:
    record = fled.choice.record(fled.path)
    metrics = () if record is None else record.metrics
    alone = next((m.value for m in metrics if m.metric == Metric.THROUGHPUT), None)
    if alone is None:
        return None
    return min(alone, load.carries - (load.after - world.flows.bound(fled.flow)))


def _quality(fled: Fled, estimate: float | None, grade: Grade) -> str:
    record = fled.choice.record(fled.path)
    if record is None or grade is not Grade.QUALIFIED:
        return "unknown"
    alone, target = quality(record, fled.need.qspec), fled.need.qspec.target(Metric.THROUGHPUT)
    short = target is not None and estimate is not None and estimate < target
    return "degraded" if alone == "met" and short else alone


# -- for the answer -------------------------------------------------------------------------------------


def as_json(report: Report) -> Mapping[str, object]:
    """A report as plain JSON values; rates in bits/s."""
    return {
        "failure": report.scenario.failure.value,
        "name": report.scenario.name,
        "verdict": report.verdict,
        "paths": list(report.paths),
        "broken": len(report.broken),
        "flows": [_flow_json(flow) for flow in report.flows],
        "loads": [_load_json(load) for load in report.loads],
    }


def _flow_json(flow: Affected) -> Mapping[str, object]:
    same = (
        "flow",
        "requester",
        "priority",
        "bound",
        "path",
        "to",
        "outcome",
        "q",
        "estimate",
        "quality",
        "why",
    )
    return {name: getattr(flow, name) for name in same}


def _load_json(load: Load) -> Mapping[str, object]:
    ends = {"path": load.key.path, "source": load.key.source, "destination": load.key.destination}
    same = ("capacity", "carries", "before", "after", "down")
    return {**ends, **{name: getattr(load, name) for name in same}}


def answered(world: World, scenario: Scenario | None, now: float) -> Mapping[str, object]:
    """The answer to a question: one scenario, or with None every single failure.

    :raises InvalidInput: as :func:`rehearse`.
    """
    reports = every_single_failure(world, now) if scenario is None else (rehearse(world, scenario, now),)
    return {"at": now, "items": [as_json(report) for report in reports]}
