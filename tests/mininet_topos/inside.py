"""The first process of a testbed that a test runs something in: ``inside MODULE:FUNCTION FOLDER ANSWER``.

A function whose attribute ``topology`` is a function has another network than mu_osu.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
from pathlib import Path

from mininet_topos.networks import named
from mininet_topos.old_testbed import testbed

OPENFLOW_PORT = 6653


def main() -> None:
    target, folder, answer = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    module, _, name = target.partition(":")
    experiment = getattr(importlib.import_module(module), name)
    topology = getattr(experiment, "topology", lambda: named("mu_osu").topology)()
    with testbed(topology, Path(folder), OPENFLOW_PORT) as built:
        Path(answer).write_text(json.dumps(experiment(built)))


if __name__ == "__main__":
    main()
