"""``adon place bursts`` and ``predict``: what a cloud's token bucket gives, and what the next hour brings."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli import series_files
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, print_table
from apps.cli.rounds import told

if TYPE_CHECKING:
    from measurement.snapshot.staleness import Value
    from measurement.throttling import Allowance

RATES = "bits_per_second"
BYTES = "bytes_per_hour"
EVEN = 0.1
"""Values are one interval apart if no gap is off by more than this share of it."""


def bursts(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=f"CSV with a column {RATES}, JSON with a list of that name, or an export of the archive.",
        ),
    ],
    interval: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From one value to the next (default 1 s; the archive knows)."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Rate for a transfer of this size: '10 GB'.")
    ] = None,
    path: Annotated[str | None, typer.Option(help="Of the archive: only this path.")] = None,
    source: Annotated[str | None, typer.Option("--from", help="Of the archive: only from there.")] = None,
    destination: Annotated[str | None, typer.Option("--to", help="Of the archive: only to there.")] = None,
    json_: JsonFlag = False,
) -> None:
    """Estimate burst rate, bucket and sustained rate of a transfer.

    Exit status 3 if the measurements do not suffice.
    """
    from adon.units import parse_size
    from measurement.throttling import fit

    amount = None
    if size is not None:
        with told("--size"):
            amount = _above_zero(parse_size(size), size)
    rates, apart = _rates(file, interval, (path, source, destination))
    with told("FILE"):
        found = fit(rates, apart)
    if json_:
        print_json(None if found is None else _document(found, amount))
    elif found is None:
        typer.echo("too few values: at least 4 intervals are needed, half of them with traffic")
    else:
        _print(found, amount)
    if found is None:
        raise typer.Exit(EXIT_DIFFERS)


def _above_zero(count: int, text: str) -> int:
    if count <= 0:
        raise ValueError(f"{text[:40]} is no size of a transfer")
    return count


def _rates(
    file: Path, interval: str | None, only: tuple[str | None, str | None, str | None]
) -> tuple[list[float], float]:
    """Bits/s of each interval, and its seconds."""
    from adon.units import parse_duration

    with told("FILE"):
        if series_files.is_archive(file):
            if interval is not None:
                raise InvalidInput.of("--interval", "is not for an export of the archive, which has times")
            return _one(series_files.archived(file, "throughput"), only)
    if any(each is not None for each in only):
        raise InvalidInput.of("FILE", "is not an export of the archive, so it has no paths")
    with told("--interval"):
        seconds = parse_duration(interval or "1 s")
        if not seconds > 0:
            raise ValueError(f"{interval} is no time between two values")
    with told("FILE"):
        return series_files.numbers(file, RATES), seconds


def _one(
    found: dict[series_files.Way, list[Value]], only: tuple[str | None, str | None, str | None]
) -> tuple[list[float], float]:
    import statistics

    wanted = {
        way: series
        for way, series in found.items()
        if all(want is None or want == its for want, its in zip(only, way, strict=True))
    }
    if len(wanted) != 1:
        if not wanted:
            raise ValueError("there is no throughput of such a path")
        ways = ", ".join(f"{name}: {one} > {other}" for name, one, other in sorted(wanted)[:5])
        raise ValueError(f"there are {len(wanted)} paths ({ways}): say which by --path, --from and --to")
    (series,) = wanted.values()
    gaps = [later.at - earlier.at for earlier, later in pairwise(series)]
    if not gaps:
        raise ValueError("there is one value alone")
    usual = statistics.median(gaps)
    if any(abs(gap - usual) > EVEN * usual for gap in gaps):
        raise ValueError("its values are not equally far from each other: they are not of one transfer")
    return [each.value for each in series], usual


def _document(found: Allowance, size: int | None) -> dict[str, float | bool]:
    document: dict[str, float | bool] = {
        "throttled": found.throttled,
        "burst_bps": found.burst,
        "sustained_bps": found.sustained,
        "burst_s": found.lasts,
        "bucket_bits": found.bucket,
    }
    if size is not None:
        document |= {"size_bytes": size, "takes_s": found.takes(size), "expected_bps": found.expected(size)}
    return document


def _print(found: Allowance, size: int | None) -> None:
    from adon.units import format_duration, format_rate, format_size

    if found.throttled:
        typer.echo(f"burst rate      {format_rate(found.burst)} for {format_duration(found.lasts)}")
        typer.echo(f"sustained rate  {format_rate(found.sustained)}")
        typer.echo(f"bucket          {format_size(found.bucket / 8)}")
    else:
        typer.echo(f"{format_rate(found.sustained)} throughout: no significant burst")
    if size is not None:
        took, rate = format_duration(found.takes(size)), format_rate(found.expected(size))
        typer.echo(f"{format_size(size)} take {took}, at {rate} on average")


def predict(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help=f"CSV with a column {BYTES}, or JSON with a list of that name; oldest first."
        ),
    ],
    json_: JsonFlag = False,
) -> None:
    """Predict the bytes of the next hour from a series of hours.

    The prediction uses the previous hour and the time of day; for less than two days the previous hour only.
    """
    from adon.units import format_size
    from measurement.profiling.predicting import next_hour, previous_hour, rolling_error, same_hour_yesterday

    with told("FILE"):
        hours = series_files.numbers(file, BYTES)
        bytes_ = next_hour(hours)
    ways = {
        "both": next_hour,
        "as in the previous hour": previous_hour,
        "as at this time yesterday": same_hour_yesterday,
    }
    errors = {name: rolling_error(hours, way) for name, way in ways.items()}
    if json_:
        shares = [None if one is None or one.share == float("inf") else one.share for one in errors.values()]
        names = ("both", "previous_hour", "same_hour_yesterday")
        print_json(
            {"hours": len(hours), "next_hour_bytes": bytes_, "error": dict(zip(names, shares, strict=True))}
        )
        return
    typer.echo(f"next hour: {format_size(bytes_ or 0.0)}, by {len(hours)} hours")
    rows = ((name, f"{one.share:.1%}", str(one.hours)) for name, one in errors.items() if one is not None)
    print_table(("By", "Error, of all bytes", "Hours"), rows, "the error needs more than two days of hours")
