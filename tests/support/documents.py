"""The documents that tests of the documentation read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
)
