from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mininet_topos.testbed import build_testbed
from mininet_topos.topologies.mu_osu import MuOsu
from tests.mininet_topos.isolated import start
from tests.mininet_topos.measured import SCALE
from tests.support.refusals import refused


@pytest.fixture
def measured() -> Iterator[Callable[[str], Any]]:
    """Run a function of :mod:`tests.mininet_topos.measured` inside a testbed and return its answer."""
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp") as short:

        def run(name: str) -> Any:
            answer = Path(short) / "answer.json"
            argv = [sys.executable, "-m", "tests.mininet_topos.measured", name, str(answer)]
            process = start("host", Path(short), argv)
            output, _ = process.communicate()
            assert process.returncode == 0, output
            return json.loads(answer.read_text())

        yield run


def test_it_is_never_built_in_the_machines_own_network(tmp_path):
    with refused("unavailable"), build_testbed(MuOsu(), tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.testbed
def test_built_network_forwards_along_both_paths_at_their_rates(measured):
    found, paths = measured("both_paths"), MuOsu(scale=SCALE).paths
    assert found.keys() == paths.keys()
    for name, path in paths.items():
        assert 0.6 * path.goodput < found[name]["goodput"] < 1.1 * path.goodput, found
        assert (found[name]["transit"] > 0) == (path.layer == 2), found


@pytest.mark.testbed
def test_circuit_that_was_changed_is_restored_with_its_routes(measured):
    found = measured("changed_links")
    assert (found["before"], found["down"], found["restored"]) == (True, False, True)
    assert _rate(found["changed"]) == 400_000
    for rate in ("undone", "built"):
        assert _rate(found[rate]) == pytest.approx(MuOsu(scale=SCALE).circuits["routed"].shape.rate, abs=8)


def _rate(classes: str) -> float:
    """Bits/s of a class as ``tc`` prints it; the kernel holds whole bytes/s."""
    number, prefix = re.search(r"rate (\d+)([KM]?)bit", classes).groups()
    return float(number) * {"": 1, "K": 1e3, "M": 1e6}[prefix]
