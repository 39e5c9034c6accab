"""A snapshot by real probe agents in an emulated cloud: hops, racks, rates and hoses as described."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.lab import UNSHARE
from measurement.health.model import Pair
from measurement.snapshot.documents import from_json
from tests.measurement.snapshot.snapshot_lab import HOSE


@pytest.mark.testbed
def test_hops_racks_and_hoses_are_found(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    argv = [sys.executable, "-m", "tests.measurement.snapshot.snapshot_lab", str(tmp_path), str(answer)]
    done = subprocess.run([*UNSHARE, *argv], capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(answer.read_text())
    found = from_json(told["snapshot"])
    assert found.whole, found.missing
    names = [f"r{rack}m{machine}g0" for rack in (0, 1) for machine in (0, 1)]
    assert sorted(found.instances) == names
    assert (found.hops[Pair(names[0], names[1])], found.hops[Pair(names[0], names[2])]) == (2, 4)
    assert {*found.racks} == {frozenset(names[:2]), frozenset(names[2:])}
    # Others may work beside us, so the bounds are wide; what is told apart is twice as much.
    assert all(0.7 * HOSE < rate < 1.2 * HOSE for rate in found.rates.values()), found.rates
    assert found.hoses == {name: pytest.approx(HOSE, rel=0.2) for name in names}
    assert told["constant"] == names
    # Nobody else sends: where a path was looked at for that, one connection has all of the link.
    ((pair, others),) = found.crossing.items()
    assert others < 0.5, pair
