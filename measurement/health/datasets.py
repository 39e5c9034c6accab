"""Recorded data for :mod:`measurement.health.diagnostics`: rounds, and tables of job results."""

from __future__ import annotations

import csv
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from measurement.health.pair_scores import Part
from measurement.health.record import RoundRecord
from measurement.health.regression import DataSet

NEXT_THROUGHPUT = "next_throughput"
"""bits/s that a pair had a round later."""
MOST_BYTES = 200_000_000


def of_rounds(rounds: Sequence[RoundRecord]) -> DataSet:
    """What each pair's metrics were in a round, and the throughput that it had in the next.

    Pairs that had timed out, or of which one of the two is not known, are left out; so are throughputs that
    were carried over, for those are of the round itself.

    :raises ValueError: if that gives no data set.
    """
    columns: dict[Part, list[float]] = {part: [] for part in Part}
    observed: list[float] = []
    left_out = 0
    for now, following in pairwise(rounds):
        for pair, score in now.scores.items():
            later = following.found.get(pair)
            throughput = () if later is None or pair in following.carried else later.throughput
            if score.timed_out or len(score.parts) < len(Part) or not throughput:
                left_out += 1
                continue
            observed.append(statistics.fmean(throughput))
            for part, its in columns.items():
                its.append(score.parts[part])
    if not observed:
        raise ValueError(
            f"rounds: in {len(rounds)} there is no pair with metrics and a throughput a round later"
        )
    return DataSet(
        NEXT_THROUGHPUT,
        tuple(observed),
        {part.value: tuple(its) for part, its in columns.items()},
        f"{len(rounds)} rounds",
        left_out,
    )


def of_file(file: Path, response: str, metrics: Sequence[str] = ()) -> DataSet:
    """A table: CSV with a row of names.

    :param metrics: the columns that may predict; empty for all others that hold numbers alone.
    :raises ValueError: for a file, a column or a value that is none; it names them.
    :raises OSError: if it cannot be read.
    """
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"{file}: is above {MOST_BYTES // 1_000_000} MB")
    rows = _csv(file)
    try:
        return _data_set(rows, response, metrics, str(file))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def _csv(file: Path) -> list[Mapping[str, Any]]:
    with file.open(newline="", encoding="utf-8-sig") as text:
        try:
            names, *rows = [row for row in csv.reader(text, strict=True) if row] or [[]]
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: is not CSV: {error}") from error
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{file}: {name}: {count} columns have this name")
    for number, row in enumerate(rows, 1):
        if len(row) > len(names):
            raise ValueError(f"{file}: row {number}: has {len(row)} values for {len(names)} columns")
    return [dict(zip_longest(names, row)) for row in rows]


def _data_set(
    rows: Sequence[Mapping[str, Any]], response: str, metrics: Sequence[str], source: str
) -> DataSet:
    if not rows:
        raise ValueError("rows: there are none")
    names = list(rows[0])
    if response in metrics:
        raise ValueError(f"{response}: is what was observed, and predicts itself")
    for name in (response, *metrics):
        if name not in names:
            raise ValueError(f"{name}: is no column; there are {', '.join(map(str, names))}")
    wanted = [*metrics] or [name for name in names if name != response and _all_numbers(rows, name)]
    used = [response, *wanted]
    kept = [
        (number, row) for number, row in enumerate(rows, 1) if not any(_lacks(row[name]) for name in used)
    ]
    columns = {name: tuple(_number(row[name], name, number) for number, row in kept) for name in used}
    observed = columns.pop(response)
    return DataSet(response, observed, columns, source, len(rows) - len(kept))


def _all_numbers(rows: Iterable[Mapping[str, Any]], name: str) -> bool:
    try:
        values = [float(row[name]) for row in rows if not _lacks(row[name])]
    except (TypeError, ValueError):
        return False
    return bool(values)


def _lacks(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _number(value: Any, name: str, row: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: row {row}: {str(value)[:40]!r} is no number") from None
