"""Names, ranges and circles in an experiment: everything that a document alone cannot check.

Problems of a combination of swept values stand where the value is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adon.errors import InvalidInput, Problem
from adon.nearest_key import absent
from adon.templates_catalog.model import Template
from adon.units import format_rate
from adon.yamlfile import Place, place_of
from mininet_topos.experiments import sweep
from mininet_topos.experiments.document import Controller, Event, Experiment, FlowEntry
from mininet_topos.experiments.figure_references import result_problems
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.moments import circle_problems, moment_problems
from mininet_topos.experiments.plan import campus_of, host_of, narrowest_circuit, paths_between
from mininet_topos.link_shape import MAX_DELAY, MAX_RATE, MIN_RATE
from mininet_topos.topologies.campus_topo import CampusTopo

MAX_TRIALS = 2000
MIN_APPLICATION_RATE = 1000.0
"""Bits/s as built; below, one datagram takes longer than a trial waits."""
MIN_WINDOW = 4096
"""Bytes as built: Linux's SOCK_MIN_SNDBUF is 4608 with its own accounting."""

Finding = tuple[Place, str]


def find_problems(read: ExperimentFile, topo: CampusTopo) -> list[Problem]:
    """Return everything that is wrong with an experiment on a topology, with file and line."""
    findings = dict.fromkeys(_findings(read.experiment, topo))
    return [read.problem(place, cause) for place, cause in findings]


def check_references(read: ExperimentFile, topo: CampusTopo) -> None:
    """Refuse an experiment with problems.

    :raises InvalidInput: with all of them.
    """
    if problems := find_problems(read, topo):
        raise InvalidInput(problems)


def _findings(experiment: Experiment, topo: CampusTopo) -> Iterator[Finding]:
    trials = sweep.count_points(experiment) * len(experiment.policies) * experiment.repetitions
    if trials > MAX_TRIALS:
        yield ("sweep",), f"makes {trials} trials; expected at most {MAX_TRIALS}"
        return
    wrong_keys = list(_key_findings(experiment))
    yield from wrong_keys
    yield from result_problems(experiment, topo)
    base = list(_combination_findings(experiment, topo))
    yield from base
    if wrong_keys:
        return
    for point in sweep.list_points(experiment):
        try:
            found = list(_combination_findings(sweep.experiment_at(experiment, point), topo))
        except InvalidInput as error:
            found = [(place_of(problem.field), problem.cause) for problem in error.problems]
        yield from ((_setting_of(experiment, point, one[0]), one[1]) for one in found if one not in base)


def _key_findings(experiment: Experiment) -> Iterator[Finding]:
    keys: list[tuple[Place, str]] = [(("sweep", key), key) for key in experiment.sweep]
    keys += [(("cases", case, key), key) for case, its in experiment.cases.items() for key in its]
    for place, key in keys:
        try:
            sweep.target_of(experiment, key)
        except ValueError as error:
            yield place, str(error)


def _setting_of(experiment: Experiment, point: sweep.Point, place: Place) -> Place:
    """Return where the value at a place of a combination is set in the document."""
    for key, (setting, _) in sweep.settings_at(experiment, point).items():
        target = sweep.target_of(experiment, key)
        if target == place[: len(target)] or place == target[: len(place)]:
            return setting
    return place


def _combination_findings(at: Experiment, topo: CampusTopo) -> Iterator[Finding]:
    for row, policy in enumerate(at.policies):
        if policy.startswith("always "):
            yield from _known("path", policy.removeprefix("always "), topo.paths, ("policies", row))
    for row, entry in enumerate(at.workload):
        yield from _flow_findings(entry, at.catalog, topo, ("workload", row))
    for name, setting in at.links.items():
        yield from _known("circuit or path", name, [*topo.circuits, *topo.paths], ("links", name))
        yield from _quality_findings(setting.rate, setting.delay, topo, ("links", name))
    for row, event in enumerate(at.events):
        yield from _event_findings(event, at, topo, ("events", row, event.kind))
    yield from _circuit_findings(at, topo)
    yield from moment_problems(at)
    yield from circle_problems(at)


def _flow_findings(
    entry: FlowEntry, catalog: Mapping[str, Template], topo: CampusTopo, place: Place
) -> Iterator[Finding]:
    yield from _known("template", entry.template, catalog, (*place, "template"))
    template = catalog.get(entry.template)
    if entry.protocol is None and template is not None and template.protocol == "udp":
        yield from (((*place, field), cause) for field, cause in entry.udp_problems())
    yield from _rate_findings(entry.rate, MIN_APPLICATION_RATE, topo, (*place, "rate"))
    if entry.window is not None and entry.window / topo.scale < MIN_WINDOW:
        built = f"{entry.window / topo.scale:.0f} B as built (scale {topo.scale:g})"
        yield (*place, "window"), f"is {built}; expected at least {MIN_WINDOW} B"
    yield from _end_findings(entry, topo, place)


def _end_findings(entry: FlowEntry, topo: CampusTopo, place: Place) -> Iterator[Finding]:
    known = [*topo.campuses, *(dtn for campus in topo.campuses.values() for dtn in campus.attached)]
    ends = ((entry.origin, (*place, "from")), (entry.destination, (*place, "to")))
    wrong = [finding for end, where in ends for finding in _known("campus or host", end, known, where)]
    yield from wrong
    if entry.path is not None and entry.path not in topo.paths:
        yield from _known("path", entry.path, topo.paths, (*place, "path"))
    elif not wrong:
        between = paths_between(topo, entry.origin, entry.destination)
        if host_of(topo, entry.origin) == host_of(topo, entry.destination):
            yield (*place, "to"), f"{entry.destination!r} is the host that sends"
        elif not between:
            yield (*place, "to"), f"no path joins {entry.origin!r} and {entry.destination!r}"
        elif entry.path is not None and entry.path not in between:
            yield (*place, "path"), f"{entry.path!r} does not join {entry.origin!r} and {entry.destination!r}"


def _event_findings(event: Event, at: Experiment, topo: CampusTopo, place: Place) -> Iterator[Finding]:
    if (load := event.load) is not None:
        yield from _known("path", load.path, topo.paths, (*place, "path"))
        yield from _rate_findings(load.rate, MIN_APPLICATION_RATE, topo, (*place, "rate"))
        path = topo.paths.get(load.path)
        if load.origin is not None and path is not None and campus_of(topo, load.origin) not in path.campuses:
            yield (*place, "from"), f"{load.origin!r} is not at an end of {load.path!r}"
    if (link := event.link) is not None:
        if link.name is not None:
            yield from _known("circuit", link.name, topo.circuits, (*place, "name"))
        if link.path is not None:
            yield from _known("path", link.path, topo.paths, (*place, "path"))
        yield from _quality_findings(link.rate, link.delay, topo, place)
    if (move := event.move) is not None:
        flows = {flow.name: flow for flow in at.flows}
        yield from _known("flow", move.flow, flows, (*place, "flow"))
        yield from _known("path", move.to, topo.paths, (*place, "to"))
        flow = flows.get(move.flow)
        if flow is not None and move.to in topo.paths:
            between = paths_between(topo, flow.origin, flow.destination)
            if between and move.to not in between:
                yield (*place, "to"), f"{move.to!r} does not join {flow.origin!r} and {flow.destination!r}"
    ends = (Controller.STOP, Controller.KILL)
    if event.controller is Controller.START and not any(one.controller in ends for one in at.events):
        yield place, "ADON runs from the start on; expected an event that stops or kills it"


def _circuit_findings(at: Experiment, topo: CampusTopo) -> Iterator[Finding]:
    """Two events on one circuit: each would restore what the other changed."""
    seen: dict[str, str] = {}
    for row, event in enumerate(at.events):
        link = event.link
        if link is None or (link.path is not None and link.path not in topo.paths):
            continue
        circuit = link.name or narrowest_circuit(topo, str(link.path))
        if (other := seen.setdefault(circuit, event.name)) != event.name:
            yield ("events", row, "link"), f"{other!r} changes circuit {circuit!r} too"


def _quality_findings(
    rate: float | None, delay: float | None, topo: CampusTopo, place: Place
) -> Iterator[Finding]:
    yield from _rate_findings(rate, MIN_RATE, topo, (*place, "rate"))
    if delay is not None and delay > MAX_DELAY:
        yield (*place, "delay"), f"{delay:g} s is out of range; expected at most {MAX_DELAY:g} s"


def _rate_findings(rate: float | None, least: float, topo: CampusTopo, place: Place) -> Iterator[Finding]:
    if rate is not None and not least <= rate / topo.scale <= MAX_RATE:
        bounds = f"{format_rate(least)} to {format_rate(MAX_RATE)}"
        built = f"{format_rate(rate / topo.scale)} as built (scale {topo.scale:g})"
        yield place, f"is {built}, which is out of range; expected {bounds}"


def _known(kind: str, name: str, known: Iterable[str], place: Place) -> Iterator[Finding]:
    names = list(known)
    if name not in names:
        yield place, absent(kind, name, names)
