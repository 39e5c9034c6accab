"""References of an experiment: used names exist, values can be built, moments can come.

Every combination of swept values is checked.  The problem of a swept value stands where the value is set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from adon.errors import InvalidInput
from adon.nearest_key import describe_missing
from adon.units import format_rate, format_size
from adon.yamlfile import Place, find_place
from mininet_topos.experiments import document, plan
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.link_shape import MAX_RATE, MIN_RATE
from mininet_topos.topologies.campus_topo import CampusTopo

MAX_TRIALS = 2000
BUILT = {"rate": (MIN_RATE, MAX_RATE, format_rate), "window": (4096, 2**30, format_size)}
"""Bounds, as built, of the fields that ``scale`` divides.  Linux has no smaller socket buffers."""
AFTER_END = (document.Phase.ENDS, document.Phase.RETESTED)
OF_FLOWS = (document.Phase.ADMITTED, document.Phase.MOVED)
Finding = tuple[Place, str]
"""Place and cause of a problem."""


def check_references(read: ExperimentFile, topo: CampusTopo) -> None:
    """Refuse an experiment with problems on a topology.

    :raises InvalidInput: with all of them, each with file and line.
    """
    findings = dict.fromkeys(_find_everywhere(read.experiment, topo))
    problems = [*read.problems, *(read.problem(place, cause) for place, cause in findings)]
    if problems:
        raise InvalidInput(problems)


def _find_everywhere(experiment: document.Experiment, topo: CampusTopo) -> Iterator[Finding]:
    trials = plan.count_trials(experiment)
    if trials > MAX_TRIALS:
        yield ("sweep",), f"makes {trials} trials; expected at most {MAX_TRIALS}"
        return
    for point in plan.list_points(experiment):
        try:
            found = list(_Document(plan.experiment_at(experiment, point), topo).find())
        except InvalidInput as error:
            found = [(find_place(problem.field), problem.cause) for problem in error.problems]
        yield from ((_find_setting(experiment, point, place), cause) for place, cause in found)


def _find_setting(experiment: document.Experiment, point: plan.Point, place: Place) -> Place:
    """Return where the document sets the value at a place of a combination."""
    settings = plan.settings_at(experiment, point)
    return next((source for target, source in settings if place[: len(target)] == target), place)


def _walk(value: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """Yield each value of a document, and each key of a mapping, with its place."""
    yield place, value
    members: Iterable[tuple[Any, object]] = ()
    if isinstance(value, document.Part):
        fields = type(value).model_fields
        members = ((field.alias or name, getattr(value, name)) for name, field in fields.items())
    elif isinstance(value, Mapping):
        yield from (((*place, key), key) for key in value)
        members = value.items()
    elif isinstance(value, tuple):
        members = enumerate(value)
    for key, member in members:
        yield from _walk(member, (*place, key))


class _Document:
    """A document on a topology.

    :ivar names: known names of each kind of reference.
    :ivar units: units of figures; of a ratio, which is not of one figure, at None.
    """

    def __init__(self, experiment: document.Experiment, topo: CampusTopo) -> None:
        self.experiment, self.topo = experiment, topo
        self.steps = {step.name: step for step in experiment.steps}
        self.swept = plan.swept_values(experiment)
        self.units: dict[str | None, document.Unit] = {None: document.Unit.COUNT}
        self.units |= {name: figure.unit for name, figure in experiment.figures.items()}
        compute = experiment.configuration.get("compute")
        hosts = [dtn for campus in topo.campuses.values() for dtn in campus.dtns]
        self.names: Mapping[str, Collection[str]] = {
            "policy": ["ours", "best test", *(f"always {path}" for path in topo.paths)],
            "template": experiment.catalog,
            "campus or host": [*topo.campuses, *hosts],
            "path": topo.paths,
            "circuit": topo.circuits,
            "circuit or path": [*topo.circuits, *topo.paths],
            "flow": [flow.name for flow in experiment.workload],
            "flow or event": self.steps,
            "figure": experiment.figures,
            "swept value": self.swept,
            "flow, event or section": plan.find_targets(experiment),
            "compute site": compute if isinstance(compute, Mapping) else (),
        }

    def find(self) -> Iterator[Finding]:
        """Yield place and cause of each problem."""
        for place, value in _walk(self.experiment):
            if isinstance(value, document.Reference) and value.name not in self.names[value.kind]:
                yield place, describe_missing(value.kind, value.name, self.names[value.kind])
            elif isinstance(value, document.Part):
                yield from (((*place, *where), cause) for where, cause in self._find_in(value))
        if len(self.experiment.catalog) < len(self.experiment.templates):
            yield ("templates",), "two templates have the same name"
        yield from self._find_shared_circuits()
        yield from self._find_circle()

    def _find_in(self, part: document.Part) -> Iterator[Finding]:
        """Yield the problems of a part other than unknown names; their places are relative to it."""
        yield from self._find_out_of_range(part)
        match part:
            case document.FlowEntry():
                yield from self._find_in_flow(part)
            case document.Moment():
                yield from self._find_obstacle(part)
            case document.Figure():
                yield from self._find_wrong_where(part)
                yield from _find_wrong_quantities(part.unit, {("paper",): part.paper})
            case document.Check():
                yield from self._find_mixed(part.figures, ())
                bounds = {("between", row): one for row, one in enumerate(part.between or ())}
                yield from _find_wrong_quantities(self.units.get(part.value), bounds)
            case document.Plot(y=str(name)):
                yield from self._find_mixed((name,), (part.x, part.by))

    def _find_out_of_range(self, part: document.Part) -> Iterator[Finding]:
        """Yield values that cannot be built at the scale."""
        for field, (least, most, describe) in BUILT.items():
            value = getattr(part, field, None)
            if value is not None and not least <= (built := value / self.topo.scale) <= most:
                cause = f"is {describe(built)} as built (scale {self.topo.scale:g})"
                yield (field,), f"{cause}; expected {describe(least)} to {describe(most)}"

    def _find_in_flow(self, entry: document.FlowEntry) -> Iterator[Finding]:
        template = self.experiment.catalog.get(entry.template)
        if (entry.protocol or (template and template.protocol)) == "udp" and entry.rate is None:
            yield ("rate",), "is missing; UDP needs a rate such as 10 Mbps"
        ends = f"{entry.source!r} and {entry.destination!r}"
        between = plan.paths_between(self.topo, entry.source, entry.destination)
        if not between and {entry.source, entry.destination} <= {*self.names["campus or host"]}:
            yield ("to",), f"no path joins {ends}"
        if between and entry.path in self.topo.paths and entry.path not in between:
            yield ("path",), f"{entry.path!r} does not join {ends}"

    def _find_obstacle(self, moment: document.Moment) -> Iterator[Finding]:
        """Yield why a moment cannot come."""
        step, of_tests = self.steps.get(moment.of), moment.what in document.TEST_PHASES
        if of_tests and self.experiment.measuring.get("throughput", 1.0) is None:
            yield (), f"never comes: measuring.throughput is null, so nothing is {moment.what}"
        elif isinstance(step, document.Event):
            if moment.what in OF_FLOWS or (of_tests and step.load is None):
                yield (), f"never comes: {moment.of!r} is an event; expected begins or ends"
            elif moment.what in AFTER_END and step.lasts is None and step.until is None:
                yield (), f"never comes: {moment.of!r} does not end; expected for or until in it"

    def _find_wrong_where(self, figure: document.Figure) -> Iterator[Finding]:
        for key, value in figure.where.items():
            if value not in (values := self.swept.get(key, (value,))):
                among = ", ".join(map(str, values))
                yield ("where", key), f"{value!r} is no value of it; expected one of {among}"

    def _find_mixed(self, names: Iterable[str], fixed: Collection[str | None]) -> Iterator[Finding]:
        """Yield figures that have several values where one is read."""
        several = [key for key, values in self.swept.items() if len(values) > 1 and key not in fixed]
        for name in names:
            figure = self.experiment.figures.get(name)
            if figure is not None and (mixed := [key for key in several if key not in figure.where]):
                where = " and ".join(mixed)
                yield (), f"figure {name!r} has several values; expected {where} in its where"

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
            yield plan.find_targets(self.experiment)[circle[0][0]], f"waits for itself: {text}"


def _list_awaited(moment: document.Moment | None) -> list[tuple[str, str]]:
    if moment is None:
        return []
    return [(moment.of, "end" if moment.what in AFTER_END else "start")]


def _find_wrong_quantities(unit: document.Unit | None, quantities: Mapping[Any, Any]) -> Iterator[Finding]:
    for place, quantity in quantities.items():
        try:
            if unit is not None and quantity is not None:
                document.parse_quantity(quantity, unit)
        except ValueError as error:
            yield place, str(error)
