"""A snapshot by real probe agents in an emulated cloud: hops, racks, rates and hoses as described."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lab import UNSHARE
from measurement.health.model import Pair
from measurement.model import from_json
from measurement.snapshot.model import Snapshot
from tests.measurement.snapshot.snapshot_lab import HOSE
from tests.undisturbed import undisturbed


def taken(folder: Path) -> dict[str, Any]:
    """What the lab tells."""
    folder.mkdir()
    answer = folder / "answer.json"
    argv = [sys.executable, "-m", "tests.measurement.snapshot.snapshot_lab", str(folder), str(answer)]
    done = subprocess.run([*UNSHARE, *argv], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(answer.read_text())
    return told


def carried(told: dict[str, Any]) -> bool:
    """Whether all of it was carried, so that nobody seems to send beside it."""
    found = from_json(Snapshot, told["snapshot"])
    rates = [*found.rates.values(), *found.hoses.values()]
    return found.whole and min(rates) > 0.8 * HOSE and max(found.crossing.values()) < 0.5


@pytest.mark.testbed
def test_hops_racks_and_hoses_are_found(tmp_path: Path) -> None:
    folders = (tmp_path / str(number) for number in itertools.count())
    told = undisturbed(lambda: taken(next(folders)), carried)
    found = from_json(Snapshot, told["snapshot"])
    assert found.whole, found.missing
    names = [f"r{rack}g{number}" for rack in (0, 1) for number in (0, 1)]
    assert sorted(found.instances) == names
    assert (found.hops[Pair(names[0], names[1])], found.hops[Pair(names[0], names[2])]) == (2, 4)
    assert {*found.racks} == {frozenset(names[:2]), frozenset(names[2:])}
    # Others may work beside us, so the bounds are wide; what is told apart is twice as much.
    for rates in (found.rates, found.hoses):
        assert all(0.7 * HOSE < rate < 1.2 * HOSE for rate in rates.values()), rates
    assert sorted(found.hoses) == names
    assert told["constant"] == names
    # Nobody else sends: where a path was looked at for that, one connection has all of the link.
    ((pair, others),) = found.crossing.items()
    assert others < 0.5, pair
