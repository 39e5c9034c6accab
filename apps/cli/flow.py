"""``adon flow``: submit, list, show, watch, cancel, report."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import submitting
from apps.cli.arguments import FlowId
from apps.cli.common import JsonFlag, client, naming, option, print_json, print_table

if TYPE_CHECKING:
    from adon.api.flows import FlowView

app = typer.Typer(help="Flows: submit, follow and cancel transfers.", no_args_is_help=True)
app.command()(submitting.submit)
app.command()(submitting.again)


class Report(StrEnum):
    """What a transfer can say about itself."""

    STARTED = "started"
    PROGRESS = "progress"
    FINISHED = "finished"
    FAILED = "failed"


@app.command("list")
def list_(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="Only flows in this state.")] = None,
    requester: Annotated[str | None, typer.Option(help="Only flows of this user.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number.")] = 50,
    json_: JsonFlag = False,
) -> None:
    """List flows, the newest first."""
    with naming({"state": "--state", "requester": "--requester"}):
        flows = client(ctx).flows(state, requester, limit)
    if json_:
        print_json(flows)
    else:
        print_flows(flows, "no flow yet; ask for one with: adon flow submit --help")


def print_flows(flows: list[FlowView], empty: str) -> None:
    """Flows as a table."""
    from apps.cli.words import progress

    rows = (
        (
            flow.id,
            f"{flow.state} (advised)" if flow.advised else flow.state,
            flow.template,
            f"{flow.source} > {flow.destination}",
            progress(flow),
            flow.path or "-",
            flow.requester,
            flow.reason,
        )
        for flow in flows
    )
    columns = ("Flow", "State", "Template", "From > to", "Delivered", "Path", "Requester", "Reason")
    print_table(columns, rows, empty)


def queue(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List queued flows in the order of service."""
    found = client(ctx).queue()
    if json_:
        print_json(found)
        return
    print_flows(found.items, "no flow waits")
    if (hidden := found.waiting - len(found.items)) > 0:
        typer.echo(f"and {hidden} more")


@app.command()
def show(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """Show a flow, its history and its latest decision."""
    from apps.cli.decision import print_decision
    from apps.cli.times import at
    from apps.cli.words import status

    api = client(ctx)
    found, history, decisions = api.flow(flow), api.history(flow), api.decisions(flow)
    if json_:
        print_json({"flow": found, "history": history, "decisions": decisions})
        return
    typer.echo(status(found))
    rows = ((at(step.at), step.state, step.path or "-", step.reason) for step in history)
    print_table(("Time", "State", "Path", "Reason"), rows, "no history")
    if found.triggers:
        fired = ((at(one.at), str(one.count), "on" if one.on else "over", one.text) for one in found.triggers)
        print_table(("Last fired", "Times", "Now", "Trigger"), fired, "")
    if decisions:
        print_decision(decisions[-1])


@app.command()
def outcome(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """Compare what a finished flow was promised with what it got."""
    from apps.cli.outcome import print_outcome

    found = client(ctx).outcome(flow)
    if json_:
        print_json(found)
    else:
        print_outcome(found)


@app.command()
def why(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """Show what a queued flow waits for, and its place in the queue."""
    from apps.cli.times import at

    found = client(ctx).waiting(flow)
    if json_:
        print_json(found)
        return
    before, waiting = found.before, found.waiting
    place = f"{found.id}: {before or 'none'} {'is' if before == 1 else 'are'} before it"
    place += f", {waiting} {'flow waits' if waiting == 1 else 'flows wait'}"
    ends = "it is cancelled" if found.expires_at is None else at(found.expires_at)
    typer.echo(f"{place}; until {ends}")
    if found.claims:
        typer.echo("later flows cannot take what it waits for (starvation prevention)")
    for obstacle in found.waits_for:
        typer.echo(f"waits for  {obstacle}")


@app.command()
def watch(
    ctx: typer.Context,
    flow: FlowId,
    every: Annotated[str, typer.Option(help="Time between two requests.")] = "1 s",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; use the exit status.")] = False,
    json_: Annotated[
        bool, typer.Option("--json", help="Print each change as a JSON document per line.")
    ] = False,
) -> None:
    """Follow a flow until it ends.

    Exit status 1 if it did not finish.
    """
    from adon.units import parse_duration
    from apps.cli.watching import follow, leave_unless_finished

    option(every, parse_duration, "--every")
    pause = max(0.1, parse_duration(every))
    leave_unless_finished(follow(client(ctx, patient=True), flow, pause, as_json=json_, quiet=quiet))


@app.command()
def cancel(ctx: typer.Context, flow: FlowId, json_: JsonFlag = False) -> None:
    """Cancel a flow and remove its rules."""
    _print_flow(client(ctx).cancel(flow), json_)


@app.command()
def report(
    ctx: typer.Context,
    flow: FlowId,
    status: Annotated[Report, typer.Argument(help="State of the transfer.")],
    size: Annotated[str, typer.Option("--bytes", help="Bytes that the receiver has, such as '12 GB'.")],
    detail: Annotated[str, typer.Option(help="Comment.")] = "",
    json_: JsonFlag = False,
) -> None:
    """Report the state of a transfer.

    'finished' and 'failed' end the flow.
    """
    from adon.units import parse_size

    option(size, parse_size, "--bytes")
    with naming({"bytes": "--bytes", "detail": "--detail"}):
        _print_flow(client(ctx).report(flow, status.value, parse_size(size), detail), json_)


def _print_flow(flow: FlowView, json_: bool) -> None:
    from apps.cli.words import status

    if json_:
        print_json(flow)
    else:
        typer.echo(status(flow))
