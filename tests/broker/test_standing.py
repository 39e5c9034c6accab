"""One value in, the same verdict, Q and quality out as a full assessment gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.standing import OwnPath
from adon.flowvisor.path import CandidatePath, Knowledge, Known, Layer, PathEnd, PathView, Unknown
from adon.flowvisor.selection import assess, quality
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec
from measurement.model import Metric, PathKey

PATH = CandidatePath(PathKey("a", "x", "y"), Layer.L2, 0, 1e9, 1500, PathEnd(1, 1), PathEnd(2, 1), 7)
TABLES = {
    Metric.THROUGHPUT: LookupTable(points=((1e6, 1.0), (1e8, 10.0))),
    Metric.LOSS: LookupTable(points=((0.0, 10.0), (0.1, 1.0))),
}
BOUNDS = st.builds(
    lambda low, target, loss: QSpec.model_validate(
        {
            **({"throughput": {"min": low, "target": target}} if low else {}),
            **({"loss": {"max": f"{loss} %", "target": f"{loss / 2} %"}} if loss else {}),
        }
    ),
    st.sampled_from([None, "1 Mbps", "20 Mbps"]),
    st.sampled_from([None, "30 Mbps", "90 Mbps"]),
    st.sampled_from([None, 2.0, 5.0]),
)
WEIGHTS = st.sampled_from(
    [{Metric.THROUGHPUT: 1.0}, {Metric.LOSS: 1.0}, {Metric.THROUGHPUT: 2.0, Metric.LOSS: 1.0}]
)


@settings(max_examples=100, deadline=None)
@given(
    value=st.one_of(st.none(), st.floats(0, 2e8)),
    loss=st.one_of(st.none(), st.floats(0, 0.1)),
    qspec=BOUNDS,
    weights=WEIGHTS,
    usable=st.booleans(),
    tables=st.sampled_from([TABLES, {}, {Metric.LOSS: TABLES[Metric.LOSS]}]),
)
def test_it_is_what_a_full_assessment_says(
    value: float | None,
    loss: float | None,
    qspec: QSpec,
    weights: dict[Metric, float],
    usable: bool,
    tables: dict[Metric, LookupTable],
) -> None:
    others = {Metric.LOSS: known(loss)}
    reason = "" if usable else "down"
    whole = PathView(PATH, {**others, Metric.THROUGHPUT: known(value)}, usable, reason)
    full = assess(whole, qspec, tables, weights, 10.0)
    without = assess(PathView(PATH, others, usable, reason), qspec, tables, weights, 10.0)
    own = OwnPath.of(PATH, without, tables, qspec, 0.0)
    verdict, q, words = own.judge(value)
    assert (verdict, words) == (full.verdict, quality(full, qspec))
    assert q == pytest.approx(full.q)
    assert own.misses(value) is any(metric.bound_met is False for metric in full.metrics)


def known(value: float | None) -> Knowledge:
    return Unknown("never measured") if value is None else Known(value, 9.0, "test")
