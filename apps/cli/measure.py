"""``adon measure``: what is measured, when, and measuring now."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Unavailable
from apps.cli import series, values
from apps.cli.arguments import FromCampus, PathName, ToCampus
from apps.cli.common import JsonFlag, client, naming, print_json, print_json_line, print_table, write
from apps.cli.status import JsonLines

if TYPE_CHECKING:
    from adon.api.measurements import ExecutionView, MeasurementView, RunStart
    from adon.client import Client

app = typer.Typer(help="Measurements of paths: plan, results, single tests.", no_args_is_help=True)

YIELDS = {
    "throughput": ("throughput",),
    "rtt": ("rtt",),
    "latency": ("one_way_delay", "jitter", "loss"),
}
RESULT_WITHIN_S = 120.0
VALUES_WITHIN_S = 3.0
"""A run is told of a moment before its values."""
LATE = timedelta(minutes=10)
"""Values that come later than so long after they were observed are not shown by ``watch``."""

app.command()(values.history)
app.command("list")(values.list_)
app.command()(values.runs)
app.command()(series.mesh)
app.command("series")(series.series)
app.command()(series.boxes)
app.command()(series.overlaps)


@app.command()
def run(
    ctx: typer.Context,
    path: PathName,
    source: FromCampus,
    destination: ToCampus,
    test: Annotated[str, typer.Option(help="throughput, rtt or latency.")] = "throughput",
    wait: Annotated[bool, typer.Option(help="Wait for the result.")] = True,
    json_: JsonFlag = False,
) -> None:
    """Run a configured test now, where the plan allows it."""
    if test not in YIELDS:
        raise InvalidInput.of("--test", f"{test!r} is none of {', '.join(YIELDS)}")
    api = client(ctx, patient=wait)
    with naming({"path": "PATH", "source": "FROM", "destination": "TO", "test": "--test"}):
        accepted = api.measure(path, source, destination, test)
    if not wait:
        print_json(accepted) if json_ else typer.echo(_starts(accepted))
        return
    found = _result(api, accepted, {"path": path, "source": source, "destination": destination}, YIELDS[test])
    if json_:
        print_json(found)
    else:
        for measurement in found:
            typer.echo(values.line(measurement))


def _starts(accepted: RunStart) -> str:
    from apps.cli.times import at

    return f"{accepted.task} starts at {at(accepted.start)}"


def _result(
    api: Client, accepted: RunStart, where: dict[str, str], metrics: tuple[str, ...]
) -> list[MeasurementView]:
    """Wait until the run has ended; its values.

    :raises Unavailable: if it gave none, with the reason.
    """
    from adon.api.base import format_utc

    starts = accepted.start
    with _progress() as progress:
        job = progress.add_task(accepted.task, total=None)
        while (now := time.time()) < starts + RESULT_WITHIN_S:
            ended = [one for one in api.executions(format_utc(starts)) if one.task == accepted.task]
            if ended:
                return _values(api, ended[0], where, metrics)
            state = f"starts in {starts - now:.0f} s" if now < starts else "is measuring"
            progress.update(job, description=f"{accepted.task} {state}")
            time.sleep(0.5)
    raise Unavailable(f"{accepted.task}: no result within {RESULT_WITHIN_S:g} s of its start")


def _values(
    api: Client, execution: ExecutionView, where: dict[str, str], metrics: tuple[str, ...]
) -> list[MeasurementView]:
    from adon.api.base import format_utc

    if execution.outcome != "measured":
        raise Unavailable(f"{execution.task}: {execution.outcome}")
    since = format_utc(execution.started or execution.planned_start)
    deadline = time.monotonic() + VALUES_WITHIN_S
    while True:
        found = [
            one
            for metric in metrics
            for one in api.measurements(**where, metric=metric, since=since, limit="1")
        ]
        if found:
            return found
        if time.monotonic() >= deadline:
            raise Unavailable(f"{execution.task}: was measured, but its values cannot be read")
        time.sleep(0.2)


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@app.command()
def psconfig(
    ctx: typer.Context,
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="The network in the configuration.")],
    json_: JsonFlag = False,  # noqa: ARG001 - it is JSON in any case
) -> None:
    """Print the published plan of tests as a pSConfig template."""
    print_json(client(ctx).psconfig(network))


@app.command()
def schedule(
    ctx: typer.Context,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan as a picture (HTML).")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Show the conflict-free plan (EDF-CE) and its next runs."""
    from apps.cli.times import clock
    from apps.cli.words import value

    api = client(ctx)
    if page is not None:
        write(page, api.schedule_page(), "--page")
        if not json_:
            typer.echo(f"{page}: a round of the plan")
            return
    found = api.schedule()
    if json_:
        print_json(found)
        return
    if not found.measures:
        typer.echo("another collector is active; this one is a standby")
    rows = (
        (task.task, task.tool, f"{task.period_seconds:g} s", f"{task.slot_seconds:g} s")
        for task in found.tasks
    )
    print_table(("Test", "Kind", "Every", "Keeps its points for"), rows, "no test is configured")
    starts = ((clock(start.start), start.task) for start in found.upcoming)
    print_table(("Next at", "Test"), starts, "nothing is about to start")
    spent = (
        (
            name,
            value(spend.allowed_bps, "bps"),
            value(spend.peak_bps, "bps"),
            value(spend.mean_bps, "bps"),
        )
        for name, spend in found.spend.items()
    )
    print_table(
        ("Path or link", "Tests may offer", "Most at once", "On average"), spent, "no limit is agreed"
    )


@app.command()
def points(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List measurement points."""
    found = client(ctx).points()
    if json_:
        print_json(found)
        return
    rows = ((one.name, one.url, _ignored(one.ignored)) for one in found)
    print_table(("Point", "URL", "Ignored details"), rows, "no measurement point is configured")


def _ignored(counted: dict[str, int] | None) -> str:
    if counted is None:
        return "unknown"
    return ", ".join(f"{name} {count}" for name, count in sorted(counted.items())) or "none"


@app.command()
def watch(
    ctx: typer.Context,
    seconds: Annotated[float | None, typer.Option(help="Stop after this time (default: at Ctrl-C).")] = None,
    json_: JsonLines = False,
) -> None:
    """Print measurements and alarms as they arrive."""
    from apps.cli.times import clock

    if seconds is not None and not seconds > 0:
        raise InvalidInput.of("--seconds", f"{seconds:g} is not above zero")
    api = client(ctx, patient=True)
    end = None if seconds is None else time.monotonic() + seconds
    began, seen = datetime.now(UTC), set[str]()
    try:
        while end is None or time.monotonic() < end:
            since = max(began, datetime.now(UTC) - LATE)
            for measurement in reversed(api.measurements(since=since.isoformat(), limit="1000")):
                name = f"{measurement.origin} {measurement.metric}"
                if name not in seen:
                    seen.add(name)
                    print_json_line(measurement) if json_ else typer.echo(values.line(measurement))
            for alarm in reversed(api.alarms(open_only=False, since=since.isoformat())):
                if alarm.id not in seen:
                    seen.add(alarm.id)
                    told = f"{clock(alarm.raised_at)} ALARM {alarm.severity}: {alarm.text}"
                    print_json_line(alarm) if json_ else typer.echo(told)
            time.sleep(1.0)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
