"""What ADON's REST API tells of a trial, as rows of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adon.experiments.results import DecisionRow, MeasurementRow
from adon.timestamps import parse_time

Document = Mapping[str, Any]


def decisions(
    trial: int, began_at: float, found: Iterable[Document], names: Mapping[str, str]
) -> list[DecisionRow]:
    """The decisions that changed what becomes of a flow, the oldest first.

    A waiting flow is examined at every measurement; that it still waits, for one reason more or less, changes
    nothing and is no row.

    :param began_at: seconds since 1970.
    :param found: as ``GET /flows/{id}/decisions`` answers.
    :param names: of the flows, by ADON's own.
    """
    rows: list[DecisionRow] = []
    last: dict[str, tuple[Any, ...]] = {}
    for decision in sorted(found, key=lambda one: str(one["at"])):
        what = (decision["outcome"], decision["path"], decision["compute_site"])
        if decision["outcome"] == "stay" or last.get(decision["flow"]) == what:
            continue
        last[decision["flow"]] = what
        rows.append(
            DecisionRow(
                trial,
                parse_time(decision["at"]) - began_at,
                names[decision["flow"]],
                decision["outcome"],
                decision["path"],
                decision["compute_site"],
                _quality(decision),
                decision["reason"],
            )
        )
    return rows


def _quality(decision: Document) -> float | None:
    """Q of the path that was chosen ([ADON] equation 1)."""
    chosen = (one for one in decision["candidates"] if one["path"] == decision["path"])
    found = next((one.get("q") for one in chosen), None)
    return None if found is None else float(found)


def measurements(trial: int, began_at: float, found: Iterable[Document]) -> list[MeasurementRow]:
    """Results of the measurement points, the oldest first.

    :param found: as ``GET /measurements`` answers.
    """
    rows = [
        MeasurementRow(
            trial,
            parse_time(one["observed_at"]) - began_at,
            one["path"],
            one["source"],
            one["destination"],
            one["metric"],
            one["value"],
        )
        for one in found
    ]
    return sorted(rows, key=lambda row: row.at)


def tested(began: float, paths: Iterable[str], tests: Sequence[Document]) -> float | None:
    """When every one of these paths had a throughput test that began after a flow did; None if not all have.

    :param began: seconds since 1970.
    :param tests: throughput tests as ``GET /measurements`` answers, in any order.
    """
    ends = [_first_end(began, path, tests) for path in paths]
    found = [end for end in ends if end is not None]
    return max(found, default=None) if len(found) == len(ends) else None


def _first_end(began: float, path: str, tests: Sequence[Document]) -> float | None:
    after = (one for one in tests if one["path"] == path and parse_time(one["started_at"]) >= began)
    return min((parse_time(one["observed_at"]) for one in after), default=None)


def path_at(paths: Sequence[tuple[float, str]], at: float) -> str | None:
    """The path that a flow had at a time, of those it was given and when."""
    return next((path for given, path in reversed(paths) if given <= at), None)


def seconds(began: float, per_second: Sequence[int]) -> Iterator[tuple[float, int]]:
    """When each second of a receiver's series began, and the bytes that it counted in it."""
    return ((began + number, count) for number, count in enumerate(per_second))
