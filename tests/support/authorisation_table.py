"""Who may do what: tests/apps/authorisation_matrix.txt."""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).parents[1] / "apps" / "authorisation_matrix.txt"
SCOPES = {"any", "own", "none"}


def table() -> dict[tuple[str, str], dict[str, str]]:
    """Of each operation who may, by role; ``None`` for nobody's name stands as ``anonymous``."""
    lines = TABLE.read_text().splitlines()
    head = next(line for line in lines if line.startswith("# operation")).split()[2:]
    found = {}
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        method, path, *cells = line.split()
        assert len(cells) == len(head), line
        assert set(cells) <= SCOPES, line
        found[method, path] = dict(zip(head, cells, strict=True))
    return found


EXPECTED = table()
