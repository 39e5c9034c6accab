"""Failures, inside namespaces of their own: ``python -m benchmarks.failures_inside FOLDER SEED ROUNDS``.

One JSON value on standard output: per form of link failure and per scene, a list of rounds in which they took
turns.  :mod:`benchmarks.failures` says what they mean.
"""

from __future__ import annotations

import json
import random
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.failures_links import FORMS, round_of
from benchmarks.failures_scenes import SCENES, goes_first, play
from benchmarks.lab import lab
from tests.apps.edge import Controller


def main() -> None:
    """All rounds."""
    folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    links: dict[str, list[Any]] = {form: [] for form in FORMS}
    scenes: dict[str, list[Any]] = {name: [] for name in SCENES}
    with lab(folder) as network, ExitStack() as lasting:
        goes_first(network)
        controller = Controller(folder, counters_period="1 h", consistency_period="1 h", drain="200 ms")
        for number in range(rounds):
            network.connect(controller.port)
            for form in chance.sample(list(FORMS), len(FORMS)):
                print(f"round {number + 1}: link down, {form}", file=sys.stderr)
                links[form].append(round_of(network, controller, form))
            for name in chance.sample(list(SCENES), len(SCENES)):
                print(f"round {number + 1}: {name}", file=sys.stderr)
                scenes[name].append(play(network, name, lasting))
    print(json.dumps({"links": links, "scenes": scenes}))


if __name__ == "__main__":
    main()
