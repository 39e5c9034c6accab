"""What is told to srun puts each task where it is to be: on a Slurm of three nodes on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from adon.placement.methods import Method
from adon.placement.model import Placement
from adon.placement.slurm import Form, told
from tests.measurement.custom.slurm_site import cluster, missing

NODES = ("vm-a", "vm-b", "vm-c")
PLACED = Placement(
    {"first": "vm-b", "second": "vm-a", "third": "vm-c", "fourth": "vm-b"}, 1.0, None, Method.GREEDY
)


def test_a_machine_of_two_tasks_is_one_node_and_two_lines() -> None:
    assert told(PLACED, Form.NODELIST) == "vm-b,vm-a,vm-c"
    assert told(PLACED, Form.HOSTFILE).splitlines() == ["vm-b", "vm-a", "vm-c", "vm-b"]
    assert told(PLACED, Form.OPTIONS) == "--ntasks=4 --distribution=arbitrary"


@pytest.mark.integration
@pytest.mark.skipif(bool(missing()), reason=f"lacks {', '.join(missing())}")
def test_ranks_are_on_their_machines(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(told(PLACED, Form.HOSTFILE) + "\n")
    with cluster(NODES) as configuration:
        done = subprocess.run(
            ["srun", *told(PLACED, Form.OPTIONS).split(), "sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME"],
            env={**os.environ, "SLURM_CONF": str(configuration), "SLURM_HOSTFILE": str(hosts)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    ran = [line.split() for line in sorted(done.stdout.splitlines())]
    assert ran == [[str(rank), node] for rank, node in enumerate(PLACED.machines.values())]
