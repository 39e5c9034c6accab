from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import adon
from adon.code_version import code_version

ROOT = Path(__file__).parents[1]


def version_of(root: Path) -> str:
    command = [sys.executable, "-c", "from adon.code_version import code_version; print(code_version())"]
    done = subprocess.run(
        command, cwd=root, env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_changed_module_that_decides_is_another_version(tmp_path: Path) -> None:
    for package in ("adon", "measurement"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "builtin")
        )
    assert version_of(tmp_path) == code_version()
    assert code_version().startswith(f"{adon.__version__}+")
    apart = tmp_path / "adon" / "flowvisor" / "openflow" / "__init__.py"
    apart.write_text(apart.read_text() + "# sent\n")
    assert version_of(tmp_path) == code_version(), "messages to switches decide nothing"
    module = tmp_path / "adon" / "broker" / "recompute" / "again.py"
    module.write_text(module.read_text() + "# decided\n")
    assert version_of(tmp_path) != code_version()
