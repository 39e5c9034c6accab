"""Values as [CEEM] prints them, in a report's unit, and the table of its table V."""

from __future__ import annotations

from measurement.evaluation.results import Measured, Path, Results

SHOWN = {"bit/s": (1e6, "Mbps"), "s": (1e-3, "ms")}
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
