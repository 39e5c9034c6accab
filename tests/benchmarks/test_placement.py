"""The solvers of the placement benchmark agree; its report is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.placement.exact_search import place_exactly
from adon.placement.greedy import place_greedily
from adon.placement.linear_program import place_by_linear_program
from benchmarks import placement
from benchmarks.placement import Case, draw_problem, place_with_cpsat


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("transfers", ["uniform", "heavy-tailed"])
def test_three_solvers_agree(transfers: str, seed: int) -> None:
    problem = draw_problem(Case(transfers, 4, 3, 0.0), seed)
    found = place_exactly(problem)
    assert found.proven
    program = place_by_linear_program(problem, 600.0)
    cpsat = place_with_cpsat(problem, place_greedily(problem), 600.0)
    for other in (program, cpsat):
        assert other.proven
        assert other.completion_time_s == pytest.approx(found.completion_time_s, rel=1e-3)


def test_report_has_a_row_for_each_solver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = Case("uniform", 4, 4, 600.0, drawn=2, cpsat=1, program=1)
    monkeypatch.setattr(placement, "CASES", (small, small))
    report = placement.report(placement.run(tmp_path, 1))
    assert report.count("uniform 4 x 4") == 6
    assert "2 of 2" in report
