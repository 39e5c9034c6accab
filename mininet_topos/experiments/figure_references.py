"""Names in figures, checks and plots, and whether the trials can have what they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adon.nearest_key import absent
from adon.yamlfile import Place
from measurement.model import Metric
from mininet_topos.experiments.document import (
    DecisionsCheck,
    Experiment,
    Figure,
    Measure,
    OrderCheck,
    Plot,
    RatioCheck,
    Scalar,
    ValueCheck,
    parse_quantity,
)
from mininet_topos.experiments.moments import moment_problem
from mininet_topos.experiments.sweep import POLICY, list_points, matches, swept_values
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
