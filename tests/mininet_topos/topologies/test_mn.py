"""``mn --custom`` with ``adon serve``; topologies under the system's Python, as ``mn`` runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.lab import UNSHARE
from mininet_topos.networks import names

ROOT = Path(__file__).parents[3]
IMPORTED = """
import runpy, sys
topos = runpy.run_path(sys.argv[1])["topos"]
topo = topos[sys.argv[2]]()
packages = {name.split(".")[0] for name in sys.modules}
print(len(topo.paths), *sorted(packages & {"adon", "apps", "measurement", "mininet_topos", "pydantic"}))
"""


@pytest.mark.integration
@pytest.mark.parametrize("name", names())
def test_the_system_s_python_describes_a_topology_with_mininet_alone(name: str, tmp_path: Path) -> None:
    file = ROOT / "mininet_topos" / "topologies" / f"{name}.py"
    argv = ["/usr/bin/python3", "-I", "-c", IMPORTED, str(file), name]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    paths, *imported = done.stdout.split()
    assert int(paths) >= 2
    assert imported == ["mininet_topos"]


@pytest.mark.testbed
def test_a_ping_and_a_flow_of_adon_cross_both_edges_under_mn(tmp_path: Path) -> None:
    module = "tests.mininet_topos.topologies.mn_and_adon"
    argv = [*UNSHARE, sys.executable, "-m", module, "mu_osu", str(tmp_path), "mu-dtn", "osu-dtn"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "answer.json").read_text())
    assert "3 packets transmitted, 3 received" in found["printed"]
    assert found["path"] == "al2s"
    # Over layer 3 there are three routers between the DTNs.
    assert re.findall(r"^ +\d+ +(\S+)", found["printed"].partition("traceroute to")[2], re.M) == ["10.2.0.10"]
