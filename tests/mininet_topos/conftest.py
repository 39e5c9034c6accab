from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runtime folder of one test, with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp", ignore_cleanup_errors=True) as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield Path(short)
