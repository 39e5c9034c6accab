"""Conventions of the tests themselves."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
INTERNALS = re.compile(r"\bbroker\.(world|_\w+)|\._world\b")


def test_only_support_reads_the_internals_of_a_broker() -> None:
    found = [
        f"{file.relative_to(TESTS)}:{number}"
        for file in sorted(TESTS.rglob("*.py"))
        if not file.is_relative_to(TESTS / "support") and file != Path(__file__)
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if INTERNALS.search(line)
    ]
    assert found == []
