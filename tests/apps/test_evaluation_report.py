"""Report of an evaluation: escaped texts, and the map of the reference."""

from __future__ import annotations

import pytest

from adon.evaluation_file import BUILTIN, parse_evaluation
from apps.figures.evaluation_figures import draw_distance_map
from apps.figures.evaluation_report import render_report
from apps.figures.map_layout import lay_out_map
from measurement.ceem.blueprint import draw_blueprint, plan_run
from tests.support.evaluation_documents import TEXT


def test_texts_of_users_are_escaped() -> None:
    text = TEXT.replace("A small one", "'<script>alert(1)</script>'")
    template = parse_evaluation(text)
    run = plan_run(template, draw_blueprint(template.design), "<b>", 1.0, {"<i>": "</pre>"}, {})
    page = render_report(template, text, run)
    assert "<script>alert" not in page
    assert "Run <b>&lt;b&gt;</b>" in page
    assert "<i>" not in page


def test_distances_of_a_plane_are_drawn_exactly() -> None:
    layout = lay_out_map("abc", {("a", "b"): 3.0, ("b", "c"): 4.0, ("a", "c"): 5.0, ("a", "a"): float("inf")})
    assert layout.stress == pytest.approx(0, abs=1e-3)
    assert layout.distance(("a", "c")) == pytest.approx(5, rel=1e-3)


def test_map_of_the_reference_has_its_residual_stress() -> None:
    figure, stress = draw_distance_map(BUILTIN.reference("nectar"), ratio=1.0)
    assert 0.1 < stress < 0.15
    assert len([trace for trace in figure.data if trace.mode == "text"]) == 15
    assert len(figure.layout.shapes) == 5
