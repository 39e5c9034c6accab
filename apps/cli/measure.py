"""``adon measure``: what is measured, when, and measuring now."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Unavailable
from apps.cli.common import JsonFlag, client, print_json, print_table

if TYPE_CHECKING:
    from apps.cli.client import Client

app = typer.Typer(
    help="Measurements of the paths: the plan, its results, and measuring now.", no_args_is_help=True
)

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="A path's name.")]
SourceArgument = Annotated[str, typer.Argument(metavar="FROM", help="The site it leads from.")]
DestinationArgument = Annotated[str, typer.Argument(metavar="TO", help="The site it leads to.")]

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
BARS = "▁▂▃▄▅▆▇█"


@app.command()
def run(
    ctx: typer.Context,
    path: PathArgument,
    source: SourceArgument,
    destination: DestinationArgument,
    test: Annotated[str, typer.Option(help="throughput, rtt or latency.")] = "throughput",
    wait: Annotated[bool, typer.Option(help="Wait for the result.")] = True,
    json_: JsonFlag = False,
) -> None:
    """Do a configured test now, where the plan's slack admits it, and show what it gave."""
    if test not in YIELDS:
        raise InvalidInput.of("--test", f"{test!r} is none of {', '.join(YIELDS)}")
    api = client(ctx)
    accepted = api.measure(path, source, destination, test)
    if not wait:
        print_json(accepted) if json_ else typer.echo(f"{accepted['task']} starts at {accepted['start']}")
        return
    found = _result(api, accepted, {"path": path, "source": source, "destination": destination}, YIELDS[test])
    if json_:
        print_json(found)
    else:
        for measurement in found:
            typer.echo(_line(measurement))


def _result(
    api: Client, accepted: dict[str, Any], where: dict[str, str], metrics: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Wait until the run has ended; its values.

    :raises Unavailable: if it gave none, with the reason.
    """
    starts = datetime.fromisoformat(accepted["start"]).timestamp()
    with _progress() as progress:
        job = progress.add_task(accepted["task"], total=None)
        while (now := time.time()) < starts + RESULT_WITHIN_S:
            ended = [one for one in api.executions(accepted["start"]) if one["task"] == accepted["task"]]
            if ended:
                return _values(api, ended[0], where, metrics)
            state = f"starts in {starts - now:.0f} s" if now < starts else "is measuring"
            progress.update(job, description=f"{accepted['task']} {state}")
            time.sleep(0.5)
    raise Unavailable(f"{accepted['task']}: no result within {RESULT_WITHIN_S:g} s of its start")


def _values(
    api: Client, execution: dict[str, Any], where: dict[str, str], metrics: tuple[str, ...]
) -> list[dict[str, Any]]:
    if execution["outcome"] != "measured":
        raise Unavailable(f"{execution['task']}: {execution['outcome']}")
    since = execution["started"] or execution["planned_start"]
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
            raise Unavailable(f"{execution['task']}: was measured, but its values cannot be read")
        time.sleep(0.2)


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _line(measurement: dict[str, Any]) -> str:
    from apps.cli.words import value

    key = f"{measurement['path']} {measurement['source']} > {measurement['destination']}"
    tool = f" ({measurement['tool']})" if measurement["tool"] else ""
    at = datetime.fromisoformat(measurement["observed_at"]).astimezone()
    shown = value(measurement["value"], measurement["unit"])
    return f"{at:%H:%M:%S} {key} {measurement['metric']}: {shown}{tool}"


@app.command()
def schedule(
    ctx: typer.Context,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan as a picture (HTML).")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """The conflict-free plan (EDF-CE), its next runs, and what tests may offer to each path."""
    from apps.cli.words import value

    api = client(ctx)
    if page is not None:
        text = api.schedule_page()
        try:
            page.write_text(text)
        except OSError as error:
            raise InvalidInput.of("--page", f"{page}: {error.strerror}") from error
        typer.echo(f"{page}: a round of the plan")
        return
    found = api.schedule()
    if json_:
        print_json(found)
        return
    if not found["measures"]:
        typer.echo("another collector measures; this one stands by")
    rows = (
        (task["task"], task["tool"], f"{task['period_seconds']:g} s", f"{task['slot_seconds']:g} s")
        for task in found["tasks"]
    )
    print_table(("Test", "Kind", "Every", "Keeps its points for"), rows, "no test is configured")
    starts = ((_clock(start["start"]), start["task"]) for start in found["upcoming"])
    print_table(("Next at", "Test"), starts, "nothing is about to start")
    spent = (
        (
            name,
            value(spend["allowed_bps"], "bps"),
            value(spend["peak_bps"], "bps"),
            value(spend["mean_bps"], "bps"),
        )
        for name, spend in found["spend"].items()
    )
    print_table(
        ("Path or link", "Tests may offer", "Most at once", "On average"), spent, "no limit is agreed"
    )


def _clock(text: str) -> str:
    return f"{datetime.fromisoformat(text).astimezone():%H:%M:%S}"


@app.command()
def history(
    ctx: typer.Context,
    path: PathArgument,
    source: SourceArgument,
    destination: DestinationArgument,
    metric: Annotated[
        str, typer.Option(help="throughput, rtt, one_way_delay, jitter, loss, or another.")
    ] = "throughput",
    hours: Annotated[float, typer.Option(help="How far back.")] = 24.0,
    json_: JsonFlag = False,
) -> None:
    """One series in 60 stretches of time, as a picture and in figures."""
    from apps.cli.words import UNITS

    if not 0 < hours <= 24 * 3660:
        raise InvalidInput.of("--hours", f"{hours:g} is not a time between 0 and ten years")
    now = datetime.now(UTC)
    found = client(ctx).plot(
        path=path, source=source, destination=destination, metric=metric, points="60",
        since=(now - timedelta(hours=hours)).isoformat(), until=now.isoformat(),
    )  # fmt: skip
    if json_:
        print_json(found)
        return
    if not found:
        typer.echo("nothing was measured in this time; see: adon measure schedule")
        return
    _draw(found, UNITS.get(metric, ""))


@app.command()
def points(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """The measurement points that have announced themselves."""
    found = client(ctx).points()
    if json_:
        print_json(found)
        return
    rows = ((one["name"], one["url"], "silent" if one["silent"] else "there") for one in found)
    print_table(("Point", "URL", "State"), rows, "no measurement point has announced itself")


def _draw(buckets: list[dict[str, Any]], unit: str) -> None:
    from apps.cli.words import value

    means = [bucket["mean"] for bucket in buckets]
    low, high = min(means), max(means)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    typer.echo("".join(BARS[round((mean - low) * scale)] for mean in means))
    typer.echo(f"means from {value(low, unit)} to {value(high, unit)}")
    rows = (
        (
            f"{datetime.fromisoformat(bucket['start']).astimezone():%m-%d %H:%M:%S}",
            str(bucket["count"]),
            *(value(bucket[name], unit) for name in ("minimum", "mean", "maximum")),
            value(bucket["quantiles"]["0.95"], unit),
        )
        for bucket in buckets
    )
    print_table(("From", "Values", "Least", "Mean", "Most", "95 %"), rows, "")


@app.command()
def watch(
    ctx: typer.Context,
    seconds: Annotated[float | None, typer.Option(help="Stop after so long (default: until Ctrl-C).")] = None,
) -> None:
    """New values, and alarms, as they come."""
    if seconds is not None and not seconds > 0:
        raise InvalidInput.of("--seconds", f"{seconds:g} is not above zero")
    api = client(ctx)
    end = None if seconds is None else time.monotonic() + seconds
    began, seen = datetime.now(UTC), set[str]()
    try:
        while end is None or time.monotonic() < end:
            since = max(began, datetime.now(UTC) - LATE)
            for measurement in reversed(api.measurements(since=since.isoformat(), limit="1000")):
                name = f"{measurement['origin']} {measurement['metric']}"
                if name not in seen:
                    seen.add(name)
                    typer.echo(_line(measurement))
            for alarm in reversed(api.alarms(open_only=False, since=since.isoformat())):
                if alarm["id"] not in seen:
                    seen.add(alarm["id"])
                    typer.echo(f"{_clock(alarm['raised_at'])} ALARM {alarm['severity']}: {alarm['text']}")
            time.sleep(1.0)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
