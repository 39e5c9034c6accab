"""A snapshot of an emulated cloud by real probe agents; to be run in namespaces of its own.

``python -m tests.measurement.snapshot.snapshot_lab FOLDER ANSWER``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from measurement.model import to_json
from measurement.probes.agent_client import AgentClient
from measurement.probes.probe_types import TrainShape
from measurement.probes.secure_channel import read_key
from measurement.snapshot.snapshot_options import SnapshotOptions
from measurement.snapshot.snapshot_runner import take_snapshot
from mininet_topos.measurement_points import instances_of, start_agents
from mininet_topos.testbed import build_testbed
from tests.support.rack_tree import RackTree

HOSE = 40e6


def main(folder: Path, answer: Path) -> None:
    """Two racks of two instances, each behind a hose."""
    cloud = RackTree(instances=2, hose=HOSE / 1e6)
    with build_testbed(cloud, folder) as testbed, start_agents(testbed, cloud.instances, folder / "key"):
        key = read_key(folder / "key")
        how = SnapshotOptions(TrainShape(bursts=5, burst=120), interval=0.2, crossing=1)
        taken = asyncio.run(
            take_snapshot(instances_of(cloud), lambda one: AgentClient.connect(one, key), how)
        )
    told = {"snapshot": to_json(taken.snapshot), "constant": sorted(taken.constant), "failed": taken.failed}
    answer.write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
