"""A template as it is written, and Hypothesis strategies for templates and their parts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from adon.templates_catalog.lookup import UNITS, LookupTable
from adon.templates_catalog.model import Template
from measurement.model import Metric

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

NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)
SOFTWARE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=30)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
RATES = st.floats(min_value=1e-3, max_value=1e13)
SPANS = st.floats(min_value=1e-9, max_value=1e6)
SHARES = st.floats(min_value=0, max_value=1)
HEALTH = st.floats(min_value=1e-6, max_value=1)
SIZES = st.integers(min_value=0, max_value=2**53)


def _values(metric: Metric) -> st.SearchStrategy[float]:
    return {Metric.THROUGHPUT: RATES, Metric.LOSS: SHARES, Metric.HEALTH: HEALTH}.get(metric, SPANS)


@st.composite
def tables(draw: st.DrawFn, metric: Metric) -> LookupTable:
    values = sorted(draw(st.sets(_values(metric), min_size=2, max_size=6)))
    scores = draw(st.lists(st.floats(-100, 100), min_size=len(values), max_size=len(values)))
    scores.sort(reverse=not metric.higher_is_better)
    return LookupTable(points=tuple(zip(values, scores, strict=True)), step=draw(st.booleans()))


@st.composite
def qspecs(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric in draw(st.sets(st.sampled_from(Metric))):
        unit = UNITS[metric]
        low, high = sorted((draw(_values(metric)), draw(_values(metric))))
        bound, target = (low, high) if metric.higher_is_better else (high, low)
        part = {"min" if metric.higher_is_better else "max": f"{bound!r} {unit}"}
        if draw(st.booleans()):
            part["target"] = f"{target!r} {unit}"
        found[metric.value] = part
    return found


@st.composite
def rspecs(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {
        "sites": tuple(draw(st.lists(NAMES, max_size=3))),
        "storage": f"{draw(SIZES)} B",
        "software": tuple(draw(st.lists(SOFTWARE, max_size=3))),
    }
    if draw(st.booleans()):
        found["bandwidth_ceiling"] = f"{draw(st.floats(1e13, 1e15))!r} bps"
    if draw(st.booleans()):
        found["compute"] = {
            "worker_nodes": draw(st.integers(1, 100_000)),
            "memory": f"{draw(SIZES)} B",
            "gpus": draw(st.integers(0, 100_000)),
        }
    return found


@st.composite
def templates(draw: st.DrawFn) -> Template:
    weighted = draw(st.sets(st.sampled_from(Metric), min_size=1))
    weights = {metric: draw(st.floats(0.001, 1000)) for metric in weighted}
    scored = draw(st.sets(st.sampled_from(Metric), max_size=3))
    return Template.model_validate(
        {
            "name": draw(NAMES),
            "version": draw(st.integers(1, 10**6)),
            "title": draw(TEXTS),
            "notes": draw(TEXTS),
            "match": {"applications": draw(st.lists(NAMES, max_size=2)), "ports": [22, "20000-20199"]},
            "qspec": draw(qspecs()),
            "rspec": draw(rspecs()),
            "weights": weights,
            "tables": {metric: draw(tables(metric)) for metric in scored},
            "priority": draw(st.integers(0, 999)),
            "cost": draw(st.sampled_from([None, {"result_ratio": 0.25, "local_copy": True}])),
        }
    )
