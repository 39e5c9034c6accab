"""Which table scores a metric, and what a generated one is generated from."""

from __future__ import annotations

import pytest

from adon.templates_catalog.model import QSpec
from adon.templates_catalog.scoring_tables import scoring_tables
from measurement.model import Metric
from tests.support.factories import make_template

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
