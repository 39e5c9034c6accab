"""The first process of an emulated cloud that a test runs something in, and what starts it.

An *experiment* is ``module:function``; the function is given the namespace's own empty folder, builds what
clouds it likes, and returns what is JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from mininet_topos.old_isolation import default_folder, run_folder, run_isolated

ROOT = Path(__file__).parent.parent.parent.parent


def run_inside(target: str, name: str, folder: Path, timeout: float = 120) -> Any:
    """Run an experiment in namespaces of its own; what it returned.

    :param name: of the testbed, one per test.
    :param folder: for the answer and the log.
    """
    answer, log = folder / "answer.json", folder / "log"
    argv = [sys.executable, "-m", "tests.mininet_topos.cloud.inside", target, str(answer)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        run_folder(default_folder(name)) as owned,
        log.open("wb") as output,
        run_isolated(
            [*argv, str(owned.path)], owned, environment=environment, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        status = process.wait(timeout)
    assert status == 0, log.read_text(errors="replace")
    return json.loads(answer.read_text())


def main() -> None:
    target, answer, folder = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    module, _, name = target.partition(":")
    experiment = getattr(importlib.import_module(module), name)
    Path(answer).write_text(json.dumps(experiment(Path(folder))))


if __name__ == "__main__":
    main()
