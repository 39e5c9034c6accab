"""Table V as it is printed."""

from __future__ import annotations

import pytest

from adon.evaluations import builtins
from measurement.evaluation.comparison import Change, Verdict
from measurement.evaluation.intervals import Interval
from measurement.evaluation.results import Measured, Path
from measurement.evaluation.wording import (
    amount,
    cell,
    change_columns,
    change_row,
    probability,
    quantity,
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


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (19e6, "bit/s", "19"),
        (20.24e6, "bit/s", "20.24"),
        (0, "bit/s", "0"),
        (1234, "bit/s", "0.00123"),
        (0.0055, "s", "5.5"),
        (1e-7, "s", "0.0001"),
        (3, "apples", "3"),
    ],
)
def test_amounts(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text


def test_quantities_and_single_values() -> None:
    assert quantity(5e6, "bit/s") == "5 Mbit/s"
    assert cell(Measured(5e6, 0, 1), "bit/s") == "5 (-)"
    assert cell(None, "bit/s") == ""


def test_a_change_is_a_row() -> None:
    run = builtins.reference("nectar")
    columns = change_columns(run, run)
    one, other = Measured(8e6, 1e6, 9), Measured(4e6, 2e6, 9)
    apart = Interval(-5e6, -2e6)
    less = Change(
        Path("a", "b"), one, other, Verdict.LOWER, 0.5, apart, "welch", 0.0123, -1.5, "doubtful"
    )  # fmt: skip
    assert dict(zip(columns[3:], change_row(less, "bit/s")[3:], strict=True)) == {
        "Ratio": "0.500",
        "Difference": "-5 to -2",
        "p (Holm)": "0.0123",
        "Effect": "-1.50",
        "Test": "welch",
        "Verdict": "lower: doubtful",
    }
    untested = Change(Path("a", "a"), one, other, Verdict.NOT_TESTED, None)
    assert change_row(untested, "bit/s") == (
        "within a", "8 (1)", "4 (2)", "-", "-", "-", "-", "-", "not tested"
    )  # fmt: skip


@pytest.mark.parametrize(("p", "text"), [(1e-4, "0.0001"), (9.9e-5, "< 0.0001"), (1.0, "1.0000")])
def test_probabilities(p: float, text: str) -> None:
    assert probability(p) == text
