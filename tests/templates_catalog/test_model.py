"""Templates: what a person may write, every refusal, and that a saved one cannot change."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.model import MAX_WEIGHT, QSpec, Template, check_weights, normalised
from measurement.model import Metric
from tests.support.refusals import refused
from tests.templates_catalog.strategies import templates

GOOD = """\
name: soykb
qspec:
  throughput: {min: 700 Mbps, target: 5 Gbps}
  rtt: {max: 100 ms, target: 20 ms}
  loss: {max: 0.1 %}
rspec: {bandwidth_ceiling: 10 Gbps}
weights: {throughput: 3, loss: 1}
tables:
  throughput: {points: [[700 Mbps, 1], [10 Gbps, 10]]}
match: {applications: [soykb], ports: [1247, 20000-20199], dscp: [10]}
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        yamlfile.parse_model(text, Template, "t.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_a_template_as_people_write_it() -> None:
    template = yamlfile.parse_model(GOOD, Template)
    assert template.qspec.bound(Metric.THROUGHPUT) == 700e6
    assert template.qspec.target(Metric.RTT) == pytest.approx(0.02)
    assert template.qspec.bound(Metric.JITTER) is None
    assert template.qspec.metrics == (Metric.THROUGHPUT, Metric.RTT, Metric.LOSS)
    assert template.tables[Metric.THROUGHPUT].score(700e6) == 1
    assert normalised(template.weights) == {Metric.THROUGHPUT: 0.75, Metric.LOSS: 0.25}
    assert template.reference == "soykb@1"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("min: 700 Mbps", "min: 700 mbps", "qspec.throughput.min"),
        ("bandwidth_ceiling: 10 Gbps", "bandwidth_ceiling: 10 ubps", "rspec.bandwidth_ceiling"),
        (
            "bandwidth_ceiling: 10 Gbps",
            "bandwidth_ceiling: 10 Gbps, compute: {memory: 16 Gb}",
            "rspec.compute.memory",
        ),
        ("[[700 Mbps, 1]", "[[700 mbps, 1]", "tables.throughput.points.0"),
    ],
)
def test_ambiguous_unit_is_refused(old: str, new: str, field: str) -> None:
    with refused("ambiguous-unit", field):
        yamlfile.parse_model(GOOD.replace(old, new), Template)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "throughput: 3",
            "latency: 3",
            "7: weights.latency: there is no metric 'latency'; known are throughput, rtt,",
        ),
        (
            "  throughput: {points",
            "  speed: {points",
            "9: tables.speed: there is no metric 'speed'; known are",
        ),
        ("min: 700 Mbps", "min: 700", "3: qspec.throughput.min: '700' has no unit"),
        ("min: 700 Mbps", "min: 700 ms", "3: qspec.throughput.min: 'ms' does not measure this"),
        ("min: 700 Mbps", "min: 0 bps", "3: qspec.throughput.min: a throughput bound must be above zero"),
        ("min: 700 Mbps", "min: 6 Gbps", "3: qspec.throughput.target: is below min"),
        ("max: 100 ms", "max: 10 ms", "4: qspec.rtt.target: is above max"),
        ("max: 100 ms, target: 20 ms", "max: 0 s", "4: qspec.rtt.max: no network has none at all"),
        ("max: 0.1 %", "max: 101 %", "5: qspec.loss.max: '101 %' is more than 100 %"),
        (
            "  loss: {max: 0.1 %",
            "  health: {min: 0 %",
            "5: qspec.health.min: a bound on health must be above",
        ),
        ("  loss: {max: 0.1 %", "  health: {min: 60 %, target: 50 %", "5: qspec.health.target: is below min"),
        ("  loss: {max", "  speed: {max", "5: qspec.speed: is not a known key here"),
        (
            "ceiling: 10 Gbps",
            "ceiling: 6 Mbps",
            "3: qspec.throughput.min: 700 Mbps is above rspec.bandwidth_ceiling",
        ),
        (
            "ceiling: 10 Gbps",
            "ceiling: 1 Gbps",
            "3: qspec.throughput.target: 5 Gbps is above rspec.bandwidth_ceiling",
        ),
        ("ceiling: 10 Gbps", "ceiling: 0 bps", "6: rspec.bandwidth_ceiling: must be above zero"),
        ("throughput: 3, loss: 1", "throughput: 0, loss: 0", "7: weights: all weights are zero"),
        ("throughput: 3, loss: 1", "", "7: weights: no metric has a weight"),
        ("throughput: 3", "throughput: -3", "7: weights.throughput: a weight must be between 0 and"),
        ("throughput: 3", "throughput: '3'", "7: weights.throughput: Input should be a valid number"),
        ("[700 Mbps, 1]", "[700, 1]", "9: tables.throughput.points.0: '700' has no unit"),
        ("[700 Mbps, 1]", "[700 Mbps]", "9: tables.throughput.points.0: a point is a value with its unit"),
        (
            "[700 Mbps, 1]",
            "[700 Mbps, high]",
            "9: tables.throughput.points.0.1: Input should be a valid number",
        ),
        (
            "[700 Mbps, 1]",
            "[11 Gbps, 1]",
            "9: tables.throughput.points.1: value 1e+10 does not come after 1.1e+10",
        ),
        (
            "[10 Gbps, 10]",
            "[10 Gbps, 0]",
            "9: tables.throughput.points.1: score 0 follows 1, but more throughput",
        ),
        (", [10 Gbps, 10]", "", "9: tables.throughput.points: a table has 2 to 1000 points, not 1"),
        ("throughput: {points", "loss: {points", "9: tables.loss.points.0: 'Mbps' does not measure this"),
        ("1247", "70000", "10: match.ports.0: 70000 is not a port"),
        ("20000-20199", "300-200", "10: match.ports.1: '300-200' is not a port"),
        ("dscp: [10]", "dscp: [64]", "10: match.dscp.0: Input should be less than or equal to 63"),
        ("name: soykb", "name: Soy KB", "1: name: String should match pattern"),
        ("name: soykb", "title: x", "1: name: is required"),
        ("name: soykb", "name: soykb\nname: soykb", "2: name: is written twice"),
    ],
)
def test_a_mistake_is_named_with_line_and_field(old: str, new: str, problem: str) -> None:
    assert old in GOOD
    found = problems_of(GOOD.replace(old, new, 1))
    assert [one.startswith(f"t.yaml:{problem}") for one in found].count(True) == 1


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ("selection: {max_age: 0 s}", "11: selection.max_age: must be above zero"),
        (
            "selection: {idle_timeout: 1500 ms}",
            "11: selection.idle_timeout: OpenFlow counts idle time-outs in whole",
        ),
        (
            "cost: {function: weighted, time_weight: 0, money_weight: 0}",
            "11: cost.time_weight: is zero, and so is",
        ),
        ("cost: {function: cheap}", "11: cost.function: Input should be 'total_time'"),
        ("priority: 1000", "11: priority: Input should be less than or equal to 999"),
        ("colour: red", "11: colour: is not a known key here"),
    ],
)
def test_a_mistake_in_an_optional_part(added: str, problem: str) -> None:
    found = problems_of(GOOD + added)
    assert len(found) == 1
    assert found[0].startswith(f"t.yaml:{problem}")


def test_all_mistakes_are_reported_at_once() -> None:
    text = GOOD.replace("700 Mbps", "700").replace("loss: 1}", "lost: 1}").replace("1247", "0")
    assert [problem.split(": ")[1] for problem in problems_of(text)] == [
        "match.ports.0",
        "qspec.throughput.min",
        "weights.lost",
        "tables.throughput.points.0",
    ]


@given(template=templates())
def test_a_template_is_written_and_read_back_equal(template: Template) -> None:
    assert yamlfile.parse_model(yamlfile.dump(template), Template) == template
    assert Template.model_validate_json(template.model_dump_json()) == template
    assert Template.model_validate(template.model_dump()) == template


def test_a_template_cannot_change_and_has_a_hash() -> None:
    template = yamlfile.parse_model(GOOD, Template)
    changes: list[Any] = [
        lambda: template.weights.update({Metric.RTT: 1.0}),  # type: ignore[attr-defined]
        lambda: template.tables.clear(),  # type: ignore[attr-defined]
        lambda: template.weights.__setitem__(Metric.RTT, 1.0),  # type: ignore[attr-defined]
    ]
    for change in changes:
        with pytest.raises(TypeError):
            change()
    assert {template, yamlfile.parse_model(GOOD, Template)} == {template}


def test_copies_of_a_template_are_equal() -> None:
    template = yamlfile.parse_model(GOOD, Template)
    assert copy.deepcopy(template) == template
    assert pickle.loads(pickle.dumps(template)) == template  # noqa: S301


def test_a_request_overrides_the_metrics_it_bounds() -> None:
    template = yamlfile.parse_model(GOOD, Template)
    asked = QSpec.model_validate({"throughput": {"min": "600 Mbps"}})
    merged = template.qspec.overridden(asked)
    assert merged.bound(Metric.THROUGHPUT) == 600e6
    assert merged.target(Metric.THROUGHPUT) is None
    assert merged.bound(Metric.LOSS) == template.qspec.bound(Metric.LOSS)
    assert template.qspec.overridden(None) == template.qspec


@pytest.mark.parametrize(
    ("metric", "value", "met"),
    [
        (Metric.THROUGHPUT, 700e6, True),
        (Metric.THROUGHPUT, 699e6, False),
        (Metric.RTT, 0.1, True),
        (Metric.RTT, 0.11, False),
        (Metric.JITTER, 99.0, True),
    ],
)
def test_a_bound_is_met_at_the_bound(metric: Metric, value: float, met: bool) -> None:
    assert yamlfile.parse_model(GOOD, Template).qspec.met_by(metric, value) is met


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), MAX_WEIGHT * 1.01])
def test_weights_that_cannot_be_normalised_are_refused(weight: float) -> None:
    with refused("out-of-range", "rtt"):
        check_weights({Metric.THROUGHPUT: 1.0, Metric.RTT: weight})
