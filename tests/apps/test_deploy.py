from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon.errors import NotFound
from apps.cli.main import app
from apps.deploy.kept import names, text

EXPOSED_AT_MOST = 20
"""Of 100, by ``systemd-analyze security``; to serve in the network costs some."""


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, as installed where there is a program to start."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/adon").write_text("#!/bin/sh\n")
    (tmp_path / "bin/adon").chmod(0o755)
    for name in ("adon.service", "adon.socket"):
        (tmp_path / name).write_text(text(name, tmp_path))
    return tmp_path


def analysed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert shutil.which("systemd-analyze"), "scripts/setup.sh test installs it"
    command = ["systemd-analyze", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_no_gap_is_left_to_fill_in() -> None:
    assert {"adon.service", "adon.socket", "Containerfile"} <= set(names())
    assert all("@PREFIX@" not in text(name, Path("/opt/adon")) for name in names())
    with pytest.raises(NotFound, match=r"passwd"):
        text("../../../../../etc/passwd", Path("/opt/adon"))


@pytest.mark.integration
def test_systemd_finds_nothing_wrong_with_the_units(units: Path) -> None:
    done = analysed(units, "verify", "./adon.service", "./adon.socket")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.integration
def test_the_service_is_confined(units: Path) -> None:
    done = analysed(
        units, "security", "--offline=yes", f"--threshold={EXPOSED_AT_MOST}", "--no-pager", "./adon.service"
    )
    assert done.returncode == 0, done.stdout
    exposed = [line for line in done.stdout.splitlines() if line.startswith("✗")]
    assert exposed, "the report's form is not what this test reads"
    assert not [line for line in exposed if "CapabilityBoundingSet" in line or "NoNewPrivileges" in line]


def test_the_command_prints_them() -> None:
    runner = CliRunner()
    assert json.loads(runner.invoke(app, ["deploy", "list", "--json"]).stdout) == names()
    assert "[Socket]" in runner.invoke(app, ["deploy", "show", "adon.socket"]).stdout
    assert runner.invoke(app, ["deploy", "show", "nothing"]).exit_code == 1


def test_what_the_container_is_started_with_is_a_command_of_ours() -> None:
    lines = text("Containerfile", Path("/opt/adon")).splitlines()
    (entry,) = [json.loads(line.partition(" ")[2]) for line in lines if line.startswith("ENTRYPOINT ")]
    (start,) = [json.loads(line.partition(" ")[2]) for line in lines if line.startswith("CMD ")]
    (health,) = [json.loads(line.rpartition("CMD ")[2]) for line in lines if line.startswith("HEALTHCHECK ")]
    assert entry[-1] == health[0] == "adon"
    runner = CliRunner()
    for words in (start, health[1:]):
        help_ = runner.invoke(app, [words[0], "--help"])
        assert help_.exit_code == 0
        assert [word for word in words if word.startswith("--") and word not in help_.stdout] == []
    assert "USER 10001:10001" in lines, "never as root"
