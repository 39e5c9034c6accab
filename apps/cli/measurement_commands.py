"""``adon measure run``: a configured test now, with its result."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Unavailable
from apps.cli.api_completion import complete
from apps.cli.common import client, naming, print_json, write
from apps.cli.document_printer import CommandGroup, print_document
from apps.cli.value_format import format_short_time, format_time, format_value

if TYPE_CHECKING:
    from adon.api.measurements import ExecutionView, MeasurementView, RunStart
    from adon.client import Client

app = CommandGroup("Measurements of paths: plan, results, single tests.")

METRICS = {
    "throughput": ("throughput",),
    "rtt": ("rtt",),
    "latency": ("one_way_delay", "jitter", "loss"),
}
"""Metrics that each test measures."""
RESULT_WITHIN_S = 120.0
VALUES_WITHIN_S = 3.0
"""The end of a run is reported a moment before its values."""
POLL_S = 0.5


@app.command()
def run(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", autocompletion=complete("path"))],
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="Source site.", autocompletion=complete("campus"))
    ],
    destination: Annotated[
        str, typer.Argument(metavar="TO", help="Destination site.", autocompletion=complete("campus"))
    ],
    test: Annotated[str, typer.Option(help="throughput, rtt or latency.")] = "throughput",
    wait: Annotated[bool, typer.Option(help="Wait for the result.")] = True,
) -> None:
    """Run a configured test now, where the plan allows it."""
    if test not in METRICS:
        raise InvalidInput.of("--test", f"{test!r} is not a test; expected one of {', '.join(METRICS)}")
    api = client(ctx, patient=wait)
    with naming({"path": "PATH", "source": "FROM", "destination": "TO", "test": "--test"}):
        started = api.measure(path, source, destination, test)
    if not wait:
        if not print_document(started):
            typer.echo(f"{started.task} starts at {format_time(started.start)}")
        return
    execution = _wait_for_end(api, started)
    direction = {"path": path, "source": source, "destination": destination}
    found = _read_values(api, execution, direction, METRICS[test])
    if not print_document(found):
        for measurement in found:
            typer.echo(_format_line(measurement))


@app.command()
def psconfig(
    ctx: typer.Context,
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="The network in the configuration.")],
) -> None:
    """Print the published plan of tests as a pSConfig template."""
    found = client(ctx).psconfig(network)
    if not print_document(found):
        print_json(found)


@app.command()
def gantt(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Page to write (HTML).")],
) -> None:
    """Write the conflict-free plan of the collector as a chart."""
    write(file, client(ctx).schedule_page(), "FILE")
    if not print_document({"file": str(file)}):
        typer.echo(f"{file}: written")


def _format_line(one: MeasurementView) -> str:
    direction = f"{one.path} {one.source} > {one.destination}"
    tool = f" ({one.tool})" if one.tool else ""
    value = format_value(one.value, one.unit)
    return f"{format_short_time(one.observed_at)} {direction} {one.metric}: {value}{tool}"


def _wait_for_end(api: Client, started: RunStart) -> ExecutionView:
    """Return the run when it has ended.

    :raises Unavailable: if it does not end in time.
    """
    from adon.api.base import format_utc

    start = started.start
    with _progress() as progress:
        job = progress.add_task(started.task, total=None)
        while (now := time.time()) < start + RESULT_WITHIN_S:
            ended = [one for one in api.executions(format_utc(start)) if one.task == started.task]
            if ended:
                return ended[0]
            state = f"starts in {start - now:.0f} s" if now < start else "is measuring"
            progress.update(job, description=f"{started.task} {state}")
            time.sleep(POLL_S)
    raise Unavailable(f"{started.task}: no result within {RESULT_WITHIN_S:g} s of its start")


def _read_values(
    api: Client, execution: ExecutionView, direction: dict[str, str], metrics: tuple[str, ...]
) -> list[MeasurementView]:
    """Return the values of a run.

    :raises Unavailable: if it gave none, with the reason.
    """
    from adon.api.base import format_utc

    if execution.outcome != "measured":
        raise Unavailable(f"{execution.task}: {execution.outcome}")
    since = format_utc(execution.started or execution.planned_start)
    deadline = time.monotonic() + VALUES_WITHIN_S
    while True:
        found = [
            one
            for metric in metrics
            for one in api.measurements(**direction, metric=metric, since=since, limit="1")
        ]
        if found:
            return found
        if time.monotonic() >= deadline:
            raise Unavailable(f"{execution.task}: was measured, but its values cannot be read")
        time.sleep(POLL_S)


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
