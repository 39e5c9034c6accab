"""Table V as it is printed."""

from __future__ import annotations

from adon.evaluations import builtins
from measurement.evaluation.wording import (
    table,
)

# Copied from the paper's page, with its own digits.
PRINTED = """
Local Machine | 20.2 (0.24) | 19.9 (1.23) | 19 (1.62) | 14.8 (1.11) | 11.6 (0.92)
MEB-np | 5212.1 (458.3) | 3799.5 (832.6) | 2938.5 (302.2) | 364.8 (41.97) | 98.8 (9.61)
MEB-qh2 | | 4496.8 (783.1) | 1743.9 (517.4) | 18.4 (9.52) | 98.5 (7.05)
Monash01 | | | 2750.7 (138.8) | 215.5 (95) | 93.7 (6.41)
qld | | | | 2632.5 (160.4) | 229.5 (58.2)
sa | | | | | 5222.4 (417.8)
"""


def test_table_v_is_printed_as_in_the_paper() -> None:
    run = builtins.reference("nectar")
    expected = [[cell.strip() for cell in line.split("|")] for line in PRINTED.strip().splitlines()]
    assert table(run.results(), run.unit) == expected
