"""``adon session``: at which browsers somebody is signed in, and how to sign out there."""

from __future__ import annotations

from typing import Annotated

import typer

from apps.cli import completing as offered
from apps.cli.common import JsonFlag, client, print_json, print_table

sessions = typer.Typer(help="Browser sessions.", no_args_is_help=True)

SessionId = Annotated[
    str, typer.Argument(help="Its id, as 'adon session list' shows it.", autocompletion=offered.sessions)
]


@sessions.command("list")
def list_sessions(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    json_: JsonFlag = False,
) -> None:
    """List browser sessions; of all users for administrators."""
    from apps.cli.times import at

    found = client(ctx).sessions(user)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            one.owner,
            one.how,
            at(one.began),
            at(one.last_seen),
            one.address or "-",
            one.browser or "-",
        )
        for one in found
    )
    columns = ("Session", "Owner", "By", "Began", "Last used", "From", "Browser")
    print_table(columns, rows, "no sessions")


@sessions.command()
def show(ctx: typer.Context, session: SessionId, json_: JsonFlag = False) -> None:
    """Show one browser session."""
    from apps.cli.times import at

    one = client(ctx).session(session)
    if json_:
        print_json(one)
        return
    typer.echo(f"{one.id} of {one.owner}, by {one.how}, {at(one.began)} to {at(one.ends)}")
    typer.echo(f"last used {at(one.last_seen)}; from {one.address or '-'} with {one.browser or '-'}")


@sessions.command()
def end(ctx: typer.Context, session: SessionId, json_: JsonFlag = False) -> None:
    """End one browser session."""
    found = client(ctx).end_session(session)
    print_json(found) if json_ else typer.echo(f"{session} is signed out")


@sessions.command("end-others")
def end_others(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="User; default: you.")] = None,
    json_: JsonFlag = False,
) -> None:
    """End all browser sessions of a user."""
    found = client(ctx).end_sessions(user)
    print_json(found) if json_ else typer.echo(f"{found.ended} signed out")
