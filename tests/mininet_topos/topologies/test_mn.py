"""``mn --custom`` with ``adon serve``; topologies under the system's Python, as ``mn`` runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lab import UNSHARE
from mininet_topos.topology_catalog import BUILT_IN

PLAIN = """
from mininet.topo import Topo

class Plain(Topo):
    def build(self):
        one, two = self.addSwitch("s1", datapath="user"), self.addSwitch("s2", datapath="user")
        self.addLink(one, two)
        for host, switch in (("h1", one), ("h2", one), ("h3", two)):
            self.addLink(self.addHost(host), switch)

topos = {"plain": Plain}
"""
ROOT = Path(__file__).parents[3]
IMPORTED = """
import runpy, sys
topos = runpy.run_path(sys.argv[1])["topos"]
topo = topos[sys.argv[2]]()
packages = {name.split(".")[0] for name in sys.modules}
print(len(topo.paths), *sorted(packages & {"adon", "apps", "measurement", "mininet_topos", "pydantic"}))
"""


@pytest.mark.integration
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_system_s_python_describes_a_topology_with_mininet_alone(name: str, tmp_path: Path) -> None:
    file = ROOT / "mininet_topos" / "topologies" / f"{name}.py"
    argv = ["/usr/bin/python3", "-I", "-c", IMPORTED, str(file), name]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    paths, *imported = done.stdout.split()
    assert int(paths) >= 2
    assert imported == ["mininet_topos"]


def under_mn(topology: str, folder: Path, *words: str) -> dict[str, Any]:
    """What :mod:`tests.mininet_topos.topologies.mn_and_adon` found."""
    module = "tests.mininet_topos.topologies.mn_and_adon"
    argv = [*UNSHARE, sys.executable, "-m", module, topology, str(folder), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "answer.json").read_text())
    assert "3 packets transmitted, 3 received" in found["printed"], found
    return found


@pytest.mark.testbed
def test_a_ping_and_a_flow_of_adon_cross_both_edges_under_mn(tmp_path: Path) -> None:
    found = under_mn("mu_osu", tmp_path, "mu-dtn", "osu-dtn", "al2s")
    assert found["path"] == "al2s"
    # Over layer 3 there are three routers between the DTNs.
    assert re.findall(r"^ +\d+ +(\S+)", found["printed"].partition("traceroute to")[2], re.M) == ["10.2.0.10"]


@pytest.mark.testbed
def test_hosts_of_a_plain_topology_ping_and_have_a_flow_of_adon_under_mn(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text(PLAIN)
    found = under_mn(str(file), tmp_path, "h1", "h3")
    assert found["path"] == "s1-s2"
    assert re.search(r"n_packets=[1-9].*nw_src=10.0.0.1,nw_dst=10.0.0.3,tp_dst=80 ", found["printed"]), found
