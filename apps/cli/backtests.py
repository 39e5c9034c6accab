"""``adon backtest``: the past played again by the server, with another version of a template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.units import format_share
from apps.cli.arguments import BacktestId
from apps.cli.common import JsonFlag, QuietFlag, client, given, naming, print_json, print_table

if TYPE_CHECKING:
    from adon.api.templates import BacktestView

app = typer.Typer(help="Backtests of template versions on the server.", no_args_is_help=True)


@app.command()
def start(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A template file (YAML): the version to try.")],
    since: Annotated[str, typer.Option(metavar="TIME", help="2026-11-21T02:00:00Z, or how long ago: '7 d'.")],
    until: Annotated[str | None, typer.Option(metavar="TIME", help="As --since (default: now).")] = None,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Start a backtest of a template on the server.

    The command prints the id of the backtest and does not wait for its result.
    """
    from datetime import UTC, datetime

    from apps.cli.template import document_of
    from apps.cli.times import since as moment

    now = datetime.now(UTC)
    question = {
        "template": document_of(file),
        "since": moment(since, now, "--since"),
        "until": None if until is None else moment(until, now, "--until"),
    }
    with naming({"since": "--since", "until": "--until"}):
        made = client(ctx).start_backtest(given(question))
    if json_:
        print_json(made)
    elif quiet:
        typer.echo(made.id)
    else:
        typer.echo(f"{made.id} {made.state}; show it with: adon backtest show {made.id}")


@app.command("list")
def list_(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List the server's backtests, the newest first."""
    from apps.cli.times import at, span

    found = client(ctx).backtests()
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            one.state,
            one.template,
            span(one.since, one.until),
            one.requester,
            at(one.asked_at),
            one.cause or "-",
        )
        for one in found
    )
    columns = ("Backtest", "State", "Template", "Of", "By", "Asked", "Why it failed")
    print_table(columns, rows, "no backtests; start one with: adon backtest start --help")


@app.command()
def show(ctx: typer.Context, backtest: BacktestId, json_: JsonFlag = False) -> None:
    """Show one backtest: flows with another path, and time saved."""
    found = client(ctx).backtest(backtest)
    if json_:
        print_json(found)
    else:
        _print(found)


@app.command()
def cancel(ctx: typer.Context, backtest: BacktestId, json_: JsonFlag = False) -> None:
    """Cancel a backtest, or delete a finished one."""
    gone = client(ctx).cancel_backtest(backtest)
    if json_:
        print_json(gone)
    else:
        typer.echo(f"{gone.id} is {gone.state}")


def _print(one: BacktestView) -> None:
    from adon.units import format_size
    from apps.cli.times import span

    typer.echo(f"{one.id} {one.state}: {one.template}, {span(one.since, one.until)}")
    if one.cause:
        typer.echo(one.cause)
    found = one.found
    if found is None:
        return
    rows = (
        (
            flow.flow,
            format_size(flow.size_bytes),
            "yes" if flow.moved else "no",
            "-" if flow.saved_seconds is None else _saved(flow.saved_seconds),
        )
        for flow in found.flows
    )
    print_table(("Flow", "Size", "Another way", "Time"), rows, "no flow was asked for in this time")
    typer.echo(f"{found.moved} of {len(found.flows)} flows take another path with {found.proposed}")
    typer.echo(f"time from request to end: {_saved(found.saved_seconds)} in all")
    if found.model_off_by is not None:
        off = format_share(found.model_off_by)
        typer.echo(f"with {found.present} the model differs from the observation by {off}")
    typer.echo(found.model)


def _saved(seconds: float) -> str:
    from adon.units import format_duration

    if abs(seconds) < 0.05:
        return "the same"
    return f"{format_duration(abs(seconds))} {'saved' if seconds > 0 else 'lost'}"
