"""Each verb of the Makefile sets up what it needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def dry_run(verb: str) -> list[str]:
    """The commands of a verb, which are not run."""
    argv = ["make", "--dry-run", "--no-print-directory", verb]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_experiments_have_a_guest_where_the_kernel_has_no_netem() -> None:
    *setting_up, carried_out = dry_run("experiments")
    assert setting_up == ["scripts/setup.sh", "scripts/setup.sh guest"]
    assert "apps.experiments.whole_set" in carried_out
