"""What the pages about templates and decisions are made of: pure functions of the API's documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import Template
from adon.templates_catalog.writing import as_text
from apps.dashboard.policy import (
    advice,
    backtested,
    checked,
    computing,
    curves,
    differing,
    filters,
    in_force,
    scoring,
    spans,
)
from apps.dashboard.policy.editor import START
from apps.dashboard.policy.health import by_template
from apps.dashboard.policy.words import bounds, weights
from tests.dashboard.reading import parts, text


def test_a_new_template_begins_without_a_mistake() -> None:
    assert yamlfile.parse_model(as_text(START), Template).name == "my-application"


@given(
    st.lists(
        st.tuples(st.integers(1, 1000), st.integers(1, 10)),
        min_size=2,
        max_size=6,
        unique_by=lambda one: one[0],
    ),
    st.booleans(),
)
def test_a_table_is_drawn_as_it_scores(some: list[tuple[int, int]], step: bool) -> None:
    points = tuple((float(value), float(score)) for value, score in sorted(some))
    table = LookupTable(points=points, step=step)
    line = curves.drawn(points, step=step)
    assert [value for value, _ in line] == sorted(value for value, _ in line)
    for value, score in line:
        # Where a step goes up the line has both scores at one value.
        assert score in (table.score(value), table.score(value - 1e-9))


def test_a_unit_fits_the_values() -> None:
    assert curves.scale("throughput", [7e6, 5e7]) == (1e6, "Mbps")
    assert curves.scale("rtt", [0.03]) == (1e-3, "ms")
    assert curves.scale("loss", [0.001]) == (0.01, "%")
    assert curves.scale("jitter", []) == (1e-6, "µs")


def test_texts_stand_line_beside_line() -> None:
    found = differing.rows("a\nb\nc", "a\nx\ny\nc")
    assert [(one.left, one.right, one.same) for one in found] == [
        ("a", "a", True),
        ("b", "x", False),
        (None, "y", False),
        ("c", "c", True),
    ]
    assert "− b" in text(differing.side_by_side("b", "x", ("1", "2")))


def metric(name: str, value: float | None, score: float | None, weight: float, **more: Any) -> dict[str, Any]:
    common = {"bound": 7e6, "bound_met": True, "age_seconds": 3.0, "unknown": "", "basis": "active test"}
    known = {"metric": name, "value": value, "score": score, "weight": weight, "observed_at": None}
    return {**common, **known, "unit": "bps", "source": "", **more}


def decision(**changes: Any) -> dict[str, Any]:
    one = {
        "path": "al2s",
        "verdict": "qualified",
        "why": "",
        "q": 5.68,
        "metrics": [metric("throughput", 58e6, 5.95, 0.8), metric("loss", 0.03, 4.6, 0.2)],
    }
    two = {
        "path": "internet",
        "verdict": "unknown",
        "why": "loss was never measured",
        "q": None,
        "metrics": [metric("throughput", 6e6, 1.0, 0.8, bound_met=False), metric("loss", None, None, 0.2)],
    }
    tables = {"throughput": {"points": [[7e6, 1.0], [1e8, 10.0]], "step": False}}
    common = {"path": "al2s", "at": "2026-11-22T00:00:00Z", "compute_site": "hpc", "compute": []}
    return {**common, "candidates": [one, two], "tables": tables, **changes}


def test_contributions_are_q() -> None:
    found = decision()["candidates"]
    assert sum(scoring.contributions(found[0]).values()) == pytest.approx(5.68)
    assert scoring.contributions(found[1]) == pytest.approx({"throughput": 0.8})


def test_the_scoring_table_tells_what_was_missed_and_what_is_not_known() -> None:
    said = text(scoring.scoring_table(decision()))
    for words in ("chosen", "qualifies", "missed", "not known", "4.76", "active test", "58 Mbps"):
        assert words in said, words


def test_q_is_a_bar_of_contributions_and_a_sentence() -> None:
    figure = scoring.q_figure(decision()["candidates"], "al2s")
    assert [bar.name for bar in figure.data] == ["Throughput", "Loss"]
    assert list(figure.data[0].x) == pytest.approx([4.76, 0.8])
    picture = scoring.q_picture(decision())
    assert picture is not None
    assert "al2s: Q 5.68; internet: no Q" in text(picture)
    assert scoring.q_picture(decision(candidates=[])) is None


def test_measured_values_stand_on_their_table() -> None:
    (drawn,) = scoring.table_pictures(decision())
    assert "al2s: 58 Mbps scores 5.95; internet: 6 Mbps scores 1.00" in text(drawn)


def site(name: str, **changes: Any) -> dict[str, Any]:
    terms = {"total": 46.0, "queue": 20.0, "compute": 45.0, "network": 1.0, "duplication": 0.0}
    sizes = {"compute_size_bytes": 1, "transfer_size_bytes": 10**6, "nodes": 1, "node_rate_bps": 8e6}
    rates = {"theoretical_bps": 1e7, "available_bps": 5e7, "cost": 46.0}
    words = {"local": True, "path": "al2s", "why": "", "campus": "mu", "origins": {"queue": "as configured"}}
    seconds = {f"{term}_seconds": value for term, value in terms.items()}
    return {"site": name, **seconds, **sizes, **rates, **words, "deviations": {"total": 2.0}, **changes}


def test_a_site_s_bar_is_as_long_as_its_total() -> None:
    figure = computing.sites_figure([site("hpc")])
    assert sum(bar.x[0] for bar in figure.data) == pytest.approx(46.0)


def test_an_impossible_site_is_told_and_not_drawn() -> None:
    impossible = site("far", total_seconds="inf", network_seconds="inf", cost="inf", why="no path")
    found = decision(compute=[site("hpc"), impossible])
    said = text(computing.sites_table(found))
    assert "46 s ± 2 s" in said.replace("  ", " ")
    assert "impossible" in said
    assert "no path" in said
    assert computing.sites_picture(decision(compute=[impossible])) is None


def test_a_token_bucket_is_told_with_the_rate_that_rests_on_it() -> None:
    words = "a token bucket that fits the intervals of an active test: 25 MB at 50 Mbps, then 10 Mbps"
    throttled = site("far", local=False, origins={"available": words}, available_basis=words.split(":")[0])
    assert f"Γ_a: {words}" in text(computing.sites_table(decision(compute=[throttled])))


def test_health_is_by_template_whatever_the_version() -> None:
    def outcome(of: str, kept: bool, error: float | None, admitted: str | None = "t") -> dict[str, Any]:
        return {
            "template": of,
            "kept": kept,
            "error": error,
            "admitted_at": admitted,
            "ended_at": f"{of} end",
        }

    found = by_template(
        [
            outcome("a@2", True, 0.5),
            outcome("a@1", False, None),
            outcome("a@1", False, None, None),
            outcome("b@1", True, -0.1),
        ]
    )["a"]
    assert (found.flows, found.judged, found.kept, found.error, found.last) == (3, 2, 1, 0.5, "a@2 end")


def test_bounds_and_weights_in_words() -> None:
    qspec = {"throughput": {"min": "7000000.0 bps"}, "loss": {"max": "0.05 ratio"}, "rtt": None}
    assert text(bounds(qspec)) == "throughput ≥ 7 Mbps loss ≤ 5 %"
    assert text(weights({"loss": 1, "throughput": 3, "rtt": 0})) == "throughput 75 %, loss 25 %"


def test_problems_stand_by_line_and_field() -> None:
    found = [
        {"field": "qspec.loss.max", "cause": "has no unit", "line": 3},
        {"field": "", "cause": "is empty", "line": None},
    ]
    drawn = checked.problems(found)
    assert "line 3" in text(drawn)
    assert "qspec.loss.max" in text(drawn)
    assert [one.id["line"] for one in parts(drawn) if isinstance(getattr(one, "id", None), dict)] == [3]
    marked = [one.children for one in checked.gutter("a\nb\nc", [3]) if "wrong" in one.className]
    assert marked == ["! 3"]


def test_a_setting_that_holds_others_is_told() -> None:
    one = {"name": "queue", "value": {"groups": "slice", "weights": {}}, "configured": False, "meaning": "x"}
    said = text(in_force._setting(one))
    assert "Shared between slices" in said
    reserved = {"name": "queue", "value": {"reservable": 0.8, "x_y": True}, "configured": True, "meaning": ""}
    assert "Of a path that can be reserved 80 %" in text(in_force._setting(reserved))
    assert "X y yes" in text(in_force._setting(reserved))
    assert "not set" not in said
    grants = [
        {"may": "read", "roles": ["researcher"], "to": None},
        {"may": "start", "roles": None, "to": ["osu"]},
    ]
    said = text(
        in_force._setting({"name": "measurement_access", "value": grants, "configured": True, "meaning": ""})
    )
    assert "researcher" in said
    assert "anything" in said


def test_a_backtest_in_a_sentence() -> None:
    nothing = {"flows": [], "moved": 0, "saved_seconds": 0.0}
    assert "No flow was asked for" in backtested.summary(nothing)
    some = {"flows": [1, 2], "moved": 1, "saved_seconds": -90.0}
    assert backtested.summary(some) == "1 of 2 flows would have gone another way; 90 s lost altogether."


def test_filters_stand_in_the_address() -> None:
    assert (
        filters.address("/decisions", {"path": "al2s", "site": ""}, before="x=")
        == "/decisions?path=al2s&before=x%3D"
    )
    assert filters.address("/decisions", {}) == "/decisions"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (None, None),
        ("", None),
        ("1h", "1970-01-01T01:00:00Z"),
        ("x", "x"),
        ("2026-11-22T00:00:00Z", "2026-11-22T00:00:00Z"),
    ],
)
def test_how_far_back(chosen: str | None, expected: str | None) -> None:
    assert spans.since(chosen, 7200.0) == expected


def test_advice_is_asked_for_with_what_was_filled_in() -> None:
    typed = {
        "rate": "10 Gbps",
        "loss": "",
        "sender": "net.core.rmem_max = 1",
        "streams": "4",
        "tool": "irods",
    }
    assert advice.question(typed, "f-1") == {
        "flow": "f-1",
        "path": {"rate": "10 Gbps"},
        "sender": {"text": "net.core.rmem_max = 1"},
        "streams": 4,
        "tool": "irods",
    }
    with pytest.raises(InvalidInput):
        advice.question({"streams": "many"}, None)
