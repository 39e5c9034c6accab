"""``adon measure mesh``, ``series``, ``boxes``, ``overlaps``: what was measured, at a glance."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import completing as offered
from apps.cli.common import JsonFlag, client, naming, print_json, print_table
from apps.cli.values import QUERY, Since, Until, moment

if TYPE_CHECKING:
    from adon.api.measurements import ExecutionView, SeriesView

OfPath = Annotated[
    str | None, typer.Option("--path", help="Only of this path.", autocompletion=offered.paths)
]
From = Annotated[
    str | None, typer.Option("--from", help="Only from this site.", autocompletion=offered.campuses)
]
To = Annotated[str | None, typer.Option("--to", help="Only to this site.", autocompletion=offered.campuses)]
OfMetric = Annotated[str | None, typer.Option("--metric", help="throughput, rtt, or another.")]


def mesh(
    ctx: typer.Context,
    metric: Annotated[
        str, typer.Option(help="throughput, rtt, one_way_delay, jitter, loss or health.")
    ] = "throughput",
    path: OfPath = None,
    json_: JsonFlag = False,
) -> None:
    """Show the latest value of a metric between all sites."""
    from apps.cli.words import age, value

    with naming(QUERY):
        found = client(ctx).mesh(metric, path)
    if json_:
        print_json(found)
        return
    rows = (
        (
            cell.source,
            cell.destination,
            one.path,
            value(one.value, found.unit),
            "-" if one.age_seconds is None else age(one.age_seconds),
            one.verdict.replace("_", " "),
            one.why or "-",
        )
        for cell in found.items
        for one in cell.paths
    )
    columns = ("From", "To", "Path", metric, "Age", "Verdict", "Why")
    print_table(columns, rows, "no paths between sites")


def series(
    ctx: typer.Context,
    path: OfPath = None,
    source: From = None,
    destination: To = None,
    metric: OfMetric = None,
    json_: JsonFlag = False,
) -> None:
    """List the series of the archive."""
    with naming(QUERY):
        found = client(ctx).series(path=path, source=source, destination=destination, metric=metric)
    if json_:
        print_json(found)
        return
    rows = ((one.path or "-", _direction(one), one.metric) for one in found)
    print_table(("Path", "Direction or host", "Metric"), rows, "nothing is kept; see: adon measure schedule")


def _direction(one: SeriesView) -> str:
    return f"{one.source} > {one.destination}" if one.path else one.source


def boxes(
    ctx: typer.Context,
    path: OfPath = None,
    source: From = None,
    destination: To = None,
    metric: OfMetric = None,
    days: Annotated[bool, typer.Option("--days", help="A box per day, not per hour.")] = False,
    since: Since = None,
    until: Until = None,
    json_: JsonFlag = False,
) -> None:
    """Show minimum, quartiles and maximum per hour or day."""
    from apps.cli.times import day_and_clock
    from apps.cli.words import value

    now = datetime.now(UTC)
    with naming(QUERY):
        found = client(ctx).boxes(
            path=path, source=source, destination=destination, metric=metric,
            group="day" if days else "hour",
            since=moment(since, now, "--since"), until=moment(until, now, "--until"),
        )  # fmt: skip
    if json_:
        print_json(found)
        return
    for one in found.items:
        typer.echo(f"{one.series.path} {_direction(one.series)} {one.series.metric}".strip())
        rows = (
            (
                day_and_clock(box.start),
                str(box.count),
                value(box.minimum, one.unit),
                *(value(box.quantiles.get(share), one.unit) for share in ("0.25", "0.5", "0.75")),
                value(box.maximum, one.unit),
            )
            for box in one.boxes
        )
        columns = ("From", "Values", "Least", "25 %", "Median", "75 %", "Most")
        print_table(columns, rows, "no measurements in this time")
    if not found.items:
        typer.echo("no such series; see: adon measure series")


def overlaps(ctx: typer.Context, since: Since = None, json_: JsonFlag = False) -> None:
    """List conflicting test runs that overlapped."""
    with naming(QUERY):
        found = client(ctx).overlaps(moment(since, datetime.now(UTC), "--since"))
    if json_:
        print_json(found)
        return
    rows = ((one.first.task, _when(one.first), one.second.task, _when(one.second)) for one in found)
    print_table(("Run", "Ran", "With", "Which ran"), rows, "no run met one that it conflicts with")


def _when(run: ExecutionView) -> str:
    from apps.cli.times import clock, day_and_clock

    ended = "" if run.ended is None else f" to {clock(run.ended)}"
    return day_and_clock(run.started or run.planned_start) + ended
