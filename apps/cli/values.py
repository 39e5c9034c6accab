"""``adon measure history``, ``list``, ``runs``: what was measured, and what became of planned runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.arguments import FromCampus, PathName, ToCampus
from apps.cli.common import JsonFlag, client, naming, print_json, print_table

if TYPE_CHECKING:
    from adon.api.measurements import BucketView, MeasurementView

BARS = "▁▂▃▄▅▆▇█"
QUERY = {
    "path": "--path",
    "source": "--from",
    "destination": "--to",
    "metric": "--metric",
    "since": "--since",
    "until": "--until",
}

Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="2026-11-21T02:00:00Z, or how long ago: '2 h'.")
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="As --since.")]


def history(
    ctx: typer.Context,
    path: PathName,
    source: FromCampus,
    destination: ToCampus,
    metric: Annotated[
        str, typer.Option(help="throughput, rtt, one_way_delay, jitter, loss, health, or another.")
    ] = "throughput",
    hours: Annotated[float, typer.Option(help="How far back.")] = 24.0,
    json_: JsonFlag = False,
) -> None:
    """Show one series as a picture and in numbers."""
    from adon.api.base import UNITS

    if not 0 < hours <= 24 * 3660:
        raise InvalidInput.of("--hours", f"{hours:g} is not a time between 0 and ten years")
    now = datetime.now(UTC)
    with naming({"path": "PATH", "source": "FROM", "destination": "TO", "metric": "--metric"}):
        found = client(ctx).plot(
            path=path, source=source, destination=destination, metric=metric, points="60",
            since=(now - timedelta(hours=hours)).isoformat(), until=now.isoformat(),
        )  # fmt: skip
    if json_:
        print_json(found)
        return
    if not found:
        typer.echo("no measurements in this time; see: adon measure schedule")
        return
    _draw(found, UNITS.get(metric, ""))


def _draw(buckets: list[BucketView], unit: str) -> None:
    from apps.cli.times import day_and_clock
    from apps.cli.words import value

    means = [bucket.mean for bucket in buckets]
    low, high = min(means), max(means)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    typer.echo("".join(BARS[round((mean - low) * scale)] for mean in means))
    typer.echo(f"means from {value(low, unit)} to {value(high, unit)}")
    rows = (
        (
            day_and_clock(bucket.start),
            str(bucket.count),
            *(value(number, unit) for number in (bucket.minimum, bucket.mean, bucket.maximum)),
            value(bucket.quantiles["0.95"], unit),
        )
        for bucket in buckets
    )
    print_table(("From", "Values", "Least", "Mean", "Most", "95 %"), rows, "")


def list_(
    ctx: typer.Context,
    path: Annotated[str | None, typer.Option(help="Only of this path.", autocompletion=offered.paths)] = None,
    source: Annotated[
        str | None, typer.Option("--from", help="Only from this site.", autocompletion=offered.campuses)
    ] = None,
    destination: Annotated[
        str | None, typer.Option("--to", help="Only to this site.", autocompletion=offered.campuses)
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="throughput, rtt, one_way_delay, jitter, loss or health.")
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000_000, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List measurements with their tools, the newest first."""
    from apps.cli.times import at
    from apps.cli.words import value

    now = datetime.now(UTC)
    query = {"path": path, "source": source, "destination": destination, "metric": metric}
    query |= {"since": moment(since, now, "--since"), "until": moment(until, now, "--until")}
    with naming(QUERY):
        asked = {name: text for name, text in query.items() if text is not None}
        found = list(client(ctx).each_measurement(limit, **asked))
    if json_:
        print_json(found)
        return
    rows = (
        (
            at(one.observed_at),
            one.path,
            f"{one.source} > {one.destination}",
            one.metric,
            value(one.value, one.unit),
            one.tool or "-",
        )
        for one in found
    )
    columns = ("Observed", "Path", "Direction", "Metric", "Value", "Tool")
    print_table(columns, rows, "no measurements; see: adon measure schedule")


def moment(text: str | None, now: datetime, option: str) -> str | None:
    """A time that an option may name, as the API takes it.

    :raises InvalidInput: for another text, naming the option.
    """
    from apps.cli.times import since

    return None if text is None else since(text, now, option)


def runs(
    ctx: typer.Context,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=5000, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List planned runs with their results, the newest first."""
    from apps.cli.times import at, clock

    now = datetime.now(UTC)
    begins, ends = moment(since, now, "--since"), moment(until, now, "--until")
    with naming(QUERY):
        found = client(ctx).executions(begins, limit, ends)
    if json_:
        print_json(found)
        return
    rows = (
        (
            at(one.planned_start),
            one.task,
            one.outcome or "-",
            "-" if one.started is None else clock(one.started),
            "-" if one.ended is None else clock(one.ended),
        )
        for one in found
    )
    print_table(("Planned", "Test", "Outcome", "Started", "Ended"), rows, "no run was planned in this time")


def line(measurement: MeasurementView) -> str:
    """A value in one line, as it comes."""
    from apps.cli.times import clock
    from apps.cli.words import value

    key = f"{measurement.path} {measurement.source} > {measurement.destination}"
    tool = f" ({measurement.tool})" if measurement.tool else ""
    shown = value(measurement.value, measurement.unit)
    return f"{clock(measurement.observed_at)} {key} {measurement.metric}: {shown}{tool}"
