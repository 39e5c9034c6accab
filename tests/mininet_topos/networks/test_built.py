"""Networks built for real: campuses reach each other, and every path leads over its switches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mininet_topos.old_isolation import default_folder, run_folder, run_isolated

ROOT = Path(__file__).parents[3]


def built(network: str, name: str, folder: Path, *sites: str) -> Any:
    """What :mod:`tests.mininet_topos.networks.every_path` found."""
    answer, log = folder / "answer.json", folder / "log"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with run_folder(default_folder(name)) as run, log.open("wb") as output:
        module = "tests.mininet_topos.networks.every_path"
        argv = [sys.executable, "-m", module, network, str(run.path), str(answer), *sites]
        with run_isolated(argv, run, environment=environment, stdout=output, stderr=subprocess.STDOUT) as one:
            status = one.wait(120)
    assert status == 0, log.read_text(errors="replace")
    return json.loads(answer.read_text())


@pytest.mark.testbed
@pytest.mark.parametrize(
    ("network", "sites", "paths"),
    [
        ("choreo_tree", ("r1", "r4"), ["root1-r1-r4", "root2-r1-r4", "routed-r1-r4"]),
        ("five_sites", ("nw", "ne"), ["first-nw-ne", "second-nw-ne", "internet-nw-ne"]),
    ],
    ids=["choreo_tree", "five_sites"],
)
def test_a_network_is_built_and_each_path_leads_over_its_switches(
    network: str, sites: tuple[str, ...], paths: list[str], testbed_name: str, tmp_path: Path
) -> None:
    found = built(network, testbed_name, tmp_path, *sites)
    assert set(found["campus"].values()) == {True}
    assert found["paths"] == dict.fromkeys(paths, True)
    assert found["passed"] == found["expected"]
    assert all(found["expected"].values())
