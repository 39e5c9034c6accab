"""Templates: what a person may write, every refusal, and that a saved one cannot change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.model import (
    MAX_WEIGHT,
    QSpec,
    Template,
    check_weights,
    normalise_weights,
    scoring_tables,
)
from measurement.model import Metric
from tests.support.factories import make_template
from tests.support.refusals import refused
from tests.templates_catalog.strategies import GOOD, templates


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
    assert normalise_weights(template.weights) == {Metric.THROUGHPUT: 0.75, Metric.LOSS: 0.25}
    assert template.reference == "soykb@1"


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


def test_a_request_overrides_the_metrics_it_bounds() -> None:
    template = yamlfile.parse_model(GOOD, Template)
    asked = QSpec.model_validate({"throughput": {"min": "600 Mbps"}})
    merged = template.qspec.override(asked)
    assert merged.bound(Metric.THROUGHPUT) == 600e6
    assert merged.target(Metric.THROUGHPUT) is None
    assert merged.bound(Metric.LOSS) == template.qspec.bound(Metric.LOSS)
    assert template.qspec.override(None) == template.qspec


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


BOTH = {"throughput": 1, "rtt": 1}


def test_the_templates_own_table_comes_first() -> None:
    own = make_template(weights=BOTH, tables={"throughput": {"points": [["1 Mbps", 2], ["2 Mbps", 3]]}})
    tables = scoring_tables(own, own.qspec, {Metric.RTT: 0.01})
    assert list(tables) == [Metric.THROUGHPUT, Metric.RTT]
    assert tables[Metric.THROUGHPUT] == own.tables[Metric.THROUGHPUT]
    assert not tables[Metric.THROUGHPUT].generated
    assert tables[Metric.RTT].generated


@pytest.mark.parametrize(
    ("throughput", "rspec", "best_seen", "best"),
    [
        ({"min": "1 Gbps", "target": "4 Gbps"}, {"bandwidth_ceiling": "8 Gbps"}, 6e9, 4e9),
        ({"min": "1 Gbps"}, {"bandwidth_ceiling": "8 Gbps"}, 6e9, 8e9),
        ({"min": "1 Gbps"}, {}, 6e9, 6e9),
        ({"min": "1 Gbps"}, {}, None, 10e9),
    ],
)
def test_target_then_ceiling_then_best_seen(
    throughput: dict[str, str], rspec: dict[str, str], best_seen: float | None, best: float
) -> None:
    made = make_template(weights=BOTH, qspec={"throughput": throughput}, rspec=rspec)
    seen = {} if best_seen is None else {Metric.THROUGHPUT: best_seen}
    assert scoring_tables(made, made.qspec, seen)[Metric.THROUGHPUT].points == ((1e9, 1.0), (best, 10.0))


def test_the_ceiling_is_no_best_delay() -> None:
    made = make_template(
        weights=BOTH, qspec={"rtt": {"max": "100 ms"}}, rspec={"bandwidth_ceiling": "8 Gbps"}
    )
    table = scoring_tables(made, made.qspec, {Metric.RTT: 0.02})[Metric.RTT]
    assert table.points == ((0.02, 10.0), (0.1, 1.0))


def test_the_flows_own_qspec_and_weights_count() -> None:
    made = make_template(weights=BOTH, qspec={"jitter": {"max": "9 ms"}})
    qspec = QSpec.model_validate({"jitter": {"max": "2 ms", "target": "1 ms"}})
    tables = scoring_tables(made, qspec, {}, weights={Metric.JITTER: 1.0})
    assert {metric: table.points for metric, table in tables.items()} == {
        Metric.JITTER: ((0.001, 10.0), (0.002, 1.0))
    }
