"""``adon flow``: submit, list, show, watch, cancel, report."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from typing import Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli.common import EXIT_OTHER, JsonFlag, client, option, print_json, print_table

app = typer.Typer(help="Transfers: ask for one, follow it, end it.", no_args_is_help=True)

FlowId = Annotated[str, typer.Argument(metavar="FLOW", help="As in f-17.")]


class Report(StrEnum):
    """What a transfer can say about itself."""

    STARTED = "started"
    PROGRESS = "progress"
    FINISHED = "finished"
    FAILED = "failed"


@app.command()
def submit(
    ctx: typer.Context,
    source: Annotated[str, typer.Option("--from", help="The host the data is on.")],
    destination: Annotated[str, typer.Option("--to", help="The host it goes to.")],
    size: Annotated[str, typer.Option(help="How much, as in '25 GB'.")],
    template: Annotated[str | None, typer.Option(help="soykb, or soykb@3.")] = None,
    application: Annotated[str | None, typer.Option(help="The application's type.")] = None,
    weight: Annotated[list[str] | None, typer.Option(help="METRIC=NUMBER; may be repeated.")] = None,
    at_least: Annotated[
        str | None, typer.Option(help="Single-stream throughput it needs, as in '700 Mbps'.")
    ] = None,
    port: Annotated[list[int] | None, typer.Option(help="A destination port; may be repeated.")] = None,
    priority: Annotated[int | None, typer.Option(help="0 to 999.")] = None,
    streams: Annotated[int | None, typer.Option(help="Parallel streams it uses.")] = None,
    patience: Annotated[str | None, typer.Option(help="How long it may wait, as in '10 min'.")] = None,
    not_before: Annotated[
        str | None, typer.Option(help="Reserve bandwidth from then on: 2026-11-21T22:00:00Z, or '8 h'.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(help="To be done by then: 2026-11-22T06:00:00Z, or '8 h'.")
    ] = None,
    pausable: Annotated[
        bool | None,
        typer.Option(help="Whether its tool stops while the flow waits, and goes on where it was."),
    ] = None,
    slice_: Annotated[
        str | None, typer.Option("--slice", help="The slice it belongs to, for members of several.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(help="Run on the data where it arrives: a program there, and words for it.")
    ] = None,
    label: Annotated[str, typer.Option(help="For your own use.")] = "",
    json_: JsonFlag = False,
) -> None:
    """Ask for a transfer; returns at once with the flow's id."""
    from adon.moments import parse_moment
    from adon.units import parse_duration, parse_rate, parse_size

    option(at_least, parse_rate, "at_least")
    option(size, parse_size, "size")
    option(patience, parse_duration, "queue_patience")
    option(not_before, parse_moment, "not_before")
    option(deadline, parse_moment, "deadline")
    request: dict[str, Any] = {"source": source, "destination": destination, "size": size, "label": label}
    wishes: dict[str, Any] = {
        "template": template,
        "application": application,
        "priority": priority,
        "streams": streams,
        "slice": slice_,
    }
    wishes |= {"not_before": not_before, "deadline": deadline, "pausable": pausable}
    wishes |= {"queue_patience": patience, "ports": port or None, "weights": _weights(weight or [])}
    if job is not None:
        words = job.split()
        if not words:
            raise InvalidInput.of("job", "names no program")
        wishes["job"] = {"job": words[0], "arguments": words[1:]}
    if at_least is not None:
        wishes["qspec"] = {"throughput": {"min": at_least}}
    request |= {name: value for name, value in wishes.items() if value is not None}
    flow = client(ctx).submit(request)
    if json_:
        print_json(flow)
    else:
        typer.echo(f"{flow['id']} {flow['state']}; follow it with: adon flow watch {flow['id']}")


def _weights(texts: list[str]) -> dict[str, float] | None:
    weights: dict[str, float] = {}
    for text in texts:
        metric, sign, number = text.partition("=")
        try:
            weights[metric.strip()] = float(number) if sign else float("nan")
        except ValueError:
            weights[metric.strip()] = float("nan")
        if not 0 <= weights[metric.strip()] < float("inf"):
            raise InvalidInput.of("weight", f"{text[:60]!r} is not METRIC=NUMBER, zero or more")
    return weights or None


@app.command("list")
def list_(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="Only flows in this state.")] = None,
    requester: Annotated[str | None, typer.Option(help="Only flows of this person.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """The newest flows."""
    from apps.cli.words import progress

    flows = client(ctx).flows(state, requester, limit)
    if json_:
        print_json(flows)
        return
    rows = (
        (
            flow["id"],
            f"{flow['state']} (advised)" if flow["advised"] else flow["state"],
            flow["template"],
            f"{flow['source']} > {flow['destination']}",
            progress(flow),
            flow["path"] or "-",
            flow["requester"],
            flow["reason"],
        )
        for flow in flows
    )
    columns = ("Flow", "State", "Template", "From > to", "Delivered", "Path", "Requester", "Reason")
    print_table(columns, rows, "no flow yet; ask for one with: adon flow submit --help")


@app.command()
def show(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """One flow, its history and its latest decision."""
    from apps.cli.decision import print_decision
    from apps.cli.words import status

    api = client(ctx)
    found, history, decisions = api.flow(flow), api.history(flow), api.decisions(flow)
    if json_:
        print_json({"flow": found, "history": history, "decisions": decisions})
        return
    typer.echo(status(found))
    rows = ((step["at"], step["state"], step["path"] or "-", step["reason"]) for step in history)
    print_table(("Time", "State", "Path", "Reason"), rows, "no history")
    if found["triggers"]:
        fired = (
            (one["at"], str(one["count"]), "on" if one["on"] else "over", one["text"])
            for one in found["triggers"]
        )
        print_table(("Last fired", "Times", "Now", "Trigger"), fired, "")
    if decisions:
        print_decision(decisions[-1])


@app.command()
def outcome(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """What a flow that has ended was promised, got, and met on its way."""
    from apps.cli.outcome import print_outcome

    found = client(ctx).outcome(flow)
    if json_:
        print_json(found)
    else:
        print_outcome(found)


@app.command()
def why(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """What a waiting flow waits for, when it may start, and what change of it would be admitted now."""
    found = client(ctx).waiting(flow)
    if json_:
        print_json(found)
        return
    before, waiting = found["before"], found["waiting"]
    place = f"{found['id']}: {before or 'none'} of its group {'is' if before == 1 else 'are'} before it"
    place += f", {waiting} {'flow waits' if waiting == 1 else 'flows wait'}"
    typer.echo(f"{place}; until {found['expires_at'] or 'it is cancelled'}")
    if found["claims"]:
        typer.echo("what it waits for is kept for it: nobody behind it is admitted there")
    for obstacle in found["waits_for"]:
        typer.echo(f"waits for  {obstacle}")
    start = found["start"]
    told = (
        found["start_why"]
        if start is None
        else f"{start['expected']} ({start['earliest']} to {start['latest']}): {found['start_why']}"
    )
    if told:
        typer.echo(f"may start  {told}")
    for one in found["suggestions"]:
        typer.echo(f"would do   {one['text']} ({one['path']})")


@app.command()
def watch(
    ctx: typer.Context,
    flow: FlowId,
    every: Annotated[str, typer.Option(help="Time between two looks.")] = "1 s",
) -> None:
    """Follow a flow until it ends; exit status 1 if it did not finish."""
    from adon.units import parse_duration
    from apps.cli.client import changes
    from apps.cli.words import status

    option(every, parse_duration, "every")
    pause = max(0.1, parse_duration(every))
    api = client(ctx)
    if sys.stdout.isatty():
        last = _watch_live(api, flow, pause)
    else:
        last = {}
        for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), _told):
            typer.echo(status(last))
    if last["state"] != "finished":
        raise typer.Exit(EXIT_OTHER)


def _told(flow: dict[str, Any]) -> object:
    # Not the bytes: a line for each would be a line per second.
    return flow["state"], flow["path"], flow["quality"], flow["reason"]


def _watch_live(api: Any, flow: str, pause: float) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from apps.cli.client import changes
    from apps.cli.words import status

    console = Console()
    told: object = None
    last: dict[str, Any] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(flow)
        for last in changes(lambda: api.flow(flow), lambda: time.sleep(pause), lambda found: str(found)):
            if (now := _told(last)) != told:
                told = now
                progress.print(status(last), markup=False)
            progress.update(task, total=last["transfer_size_bytes"], completed=last["bytes_moved"])
    return last


@app.command()
def cancel(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """Cancel a flow; its rules are removed."""
    _print_flow(client(ctx).cancel(flow), json_)


@app.command()
def report(
    ctx: typer.Context,
    flow: FlowId,
    status: Annotated[Report, typer.Argument(help="How the transfer stands.")],
    size: Annotated[str, typer.Option("--bytes", help="What the receiver has, as in '12 GB'.")],
    detail: Annotated[str, typer.Option(help="A word on it.")] = "",
    json_: JsonFlag = False,
) -> None:
    """Tell how a flow's transfer stands; 'finished' and 'failed' end the flow."""
    from adon.units import parse_size

    option(size, parse_size, "bytes")
    _print_flow(client(ctx).report(flow, status.value, parse_size(size), detail), json_)


def _print_flow(flow: dict[str, Any], json_: bool) -> None:
    from apps.cli.words import status

    if json_:
        print_json(flow)
    else:
        typer.echo(status(flow))
