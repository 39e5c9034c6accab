"""A snapshot of an emulated cloud by real probe agents; to be run in namespaces of its own.

``python -m tests.measurement.snapshot.snapshot_lab FOLDER ANSWER``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from measurement.probes.client import Agent
from measurement.probes.key import read_key
from measurement.probes.train import Shape
from measurement.snapshot.documents import to_json
from measurement.snapshot.taking import take
from measurement.snapshot.wanted import Taking
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import built
from mininet_topos.cloud.choreo import tree

HOSE = 40e6


def main(folder: Path, answer: Path) -> None:
    """Two racks of two instances, each behind a hose."""
    with built(tree(2, 2, hose=HOSE), folder) as running, agents(running, folder / "key"):
        key = read_key(folder / "key")
        how = Taking(Shape(bursts=5, burst=40), interval=0.2, crossing=1)
        taken = asyncio.run(take(running.instances, lambda one: Agent.connect(one, key), how))
    told = {"snapshot": to_json(taken.snapshot), "constant": sorted(taken.constant), "failed": taken.failed}
    answer.write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
