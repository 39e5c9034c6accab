"""Figures of a run: bars as table V stands, a map to its scale."""

from __future__ import annotations

import math

import pytest

from adon.evaluations.builtins import reference
from apps.figures import evaluation as figures
from measurement.evaluation.wording import name


def test_paths_that_vary_stand_out() -> None:
    results = reference("nectar").results()
    (bars,) = figures.variation(results, 0.1).data
    known = {path: cov for path, cov in results.covs().items() if cov is not None}
    assert list(bars.y) == [name(path) for path in known]
    assert list(bars.x) == list(known.values())
    varied = [cov >= 0.1 for cov in known.values()]
    assert [colour == figures.VARIED for colour in bars.marker.color] == varied
    assert {*varied} == {False, True}


def test_a_map_has_a_line_per_path_and_circles_in_the_ratio_of_diameters() -> None:
    results = reference("nectar").results()
    drawn, stress = figures.distance_map(results, 1.0)
    lines = [trace for trace in drawn.data if trace.mode == "lines"]
    assert len(lines) == len(results.distances(1.0, clients=True))
    assert 0 < stress < 1
    diameters = results.diameters(1.0)
    wide = {node: shape.x1 - shape.x0 for node, shape in zip(diameters, drawn.layout.shapes, strict=True)}
    one = next(iter(diameters))
    for node, its in diameters.items():
        assert wide[node] / wide[one] == pytest.approx(its / diameters[one])


def test_distances_are_drawn_by_their_magnitude() -> None:
    results = reference("nectar").results()
    wanted = figures.scaled(results, 2.0)
    for path, its in results.distances(clients=True).items():
        assert wanted[path] == pytest.approx(2 * (1 + math.log10(its)) if its > 1 else 2 * its)
