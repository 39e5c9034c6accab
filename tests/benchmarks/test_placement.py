"""The yardsticks of the placement benchmarks solve the problem that ours does; reports are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.placement.exact import exact
from adon.placement.workloads import Transfers
from benchmarks import placement
from benchmarks.placement import Size, drawn
from benchmarks.placement_cpsat import cpsat
from benchmarks.placement_printed import objective


@pytest.mark.parametrize("transfers", Transfers)
@pytest.mark.parametrize("seed", [1, 2])
def test_three_solvers_agree(transfers: Transfers, seed: int) -> None:
    problem = drawn(Size(transfers, 4, 3, 0.0), seed)
    ours = exact(problem)
    assert ours.proven
    assert objective(problem) == pytest.approx(ours.seconds, rel=1e-6)
    theirs = cpsat(problem, None, 30.0) if ours.seconds == 0 else cpsat(problem, ours, 30.0)
    assert theirs["proven"]
    assert theirs["completion"] == pytest.approx(ours.seconds, rel=1e-3, abs=1e-3)


def test_proofs_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = Size(Transfers.UNIFORM, 4, 4, 5.0)
    monkeypatch.setattr(placement, "SEEDS", 2)
    monkeypatch.setattr(placement, "YARDSTICK_SEEDS", 1)
    monkeypatch.setattr(placement, "PRINTED_S", 0.5)
    monkeypatch.setattr(placement, "PROVEN", (small, small))
    monkeypatch.setattr(placement, "SECOND", (small,))
    results = placement.run(tmp_path, 1)
    assert "2 of 2" in placement.report(results)
    assert "0.5 s" in placement.report(results)
