"""docs/openflow-practice.md names every requirement once, and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "openflow-practice.md").read_text()
ROWS = re.findall(r"^\| (R.*?) \| .*$", PAGE, re.M)
SOURCES = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}


def test_every_requirement_is_there_once() -> None:
    named = [int(number) for row in ROWS for number in re.findall(r"R(\d+)", row)]
    assert sorted(named) == list(range(1, 27))


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(?:tests/[\w/]+/)?(test_\w+\.py)`", PAGE))))
def test_every_file_exists(name: str) -> None:
    assert any(path.name == name for path in SOURCES)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))))
def test_every_test_exists(name: str) -> None:
    assert any(f"def {name}(" in source for source in SOURCES.values())
