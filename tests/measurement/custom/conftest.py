"""Stand-ins for the programs that custom metrics run: small scripts that print prepared answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a shell script on the PATH of this test, under a name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name: str, body: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return program

    return put
