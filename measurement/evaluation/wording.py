"""Values as [CEEM] prints them, in a report's unit, and the table of its table V."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurement.evaluation.results import Measured, Path, Results

if TYPE_CHECKING:
    from measurement.evaluation.comparison import Change
    from measurement.evaluation.run import Run

SHOWN = {"bit/s": (1e6, "Mbit/s"), "s": (1e-3, "ms")}
"""What a unit is divided by for people, and how the quotient's unit is called."""


def shown_unit(unit: str) -> str:
    """The unit of :func:`amount`."""
    return SHOWN.get(unit, (1.0, unit))[1]


def amount(value: float, unit: str) -> str:
    """A value without its unit: two decimals at most, none where they would be 0 (``19``, ``458.3``).

    What is too small for that has three digits.
    """
    scaled = value / SHOWN.get(unit, (1.0, unit))[0]
    if 0 < abs(scaled) < 0.1:
        return f"{scaled:.3g}"
    return f"{scaled:.2f}".rstrip("0").rstrip(".")


def quantity(value: float, unit: str) -> str:
    """A value with its unit."""
    return f"{amount(value, unit)} {shown_unit(unit)}"


def cell(measured: Measured | None, unit: str) -> str:
    """Mean (standard deviation), as in table V; empty where there is nothing.

    A single value has no deviation: ``19 (-)``.
    """
    if measured is None:
        return ""
    deviation = "-" if measured.count == 1 else amount(measured.deviation, unit)
    return f"{amount(measured.mean, unit)} ({deviation})"


def name(path: Path) -> str:
    """A path in words."""
    return f"within {path.one}" if path.within else f"{path.one} - {path.other}"


def table(results: Results, unit: str) -> list[list[str]]:
    """Table V: a row for each client, then for each node; upper triangle with its diagonal.

    The first cell of each row is its place; the columns are the nodes.
    """
    found = [
        [one, *(cell(results.measured(one, node), unit) for node in results.nodes)] for one in results.clients
    ]
    for number, one in enumerate(results.nodes):
        row = [
            cell(results.measured(one, other), unit) if place >= number else ""
            for place, other in enumerate(results.nodes)
        ]
        found.append([one, *row])
    return found


def change_columns(before: Run, after: Run) -> tuple[str, ...]:
    """What stands in :func:`change_row`."""
    means = (f"{before.name}, {shown_unit(before.unit)}", after.name)
    return ("Path", *means, "Ratio", "Difference", "p (Holm)", "Effect", "Test", "Verdict")


def change_row(change: Change, unit: str) -> tuple[str, ...]:
    """A path of two runs compared; ``-`` where nothing is known.

    Means (standard deviations), the ratio, the difference's interval in the unit of :func:`amount`, the
    corrected p, the effect size, the test, the verdict with what makes it doubtful.
    """
    apart = change.apart
    return (
        name(change.path),
        cell(change.before, unit),
        cell(change.after, unit),
        "-" if change.ratio is None else f"{change.ratio:.3f}",
        "-" if apart is None else f"{amount(apart.low, unit)} to {amount(apart.high, unit)}",
        "-" if change.p is None else probability(change.p),
        "-" if change.effect is None else f"{change.effect:+.2f}",
        change.method or "-",
        change.verdict.value + (f": {change.why}" if change.why else ""),
    )


def probability(p: float) -> str:
    """A p-value; what is below the fourth decimal is told as that."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"
