"""``adon alarm``: what the detectors found, and who is told."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, client, print_json, print_table

app = typer.Typer(help="Alarms about the paths.", no_args_is_help=True)

LONGEST_S = 300.0
"""The event stream ends after so long, and is opened again."""
AGAIN_S = 1.0


@app.command("list")
def list_(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    path: Annotated[str | None, typer.Option(help="Only about this path.")] = None,
    json_: JsonFlag = False,
) -> None:
    """The alarms in force, the newest first."""
    narrowed = {} if path is None else {"path": path}
    found = client(ctx).alarms(open_only=not all_, **narrowed)
    if json_:
        print_json(found)
        return
    rows = (
        (
            alarm["id"][:8],
            f"{datetime.fromisoformat(alarm['raised_at']).astimezone():%m-%d %H:%M:%S}",
            alarm["severity"] if alarm["bad"] else "better",
            "in force" if alarm["cleared_at"] is None else "over",
            alarm["acknowledged_by"] or "-",
            alarm["text"],
        )
        for alarm in found
    )
    print_table(("Alarm", "Raised", "Severity", "State", "Seen by", "What"), rows, "no alarm is in force")


@app.command()
def show(
    ctx: typer.Context,
    alarm: Annotated[str, typer.Argument(help="The alarm's id, or the beginning of it.")],
    json_: JsonFlag = False,
) -> None:
    """One alarm with its evidence: the level before, and what speaks against it."""
    from apps.cli.words import UNITS, value

    api = client(ctx)
    found = api.alarm(_one(api.alarms(open_only=False, limit="1000"), alarm, "alarm"))
    if json_:
        print_json(found)
        return
    unit = UNITS.get(found["series"]["metric"], "")
    typer.echo(f"{found['id']} {found['severity'] if found['bad'] else 'better'}: {found['text']}")
    typer.echo(f"raised {found['raised_at']}, {'in force' if found['cleared_at'] is None else 'over'}")
    if found["acknowledged_by"] is not None:
        typer.echo(f"seen by {found['acknowledged_by']} at {found['acknowledged_at']}")
    rows = (
        (name, value(part["mean"], unit), value(part["deviation"], unit), str(len(part["samples"])))
        for name in ("before", "after")
        if (part := found[name]) is not None
    )
    print_table(("", "Mean", "Deviation", "Samples"), rows, "")


@app.command()
def watch(
    ctx: typer.Context,
    seconds: Annotated[float, typer.Option(help="Stop after so long.")] = 86_400.0,
) -> None:
    """Alarms as they are raised, seen and cleared, from the event stream."""
    if not seconds > 0:
        raise InvalidInput.of("--seconds", f"{seconds:g} is not above zero")
    api, end = client(ctx), time.monotonic() + seconds
    last: str | None = None
    try:
        while (left := end - time.monotonic()) > 0:
            for name, kind, event in api.events(min(left, LONGEST_S), last):
                last = name
                if kind == "alarm":
                    typer.echo(_told(event))
            time.sleep(min(AGAIN_S, max(0.0, end - time.monotonic())))
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _told(alarm: dict[str, Any]) -> str:
    if alarm["cleared_at"] is not None:
        state = "over" if alarm["bad"] else "better"
    else:
        state = alarm["severity"]
        if alarm["acknowledged_by"] is not None:
            state += f", seen by {alarm['acknowledged_by']}"
    return (
        f"{datetime.fromisoformat(alarm['raised_at']).astimezone():%m-%d %H:%M:%S} {state}: {alarm['text']}"
    )


def _one(found: list[dict[str, Any]], beginning: str, what: str) -> str:
    """The id that begins so.

    :raises InvalidInput: if none does, or several.
    """
    ids = [str(one["id"]) for one in found if one["id"].startswith(beginning)]
    if len(ids) != 1:
        count = "no" if not ids else "more than one"
        raise InvalidInput.of(what, f"{count} {what} begins with {beginning[:40]!r}")
    return ids[0]


@app.command()
def ack(
    ctx: typer.Context,
    alarm: Annotated[str, typer.Argument(help="The alarm's id, or the beginning of it.")],
) -> None:
    """Say that somebody has seen an alarm."""
    api = client(ctx)
    known = api.acknowledge(_one(api.alarms(open_only=True, limit="1000"), alarm, "alarm"))
    typer.echo(f"{known['id'][:8]} was seen by {known['acknowledged_by']}")


@app.command()
def subscribe(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(help="A mail address, or a URL that is called.")],
    path: Annotated[str | None, typer.Option(help="Only about this path.")] = None,
    metric: Annotated[str | None, typer.Option(help="Only about this metric.")] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Only critical ones.")] = False,
) -> None:
    """Be told of alarms by mail, or by a signed call of a URL."""
    channel = "webhook" if target.startswith(("http://", "https://")) else "mail"
    wanted: dict[str, Any] = {"path": path, "metric": metric, "least": "critical" if critical else "warning"}
    kept = client(ctx).subscribe({"channel": channel, "target": target, "filter": wanted})
    typer.echo(f"{kept['id'][:8]}: {kept['channel']} to {kept['target']}")


@app.command()
def subscriptions(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Who is told of which alarms."""
    found = client(ctx).subscriptions()
    if json_:
        print_json(found)
        return
    rows = ((one["id"][:8], one["owner"], one["channel"], one["target"]) for one in found)
    print_table(
        ("Subscription", "Owner", "By", "To"), rows, "nobody is told; see: adon alarm subscribe --help"
    )


@app.command()
def unsubscribe(
    ctx: typer.Context,
    subscription: Annotated[str, typer.Argument(help="Its id, or the beginning of it.")],
) -> None:
    """Be told no more."""
    api = client(ctx)
    gone = _one(api.subscriptions(), subscription, "subscription")
    api.unsubscribe(gone)
    typer.echo(f"{gone[:8]} is gone")
