"""A live UDP flow of 1 000 packets/s to the layer-3 path and back; to be run in namespaces of its own."""

from __future__ import annotations

import json
import random
import sys
from itertools import groupby
from pathlib import Path

from benchmarks import moves_inside
from benchmarks.edges import Controller
from benchmarks.lab import lab


def main() -> None:
    folder, chance = Path(sys.argv[1]), random.Random(1)
    with lab(folder) as network:
        controller = Controller(folder, counters_period="1 h", consistency_period="1 h")
        network.connect(controller.port)
        with moves_inside.controlled(network, controller, None, moves_inside.DRAIN_MS) as driver:
            moves_inside.begun(driver, controller)
            seen = moves_inside.traffic(
                network, 1_000, moves_inside.PORT, lambda: moves_inside.moved(driver, 2, chance)
            )
    left = sorted((at, path) for path, times in seen.left.items() for at in times)
    answer = {**seen.arrivals, "paths": [path for path, _ in groupby(path for _, path in left)]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
