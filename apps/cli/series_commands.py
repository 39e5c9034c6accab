"""``adon place staleness``, ``bursts``, ``predict``: statistics of series of throughput and of bytes."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.units import format_duration
from apps.cli.common import EXIT_DIFFERS, option_errors, parse_option, print_table
from apps.cli.document_printer import print_document, show_object

if TYPE_CHECKING:
    from measurement.snapshot.staleness import Curve, Value
    from measurement.token_bucket import Allowance

Direction = tuple[str, str, str]
"""Path, source and destination."""
RATES = "bits_per_second"
BYTES = "bytes_per_hour"
MOST_BYTES = 64 * 1024 * 1024


def read_archive(file: Path, metric: str) -> dict[Direction, list[Value]]:
    """Return the values of a metric by path, source and destination, in order of time.

    :raises ValueError: for another file, or a bad row, with its line.
    """
    from measurement.archive import csvfile
    from measurement.errors import ExchangeError
    from measurement.snapshot.staleness import Value

    found: dict[Direction, dict[float, float]] = {}
    try:
        for line, row in csvfile.read(file, lambda _: None):
            if isinstance(row, ValueError):
                raise ValueError(f"{file}:{line}: {row}")
            if row.metric == metric and row.value is not None and row.observed_at is not None:
                series = found.setdefault((row.path, row.source, row.destination), {})
                series[row.observed_at] = row.value
    except ExchangeError as error:
        raise ValueError(str(error)) from error
    return {
        direction: [Value(*each) for each in sorted(series.items())] for direction, series in found.items()
    }


def staleness(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV file of the archive: adon archive export.")
    ],
    metric: Annotated[str, typer.Option(help="throughput, rtt, or another.")] = "throughput",
    error: Annotated[str, typer.Option(help="Permitted error of an old value.")] = "10 %",
    share: Annotated[str, typer.Option(help="Share of values within the error.")] = "95 %",
) -> None:
    """Estimate the error of old values and a max_age for templates.

    Exit status 3 if no age is good enough.
    """
    from adon.units import parse_ratio
    from measurement.snapshot.staleness import curves, max_age

    with option_errors("--error"):
        accepted = parse_ratio(error)
    with option_errors("--share"):
        of = parse_ratio(share)
        if not 0 < of <= 1:
            raise ValueError(f"{share[:40]} is not above 0 and at most 100 %")
    with option_errors("FILE"):
        found = curves(read_archive(file, metric).values())
    greatest = max_age(found, accepted, of)
    if not print_document({"ages": [_curve_document(each, of) for each in found], "max_age": greatest}):
        rows = (_curve_row(each, of) for each in found)
        columns = ("Age", "Values", "Median error", "Mean", f"{of:.0%} below")
        print_table(columns, rows, f"no series of {metric} is long enough")
        if greatest is not None:
            typer.echo(
                f"max_age: {format_duration(greatest)} keeps {of:.0%} of the values within {accepted:.1%}"
            )
        elif found:
            typer.echo(f"no age keeps {of:.0%} of the values within {accepted:.1%}")
    if greatest is None:
        raise typer.Exit(EXIT_DIFFERS)


def _curve_figures(curve: Curve, share: float) -> tuple[float, float, float]:
    return curve.quantile(0.5), curve.mean, curve.quantile(share)


def _curve_row(curve: Curve, share: float) -> tuple[str, ...]:
    figures = (f"{one:.2%}" for one in _curve_figures(curve, share))
    return format_duration(curve.age), str(len(curve.errors)), *figures


def _curve_document(curve: Curve, share: float) -> dict[str, Any]:
    median, mean, most = _curve_figures(curve, share)
    return {"age": curve.age, "values": len(curve.errors), "median": median, "mean": mean, "quantile": most}


def read_column(file: Path, name: str) -> list[float]:
    """Return a column of a CSV file: finite numbers from 0 on.

    :raises ValueError: for another file or value, with its line.
    """
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"{file}: is larger than {MOST_BYTES // 2**20} MiB")
    found = []
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.DictReader(stream)
        if name not in (reader.fieldnames or ()):
            raise ValueError(f"{file}: has no column {name}")
        for number, row in enumerate(reader, start=2):
            found.append(_parse_number(row[name] or "", f"{file}:{number}: {name}"))
    if not found:
        raise ValueError(f"{file}: has no values; expected a number per line in the column {name}")
    return found


def _parse_number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{place}: {text[:40]!r} is not a finite number from 0 on")
    return value


def bursts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"CSV with a column {RATES}.")],
    interval: Annotated[str, typer.Option(metavar="TIME", help="From one value to the next.")] = "1 s",
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Rate for a transfer of this size: '10 GB'.")
    ] = None,
) -> None:
    """Estimate burst rate, bucket and sustained rate of a transfer.

    Exit status 3 if the measurements do not suffice.
    """
    from adon.units import parse_duration, parse_size
    from measurement.token_bucket import fit

    amount = None if size is None else parse_option(size, parse_size, "--size")
    seconds = parse_option(interval, parse_duration, "--interval")
    with option_errors("FILE"):
        found = fit(read_column(file, RATES), seconds)
    if found is None:
        if not print_document(None):
            typer.echo("too few values: at least 4 intervals are needed, half of them with traffic")
        raise typer.Exit(EXIT_DIFFERS)
    show_object(_allowance_document(found, amount))


def _allowance_document(found: Allowance, size: int | None) -> dict[str, float | bool]:
    document: dict[str, float | bool] = {
        "throttled": found.throttled,
        "burst_bps": found.burst,
        "sustained_bps": found.sustained,
        "burst_s": found.lasts,
        "bucket_bits": found.bucket,
        "bucket_bytes": found.bucket / 8,
    }
    if size is not None:
        document |= {"size_bytes": size, "takes_s": found.takes(size), "expected_bps": found.mean_rate(size)}
    return document


def predict(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help=f"CSV with a column {BYTES}, the oldest first.")
    ],
) -> None:
    """Predict the bytes of the next hour from a series of hours.

    The prediction uses the previous hour and the time of day; for less than two days the previous hour only.
    """
    from measurement.profiling.traffic_forecast import (
        next_hour,
        previous_hour,
        rolling_error,
        same_hour_yesterday,
    )

    with option_errors("FILE"):
        hours = read_column(file, BYTES)
        expected = next_hour(hours)
    predictors = {
        "both": next_hour,
        "previous_hour": previous_hour,
        "same_hour_yesterday": same_hour_yesterday,
    }
    errors = {name: rolling_error(hours, one) for name, one in predictors.items()}
    shares = {
        name: None if one is None or math.isinf(one.share) else one.share for name, one in errors.items()
    }
    show_object({"hours": len(hours), "next_hour_bytes": expected, "error": shares})
