"""The smoke experiment for real, on the host and in the guest: decided, carried, kept, told, and gone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from adon.experiments.measures import Observed
from adon.experiments.results import State
from adon.experiments.verdicts import Outcome, verdicts
from apps.experiments import folder

TIMEOUT_S = 300.0
"""Of a run that takes less than a minute where nothing else runs."""


@pytest.mark.testbed
@pytest.mark.parametrize("platform", ["host", pytest.param("guest", marks=pytest.mark.slow)])
def test_the_smoke_experiment(platform: str, tmp_path: Path) -> None:
    words = ["experiment", "run", "smoke", "--platform", platform, "--results", str(tmp_path)]
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp") as runtime:  # sockets' paths are short
        done = subprocess.run(
            [sys.executable, "-m", "apps.cli.main", *words],
            env={**os.environ, "XDG_RUNTIME_DIR": runtime},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert list(Path(runtime).iterdir()) == []
    path = folder.named("smoke", tmp_path)
    run = folder.read(path)
    assert run.about.state is State.COMPLETE, done.stdout + done.stderr
    assert run.about.platform["name"].startswith(platform)
    found = {one.claim: one for one in verdicts(folder.document(path).experiment, Observed.of(run))}
    # What depends on how busy the machine is, is no test's matter.
    for claim in ("layer 2", "every byte arrives"):
        assert found[claim].outcome is Outcome.HELD, found[claim].found
    assert run.tables.decisions
    assert run.tables.throughput
