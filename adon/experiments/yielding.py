"""Whether figures, checks and plots can come out of a file's trials at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adon.experiments.checks import Check, DecisionsCheck, OrderCheck, RatioCheck, ValueCheck
from adon.experiments.document import Experiment
from adon.experiments.figures import Figure, Measure, Plot, parse_quantity
from adon.experiments.naming import moment_problems
from adon.experiments.parts import Scalar
from adon.experiments.sweeping import POLICY, Place, matches, points, swept
from adon.nearest_key import absent
from adon.templates_catalog.model import Template
from measurement.model import Metric

Finding = tuple[Place, str]


def results(experiment: Experiment, templates: Mapping[str, Template]) -> Iterator[Finding]:
    """Everything about what is read out of a run that cannot be."""
    for name, figure in experiment.figures.items():
        yield from _figure(experiment, templates, figure, ("figures", name))
    for row, check in enumerate(experiment.checks):
        yield from _check(experiment, check, ("checks", row))
    for row, plot in enumerate(experiment.plots):
        yield from _plot(experiment, plot, ("plots", row))


def _figure(
    experiment: Experiment, templates: Mapping[str, Template], figure: Figure, place: Place
) -> Iterator[Finding]:
    names = [entry.name for entry in experiment.workload]
    if figure.flow is not None and figure.flow not in names:
        yield (*place, "flow"), absent("flow", figure.flow, names)
    for field, many in (("since", (figure.since,)), ("during", figure.during or ())):
        for moment in many:
            if moment is not None:
                yield from moment_problems(experiment, moment, (*place, field))
    if figure.of is Measure.JITTER and "udp" not in set(_protocols(experiment, templates, figure)):
        yield (*place, "of"), "nothing yields it: only a receiver of UDP counts jitter"
    if figure.of is Measure.DELAY and "udp" in set(_protocols(experiment, templates, figure)):
        yield (*place, "of"), "nothing yields it: only a sender of TCP knows round trips"
    if figure.of is Measure.DEADLINES_MISSED and not any(_have_deadlines(experiment, figure)):
        yield (*place, "of"), "nothing yields it: no flow of it has a deadline"
    if figure.of is Measure.FLOORS_MISSED and not any(_have_floors(experiment, templates, figure)):
        yield (*place, "of"), "nothing yields it: no flow of it asks for a least throughput (qspec)"
    measuring = experiment.measuring
    never = {name for name in measuring.said if getattr(measuring, name) is None}
    if figure.metric is not None and _TESTS.get(figure.metric, {""}) <= never:
        yield (*place, "metric"), f"nothing yields it: {figure.metric} is never measured (measuring)"
    yield from _where(experiment, figure.where, (*place, "where"))


_TESTS: Mapping[Metric, set[str]] = {
    Metric.THROUGHPUT: {"throughput"},
    Metric.RTT: {"rtt"},
    Metric.ONE_WAY_DELAY: {"latency"},
    Metric.JITTER: {"latency"},
    Metric.LOSS: {"latency", "rtt"},  # of pings, where no better test counts it
}
"""By metric the tests that tell it, each of them alone."""


def _have_deadlines(experiment: Experiment, figure: Figure) -> Iterator[bool]:
    for entry in experiment.workload:
        if figure.flow in (None, entry.name):
            yield entry.deadline is not None


def _have_floors(experiment: Experiment, templates: Mapping[str, Template], figure: Figure) -> Iterator[bool]:
    for entry in experiment.workload:
        if figure.flow in (None, entry.name):
            template = templates.get(entry.template)
            yield template is None or template.qspec.overridden(entry.qspec).throughput is not None


def _protocols(experiment: Experiment, templates: Mapping[str, Template], figure: Figure) -> Iterator[str]:
    for entry in experiment.workload:
        if figure.flow in (None, entry.name):
            template = templates.get(entry.template)
            yield entry.protocol or ("udp" if template is None else template.protocol)


def _where(experiment: Experiment, where: Mapping[str, Scalar], place: Place) -> Iterator[Finding]:
    known = swept(experiment)
    wrong = False
    for key, value in where.items():
        if key not in known:
            wrong = True
            yield (*place, key), absent("swept value", key, known)
        elif value not in known[key]:
            wrong = True
            among = ", ".join(map(str, known[key]))
            yield (*place, key), f"{value!r} is not among its values: {among}"
    if not wrong and where and not _count(experiment, where):
        yield place, "no trial has these values together"


def _count(experiment: Experiment, where: Mapping[str, Scalar]) -> int:
    """How many combinations of points and policies are meant."""
    return sum(
        matches(point, policy, where) for point in points(experiment) for policy in experiment.policies
    )


def _check(experiment: Experiment, check: Check, place: Place) -> Iterator[Finding]:
    match check:
        case RatioCheck():
            for row, name in enumerate(check.ratio):
                yield from _single(experiment, name, (*place, "ratio", row))
            units = {experiment.figures[n].unit for n in check.ratio if n in experiment.figures}
            if len(units) > 1:
                yield (*place, "ratio"), f"one is in {' and the other in '.join(sorted(units))}"
        case ValueCheck():
            yield from _single(experiment, check.value, (*place, "value"))
            yield from _quantities(experiment, check, place)
        case OrderCheck():
            yield from _order(experiment, check, place)
        case DecisionsCheck():
            yield from _decisions(experiment, check, place)


def _single(experiment: Experiment, name: str, place: Place, over: str | None = None) -> Iterator[Finding]:
    """A figure must be there, and be one number: of one combination and policy (but for what it is over)."""
    figure = experiment.figures.get(name)
    if figure is None:
        yield place, absent("figure", name, experiment.figures)
        return
    known = swept(experiment)
    if any(key not in known for key in figure.where):
        return  # said of the figure
    open_ = [k for k, values in known.items() if k not in figure.where and k != over and len(values) > 1]
    if open_:
        yield place, f"figure {name!r} is not one number: say {' and '.join(open_)} in its 'where'"


def _quantities(experiment: Experiment, check: ValueCheck, place: Place) -> Iterator[Finding]:
    figure = experiment.figures.get(check.value)
    if figure is None:
        return
    values: list[tuple[Place, object]] = [
        ((*place, "between", row), value) for row, value in enumerate(check.between)
    ]
    read = []
    for where, value in [*values, ((*place, "paper"), check.paper)]:
        if value is None:
            continue
        try:
            read.append(parse_quantity(value, figure.unit))
        except ValueError as error:
            yield where, str(error)
    if None not in check.between and len(read) >= 2 and read[0] > read[1]:
        yield (*place, "between"), f"{check.between[0]} is above {check.between[1]}"


def _order(experiment: Experiment, check: OrderCheck, place: Place) -> Iterator[Finding]:
    known = swept(experiment)
    if check.over is not None:
        if check.over not in known:
            yield (*place, "over"), absent("swept value", check.over, known)
            return
        figure = experiment.figures.get(check.figures[0])
        if figure is not None and check.over in figure.where:
            yield (*place, "over"), f"figure {check.figures[0]!r} is of one value of it only (where)"
        elif len(known[check.over]) < 2:
            yield (*place, "over"), "has one value: there is no order"
        yield from _single(experiment, check.figures[0], (*place, "order"), check.over)
        return
    for row, name in enumerate(check.figures):
        yield from _single(experiment, name, (*place, "order", row))
    units = {experiment.figures[n].unit for n in check.figures if n in experiment.figures}
    if len(units) > 1:
        yield (*place, "order"), f"figures are in {' and '.join(sorted(units))}"


def _decisions(experiment: Experiment, check: DecisionsCheck, place: Place) -> Iterator[Finding]:
    if check.policy not in experiment.policies:
        yield (*place, "policy"), absent("policy", check.policy, experiment.policies)
    compute = experiment.configuration.get("compute")
    sites = list(compute) if isinstance(compute, Mapping) else []
    for row, expected in enumerate(check.decisions):
        at = (*place, "decisions", row)
        yield from _decided(experiment, expected.flow, (*at, "flow"))
        if expected.site is not None and expected.site not in sites:
            yield (*at, "site"), f"{absent('compute site', expected.site, sites)} (configuration.compute)"
    if POLICY in check.where:
        yield (*place, "where", POLICY), "of a check of decisions 'policy' beside 'where' says whose they are"
    else:
        yield from _where(experiment, check.where, (*place, "where"))


def _decided(experiment: Experiment, flow: str, place: Place) -> Iterator[Finding]:
    flows = [entry.name for entry in experiment.workload]
    if flow not in flows:
        yield place, absent("flow", flow, flows)


def _plot(experiment: Experiment, plot: Plot, place: Place) -> Iterator[Finding]:
    known = swept(experiment)
    figure = None if plot.y is None else experiment.figures.get(plot.y)
    if plot.y is not None and figure is None:
        yield (*place, "y"), absent("figure", plot.y, experiment.figures)
    for field in ("x", "by"):
        key = getattr(plot, field)
        if key is not None and key not in known:
            yield (*place, field), absent("swept value", key, known)
    yield from _where(experiment, plot.where, (*place, "where"))
    if figure is not None:
        fixed = {*figure.where, *plot.where, plot.x, plot.by}
        mixed = [key for key, values in known.items() if key not in fixed and len(values) > 1]
        if mixed:
            what = " and ".join(mixed)
            yield (*place, "y"), f"one point would mix values of {what}: say it in 'by' or 'where'"
    for row, point in enumerate(plot.paper):
        if figure is None:
            break
        try:
            parse_quantity(point.y, figure.unit)
        except ValueError as error:
            yield (*place, "paper", row, "y"), str(error)
