"""References of an experiment: used names exist, values can be built, moments can come.

The checks walk over the document once as it is and once per combination of swept values.  The problem of a
combination stands where its value is set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from adon.errors import InvalidInput, Problem
from adon.nearest_key import absent
from adon.units import format_rate
from adon.yamlfile import Place, place_of
from mininet_topos.experiments import document, plan
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.link_shape import MAX_RATE, MIN_RATE
from mininet_topos.topologies.campus_topo import CampusTopo

MAX_TRIALS = 2000
MIN_WINDOW = 4096
"""Bytes as built: Linux's SOCK_MIN_SNDBUF is 4608 with its own accounting."""
AFTER_END = (document.Phase.ENDS, document.Phase.RETESTED)
OF_TESTS = (document.Phase.TESTED, document.Phase.RETESTED)
OF_FLOWS = (document.Phase.ADMITTED, document.Phase.MOVED)
NAMES: Mapping[type[document.Part], Mapping[str, str]] = {
    document.Experiment: {"policies": "policy"},
    document.FlowEntry: {
        "template": "template",
        "origin": "campus or host",
        "destination": "campus or host",
        "path": "path",
    },
    document.Load: {"path": "path"},
    document.LinkEvent: {"name": "circuit", "path": "path"},
    document.Move: {"flow": "flow", "to": "path"},
    document.Figure: {"flow": "flow", "path": "path"},
    document.RatioCheck: {"ratio": "figure"},
    document.ValueCheck: {"value": "figure"},
    document.OrderCheck: {"order": "figure", "over": "swept value"},
    document.ExpectedDecision: {"flow": "flow", "path": "path", "site": "compute site"},
    document.Plot: {"y": "figure", "x": "swept value", "by": "swept value"},
}
"""Kind of the names in each field."""
Finding = tuple[Place, str]
"""Place and cause of a problem."""


def find_problems(read: ExperimentFile, topo: CampusTopo) -> list[Problem]:
    """Return everything that is wrong with an experiment on a topology, with file and line."""
    findings = dict.fromkeys(_find_everywhere(read.experiment, topo))
    return [*read.problems, *(read.problem(place, cause) for place, cause in findings)]


def check_references(read: ExperimentFile, topo: CampusTopo) -> None:
    """Refuse an experiment with problems.

    :raises InvalidInput: with all of them.
    """
    if problems := find_problems(read, topo):
        raise InvalidInput(problems)


def _find_everywhere(experiment: document.Experiment, topo: CampusTopo) -> Iterator[Finding]:
    trials = plan.count_points(experiment) * len(experiment.policies) * experiment.repetitions
    if trials > MAX_TRIALS:
        yield ("sweep",), f"makes {trials} trials; expected at most {MAX_TRIALS}"
        return
    base = list(_Document(experiment, topo).find())
    yield from base
    if any(place[0] in ("sweep", "cases") for place, _ in base):
        return
    for point in plan.list_points(experiment):
        try:
            found = list(_Document(plan.experiment_at(experiment, point), topo).find())
        except InvalidInput as error:
            found = [(place_of(problem.field), problem.cause) for problem in error.problems]
        new = (finding for finding in found if finding not in base)
        yield from ((_find_setting(experiment, point, place), cause) for place, cause in new)


def _find_setting(experiment: document.Experiment, point: plan.Point, place: Place) -> Place:
    """Return where the document sets the value at a place of a combination."""
    for key, (setting, _) in plan.settings_at(experiment, point).items():
        target = plan.find_target(experiment, key)
        if all(one == other for one, other in zip(target, place, strict=False)):
            return setting
    return place


def _walk(value: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """Yield each value of a document with its place."""
    yield place, value
    members: Iterable[tuple[Any, object]] = ()
    if isinstance(value, document.Part):
        fields = type(value).model_fields
        members = ((field.alias or name, getattr(value, name)) for name, field in fields.items())
    elif isinstance(value, Mapping):
        members = value.items()
    elif isinstance(value, tuple):
        members = enumerate(value)
    for key, member in members:
        yield from _walk(member, (*place, key))


class _Document:
    """A document on a topology.

    :ivar names: known names of each kind.
    """

    def __init__(self, experiment: document.Experiment, topo: CampusTopo) -> None:
        self.experiment, self.topo = experiment, topo
        self.steps = {step.name: step for step in experiment.steps}
        self.flows = {flow.name: flow for flow in experiment.flows}
        self.swept = plan.swept_values(experiment)
        compute = experiment.configuration.get("compute")
        hosts = [dtn for campus in topo.campuses.values() for dtn in campus.dtns]
        self.names: Mapping[str, Collection[str]] = {
            "policy": ["ours", "best test", *(f"always {path}" for path in topo.paths)],
            "template": experiment.catalog,
            "campus or host": [*topo.campuses, *hosts],
            "path": topo.paths,
            "circuit": topo.circuits,
            "circuit or path": [*topo.circuits, *topo.paths],
            "flow": self.flows,
            "flow or event": plan.find_targets(experiment),
            "figure": experiment.figures,
            "swept value": self.swept,
            "compute site": compute if isinstance(compute, Mapping) else (),
        }

    def find(self) -> Iterator[Finding]:
        """Yield place and cause of each problem."""
        for place, part in _walk(self.experiment):
            if isinstance(part, document.Part):
                for where, cause in (*self._find_in_names(part), *self._find_in(part, place)):
                    yield (*place, *where), cause
        yield from self._find_in_keys()
        if len(self.experiment.catalog) < len(self.experiment.templates):
            yield ("templates",), "two templates have the same name"
        yield from self._find_shared_circuits()
        yield from self._find_circle()

    def _find_in_names(self, part: document.Part) -> Iterator[Finding]:
        for field, kind in NAMES.get(type(part), {}).items():
            key = type(part).model_fields[field].alias or field
            for place, name in _walk(getattr(part, field), (key,)):
                if isinstance(name, str):
                    yield from self._find_unknown(kind, name, place)
        for key, value in getattr(part, "where", {}).items():
            yield from self._find_unknown("swept value", key, ("where", key))
            if value not in (values := self.swept.get(key, (value,))):
                among = ", ".join(map(str, values))
                yield ("where", key), f"{value!r} is no value of it; expected one of {among}"

    def _find_in_keys(self) -> Iterator[Finding]:
        """Yield keys of sweep and cases whose first part names nothing."""
        sets: dict[Place, Mapping[str, object]] = {("sweep",): self.experiment.sweep}
        sets |= {("cases", case): settings for case, settings in self.experiment.cases.items()}
        for place, settings in sets.items():
            for key in settings:
                yield from self._find_unknown("flow or event", key.partition(".")[0], (*place, key))

    def _find_unknown(self, kind: str, name: str, place: Place) -> Iterator[Finding]:
        if name not in self.names[kind]:
            yield place, absent(kind, name, self.names[kind])

    def _find_in(self, part: document.Part, place: Place) -> Iterator[Finding]:
        """Yield the problems of a part other than unknown names; their places are relative to it."""
        match part:
            case document.FlowEntry():
                yield from self._find_in_flow(part)
            case document.Load():
                yield from self._find_wrong_rate(part.rate, 0.0)
            case document.LinkSetting():
                yield from self._find_wrong_rate(part.rate, MIN_RATE)
                if place[0] == "links":
                    yield from self._find_unknown("circuit or path", str(place[1]), ())
            case document.Moment():
                yield from self._find_obstacle(part)
            case document.Figure():
                yield from _find_wrong_quantities(part, {("paper",): part.paper})
            case document.RatioCheck():
                yield from (one for name in part.ratio for one in self._find_mixed(name, ()))
            case document.ValueCheck():
                yield from self._find_mixed(part.value, ())
                bounds: dict[Place, object] = {("between", row): one for row, one in enumerate(part.between)}
                figure = self.experiment.figures.get(part.value)
                yield from _find_wrong_quantities(figure, {**bounds, ("paper",): part.paper})
            case document.OrderCheck():
                yield from (one for name in part.figures for one in self._find_mixed(name, (part.over,)))
                if len(self.swept.get(part.over or "", "ab")) < 2:
                    yield ("over",), "has one value; expected at least two"
            case document.Plot(y=str(name)):
                yield from self._find_mixed(name, (*part.where, part.x, part.by))
                points: dict[Place, object] = {
                    ("paper", row, "y"): one.y for row, one in enumerate(part.paper)
                }
                yield from _find_wrong_quantities(self.experiment.figures.get(name), points)

    def _find_in_flow(self, entry: document.FlowEntry) -> Iterator[Finding]:
        template = self.experiment.catalog.get(entry.template)
        if (entry.protocol or (template and template.protocol)) == "udp":
            if entry.rate is None:
                yield ("rate",), "is missing; UDP needs a rate such as 10 Mbps"
            if entry.window is not None:
                yield ("window",), "has no meaning with UDP"
        yield from self._find_wrong_rate(entry.rate, 0.0)
        if entry.window is not None and entry.window / self.topo.scale < MIN_WINDOW:
            built = f"{entry.window / self.topo.scale:.0f} B as built (scale {self.topo.scale:g})"
            yield ("window",), f"is {built}; expected at least {MIN_WINDOW} B"
        ends = f"{entry.origin!r} and {entry.destination!r}"
        between = plan.paths_between(self.topo, entry.origin, entry.destination)
        if not between and {entry.origin, entry.destination} <= {*self.names["campus or host"]}:
            yield ("to",), f"no path joins {ends}"
        if between and entry.path in self.topo.paths and entry.path not in between:
            yield ("path",), f"{entry.path!r} does not join {ends}"

    def _find_wrong_rate(self, rate: float | None, least: float) -> Iterator[Finding]:
        if rate is not None and not least <= rate / self.topo.scale <= MAX_RATE:
            built = f"{format_rate(rate / self.topo.scale)} as built (scale {self.topo.scale:g})"
            yield ("rate",), f"is {built}; expected {format_rate(least)} to {format_rate(MAX_RATE)}"

    def _find_obstacle(self, moment: document.Moment) -> Iterator[Finding]:
        """Yield why a moment cannot come."""
        step = self.steps.get(moment.of)
        if step is None:
            yield (), absent("flow or event", moment.of, self.steps)
        elif moment.what in OF_TESTS and self.experiment.measuring.get("throughput", 1.0) is None:
            yield (), f"never comes: measuring.throughput is null, so nothing is {moment.what}"
        elif isinstance(step, document.Event):
            if moment.what in OF_FLOWS or (moment.what in OF_TESTS and step.load is None):
                yield (), f"never comes: {moment.of!r} is an event; expected begins or ends"
            elif moment.what in AFTER_END and step.lasts is None and step.until is None:
                yield (), f"never comes: {moment.of!r} does not end; expected for or until in it"

    def _find_mixed(self, name: str, fixed: Collection[str | None]) -> Iterator[Finding]:
        """Yield that a figure has several values where one is read."""
        figure = self.experiment.figures.get(name)
        swept = [key for key, values in self.swept.items() if len(values) > 1 and key not in fixed]
        if figure is not None and (mixed := [key for key in swept if key not in figure.where]):
            yield (), f"figure {name!r} has several values; expected {' and '.join(mixed)} in its where"

    def _find_shared_circuits(self) -> Iterator[Finding]:
        """Yield events on a circuit that another one changes: each would restore what the other changed."""
        changed: set[str] = set()
        for row, event in enumerate(self.experiment.events):
            if event.link is not None and event.link.path in (None, *self.topo.paths):
                circuit = plan.circuit_of(self.topo, event.link.name or str(event.link.path))
                if circuit in changed:
                    yield ("events", row, "link"), f"another event changes circuit {circuit!r}, too"
                changed.add(circuit)

    def _find_circle(self) -> Iterator[Finding]:
        """Yield the first circle of starts and ends; moments between the two count as the start."""
        graph: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for step in self.steps.values():
            graph[step.name, "start"] = _list_awaited(step.after)
            graph[step.name, "end"] = [(step.name, "start"), *_list_awaited(step.until)]
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]
            text = " after ".join(f"{name}'s {end}" for name, end in circle)
            yield self._find_place(circle[0][0]), f"waits for itself: {text}"

    def _find_place(self, step: str) -> Place:
        for row, entry in enumerate(self.experiment.workload):
            if step in {copy.name for copy in entry.each_copy()}:
                return "workload", row
        return "events", [event.name for event in self.experiment.events].index(step)


def _list_awaited(moment: document.Moment | None) -> list[tuple[str, str]]:
    if moment is None:
        return []
    return [(moment.of, "end" if moment.what in AFTER_END else "start")]


def _find_wrong_quantities(
    figure: document.Figure | None, quantities: Mapping[Place, object]
) -> Iterator[Finding]:
    for place, quantity in quantities.items():
        try:
            if figure is not None and quantity is not None:
                document.parse_quantity(quantity, figure.unit)
        except ValueError as error:
            yield place, str(error)
