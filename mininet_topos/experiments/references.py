"""Names, ranges and circles in an experiment: everything that a document alone cannot check.

Problems of a combination of swept values stand where the value is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from adon.errors import InvalidInput, Problem
from adon.nearest_key import absent
from adon.templates_catalog.model import Template
from adon.units import format_rate
from adon.yamlfile import Place, place_of
from measurement.model import Metric
from mininet_topos.experiments.document import (
    Controller,
    DecisionsCheck,
    Event,
    Experiment,
    Figure,
    FlowEntry,
    Measure,
    Moment,
    OrderCheck,
    Phase,
    Plot,
    RatioCheck,
    Scalar,
    ValueCheck,
    parse_quantity,
)
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.plan import (
    POLICY,
    Point,
    campus_of,
    count_points,
    experiment_at,
    host_of,
    list_points,
    matches,
    narrowest_circuit,
    paths_between,
    settings_at,
    swept_values,
    target_of,
)
from mininet_topos.link_shape import MAX_DELAY, MAX_RATE, MIN_RATE
from mininet_topos.topologies.campus_topo import CampusTopo

Finding = tuple[Place, str]
TESTS: Mapping[Metric, frozenset[str]] = {
    Metric.THROUGHPUT: frozenset({"throughput"}),
    Metric.RTT: frozenset({"rtt"}),
    Metric.ONE_WAY_DELAY: frozenset({"latency"}),
    Metric.JITTER: frozenset({"latency"}),
    Metric.LOSS: frozenset({"latency", "rtt"}),
}
"""Tests that yield a metric, each of them alone."""


def result_problems(experiment: Experiment, topo: CampusTopo) -> Iterator[Finding]:
    """Yield place and cause of everything that figures, checks and plots cannot have."""
    for name, figure in experiment.figures.items():
        yield from _figure_findings(experiment, figure, topo, ("figures", name))
    for row, check in enumerate(experiment.checks):
        place: Place = ("checks", row)
        match check:
            case RatioCheck():
                for number, name in enumerate(check.ratio):
                    yield from _single_findings(experiment, name, (*place, "ratio", number))
                yield from _unit_findings(experiment, check.ratio, (*place, "ratio"))
            case ValueCheck():
                yield from _single_findings(experiment, check.value, (*place, "value"))
                yield from _quantity_findings(experiment, check, place)
            case OrderCheck():
                yield from _order_findings(experiment, check, place)
            case DecisionsCheck():
                yield from _decision_findings(experiment, check, topo, place)
    for row, plot in enumerate(experiment.plots):
        yield from _plot_findings(experiment, plot, ("plots", row))


def _known(kind: str, name: str, known: Iterable[str], place: Place) -> Iterator[Finding]:
    names = list(known)
    if name not in names:
        yield place, absent(kind, name, names)


def _figure_findings(
    experiment: Experiment, figure: Figure, topo: CampusTopo, place: Place
) -> Iterator[Finding]:
    flows = [flow for flow in experiment.flows if figure.flow in (None, flow.name)]
    if not flows:
        yield from _known("flow", str(figure.flow), [one.name for one in experiment.flows], (*place, "flow"))
    if figure.path is not None:
        yield from _known("path", figure.path, topo.paths, (*place, "path"))
    moments = [("since", figure.since), *(("during", moment) for moment in figure.during or ())]
    for field, moment in moments:
        if moment is not None and (cause := moment_problem(experiment, moment)) is not None:
            yield (*place, field), cause
    templates = [experiment.catalog.get(flow.template) for flow in flows]
    protocols = {
        flow.protocol or ("udp" if template is None else template.protocol)
        for flow, template in zip(flows, templates, strict=True)
    }
    if figure.of is Measure.JITTER and flows and "udp" not in protocols:
        yield (*place, "of"), "no flow yields it; only a receiver of UDP counts jitter"
    never = {name for name, period in experiment.measuring.given.items() if period is None}
    if figure.metric is not None and TESTS.get(figure.metric, frozenset({""})) <= never:
        yield (*place, "metric"), f"no test yields it; {figure.metric} is never measured (measuring)"
    yield from _where_findings(experiment, figure.where, (*place, "where"))


def _where_findings(experiment: Experiment, where: Mapping[str, Scalar], place: Place) -> Iterator[Finding]:
    known = swept_values(experiment)
    findings: list[Finding] = []
    for key, value in where.items():
        findings += _known("swept value", key, known, (*place, key))
        if key in known and value not in known[key]:
            among = ", ".join(map(str, known[key]))
            findings.append(((*place, key), f"{value!r} is not a value of it; expected one of {among}"))
    yield from findings
    every = ((point, policy) for point in list_points(experiment) for policy in experiment.policies)
    if where and not findings and not any(matches(point, policy, where) for point, policy in every):
        yield place, "no trial has these values together"


def _single_findings(
    experiment: Experiment, name: str, place: Place, over: str | None = None
) -> Iterator[Finding]:
    """A figure must exist and be of one combination, except for what it is read over."""
    yield from _known("figure", name, experiment.figures, place)
    figure, known = experiment.figures.get(name), swept_values(experiment)
    if figure is None:
        return
    fixed = {*figure.where, over}
    if mixed := [key for key, values in known.items() if key not in fixed and len(values) > 1]:
        yield place, f"figure {name!r} has several values; expected {' and '.join(mixed)} in its where"


def _unit_findings(experiment: Experiment, names: Iterable[str], place: Place) -> Iterator[Finding]:
    units = {experiment.figures[name].unit.value for name in names if name in experiment.figures}
    if len(units) > 1:
        yield place, f"figures have different units: {' and '.join(sorted(units))}"


def _quantity_findings(experiment: Experiment, check: ValueCheck, place: Place) -> Iterator[Finding]:
    figure = experiment.figures.get(check.value)
    if figure is None:
        return
    values: list[tuple[Place, object]] = [
        ((*place, "between", row), value) for row, value in enumerate(check.between)
    ]
    bounds = []
    for where, value in [*values, ((*place, "paper"), check.paper)]:
        if value is not None:
            try:
                bounds.append(parse_quantity(value, figure.unit))
            except ValueError as error:
                yield where, str(error)
    if None not in check.between and len(bounds) >= 2 and bounds[0] > bounds[1]:
        yield (*place, "between"), f"{check.between[0]} is above {check.between[1]}"


def _order_findings(experiment: Experiment, check: OrderCheck, place: Place) -> Iterator[Finding]:
    known = swept_values(experiment)
    if check.over is not None and check.over not in known:
        yield (*place, "over"), absent("swept value", check.over, known)
        return
    if check.over is not None and len(known[check.over]) < 2:
        yield (*place, "over"), "has one value; expected at least two"
    for name in check.figures:
        yield from _single_findings(experiment, name, (*place, "order"), check.over)
    yield from _unit_findings(experiment, check.figures, (*place, "order"))


def _decision_findings(
    experiment: Experiment, check: DecisionsCheck, topo: CampusTopo, place: Place
) -> Iterator[Finding]:
    yield from _known("policy", check.policy, experiment.policies, (*place, "policy"))
    compute = experiment.configuration.get("compute")
    sites = list(compute) if isinstance(compute, Mapping) else []
    for row, expected in enumerate(check.decisions):
        at = (*place, "decisions", row)
        yield from _known("flow", expected.flow, [flow.name for flow in experiment.flows], (*at, "flow"))
        if expected.path is not None:
            yield from _known("path", expected.path, topo.paths, (*at, "path"))
        if expected.site is not None:
            yield from _known("compute site", expected.site, sites, (*at, "site"))
    if POLICY in check.where:
        yield (*place, "where", POLICY), "is no value of where; expected the key policy of the check"
    else:
        yield from _where_findings(experiment, check.where, (*place, "where"))


def _plot_findings(experiment: Experiment, plot: Plot, place: Place) -> Iterator[Finding]:
    known = swept_values(experiment)
    for field in ("x", "by"):
        if (key := getattr(plot, field)) is not None:
            yield from _known("swept value", key, known, (*place, field))
    yield from _where_findings(experiment, plot.where, (*place, "where"))
    if plot.y is None:
        return
    yield from _known("figure", plot.y, experiment.figures, (*place, "y"))
    figure = experiment.figures.get(plot.y)
    if figure is None:
        return
    fixed = {*figure.where, *plot.where, plot.x, plot.by}
    if mixed := [key for key, values in known.items() if key not in fixed and len(values) > 1]:
        yield (
            (*place, "y"),
            f"a point would mix values of {' and '.join(mixed)}; expected by or where",
        )
    for row, point in enumerate(plot.paper):
        try:
            parse_quantity(point.y, figure.unit)
        except ValueError as error:
            yield (*place, "paper", row, "y"), str(error)


AFTER_END = (Phase.ENDS, Phase.RETESTED)
_OF_EVENTS = (Phase.ASKED, Phase.BEGINS, Phase.ENDS)
_OF_TESTS = (Phase.TESTED, Phase.RETESTED)


def _every_moment(experiment: Experiment) -> Iterator[tuple[tuple[str, ...], Place, Moment]]:
    """Yield each moment of workload and events: the names of the steps that wait, place and moment."""
    for row, entry in enumerate(experiment.workload):
        names = tuple(copy.name for copy in entry.each_copy())
        for field in ("after", "until"):
            if (moment := getattr(entry, field)) is not None:
                yield names, ("workload", row, field), moment
    for row, event in enumerate(experiment.events):
        if event.after is not None:
            yield (event.name,), ("events", row, "after"), event.after
        if event.until is not None:
            yield (event.name,), ("events", row, event.kind, "until"), event.until


def moment_problems(at: Experiment) -> Iterator[Finding]:
    """Yield place and cause of each moment that cannot come."""
    for _, place, moment in _every_moment(at):
        if (cause := moment_problem(at, moment)) is not None:
            yield place, cause


def moment_problem(experiment: Experiment, moment: Moment) -> str | None:
    """Return why a moment cannot come; None if it can."""
    steps = {one.name: one for one in experiment.steps}
    of, periods = steps.get(moment.of), experiment.measuring.given
    if of is None:
        return absent("flow or event", moment.of, steps)
    if moment.what in _OF_TESTS and periods.get("throughput", 1.0) is None:
        return f"never comes: measuring.throughput is null, so nothing is {moment.what.value}"
    if isinstance(of, Event):
        possible = {*_OF_EVENTS, *_OF_TESTS} if of.load is not None else {*_OF_EVENTS}
        if moment.what not in possible:
            return f"{moment.of!r} is an event; expected one of {', '.join(sorted(possible))}"
        if moment.what in AFTER_END and of.lasts is None and of.until is None:
            return f"{moment.of!r} does not end; expected for or until in it"
    return None


def circle_problems(at: Experiment) -> Iterator[Finding]:
    """Yield the first circle of starts and ends; moments between the two count as the start."""
    places: dict[str, Place] = {}
    for row, entry in enumerate(at.workload):
        places |= {copy.name: ("workload", row) for copy in entry.each_copy()}
    places |= {event.name: ("events", row) for row, event in enumerate(at.events)}
    graph: dict[tuple[str, bool], list[tuple[str, bool]]] = {(name, True): [(name, False)] for name in places}
    for names, place, moment in _every_moment(at):
        for name in names:
            graph.setdefault((name, place[-1] == "until"), []).append((moment.of, moment.what in AFTER_END))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        steps = " after ".join(f"{name}'s {'end' if ends else 'start'}" for name, ends in circle)
        yield places.get(circle[0][0], ()), f"waits for itself: {steps}"


MAX_TRIALS = 2000
MIN_APPLICATION_RATE = 1000.0
"""Bits/s as built; below, one datagram takes longer than a trial waits."""
MIN_WINDOW = 4096
"""Bytes as built: Linux's SOCK_MIN_SNDBUF is 4608 with its own accounting."""


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
    trials = count_points(experiment) * len(experiment.policies) * experiment.repetitions
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
    for point in list_points(experiment):
        try:
            found = list(_combination_findings(experiment_at(experiment, point), topo))
        except InvalidInput as error:
            found = [(place_of(problem.field), problem.cause) for problem in error.problems]
        yield from ((_setting_of(experiment, point, one[0]), one[1]) for one in found if one not in base)


def _key_findings(experiment: Experiment) -> Iterator[Finding]:
    keys: list[tuple[Place, str]] = [(("sweep", key), key) for key in experiment.sweep]
    keys += [(("cases", case, key), key) for case, its in experiment.cases.items() for key in its]
    for place, key in keys:
        try:
            target_of(experiment, key)
        except ValueError as error:
            yield place, str(error)


def _setting_of(experiment: Experiment, point: Point, place: Place) -> Place:
    """Return where the value at a place of a combination is set in the document."""
    for key, (setting, _) in settings_at(experiment, point).items():
        target = target_of(experiment, key)
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
