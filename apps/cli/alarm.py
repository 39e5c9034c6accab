"""``adon alarm``: what the detectors found, and who is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import completing as offered
from apps.cli.arguments import AlarmId
from apps.cli.common import (
    JsonFlag,
    QuietFlag,
    client,
    naming,
    one_of,
    print_json,
    print_json_line,
    print_table,
)
from apps.cli.status import JsonLines, happening

if TYPE_CHECKING:
    from adon.api.alarms import AlarmView
    from adon.client import Client

app = typer.Typer(help="Alarms about the paths.", no_args_is_help=True)


OfPath = Annotated[
    str | None, typer.Option("--path", help="Only about this path.", autocompletion=offered.paths)
]


SubscriptionId = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTION", help="Its id, or the beginning of it.", autocompletion=offered.subscriptions
    ),
]


@app.command("list")
def list_(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Include ended ones.")] = False,
    path: OfPath = None,
    json_: JsonFlag = False,
) -> None:
    """List the open alarms, the newest first."""
    from apps.cli.times import day_and_clock

    narrowed = {} if path is None else {"path": path}
    found = client(ctx).alarms(open_only=not all_, **narrowed)
    if json_:
        print_json(found)
        return
    rows = (
        (
            alarm.id[:8],
            day_and_clock(alarm.raised_at),
            alarm.severity if alarm.bad else "better",
            "in force" if alarm.cleared_at is None else "over",
            alarm.acknowledged_by or "-",
            alarm.text,
        )
        for alarm in found
    )
    print_table(("Alarm", "Raised", "Severity", "State", "Acknowledged by", "What"), rows, "no open alarms")


@app.command()
def show(
    ctx: typer.Context,
    alarm: AlarmId,
    json_: JsonFlag = False,
) -> None:
    """Show one alarm with its evidence."""
    from adon.api.base import UNITS
    from apps.cli.times import at
    from apps.cli.words import value

    api = client(ctx)
    found = api.alarm(_named(api, alarm, open_only=False))
    if json_:
        print_json(found)
        return
    unit = UNITS.get(found.series.metric, "")
    typer.echo(f"{found.id} {found.severity if found.bad else 'better'}: {found.text}")
    typer.echo(f"raised {at(found.raised_at)}, {'open' if found.cleared_at is None else 'cleared'}")
    if found.acknowledged_by is not None:
        typer.echo(f"acknowledged by {found.acknowledged_by} at {at(found.acknowledged_at)}")
    rows = (
        (name, value(part.mean, unit), value(part.deviation, unit), str(len(part.samples)))
        for name, part in (("before", found.before), ("after", found.after))
        if part is not None
    )
    print_table(("", "Mean", "Deviation", "Samples"), rows, "")


@app.command()
def watch(
    ctx: typer.Context,
    seconds: Annotated[float, typer.Option(help="Stop after this time.")] = 86_400.0,
    json_: JsonLines = False,
) -> None:
    """Print alarms as they are raised, acknowledged and cleared."""
    from adon.api.alarms import AlarmView

    try:
        for kind, event in happening(client(ctx, patient=True), seconds):
            if kind == "alarm":
                print_json_line(event) if json_ else typer.echo(_told(AlarmView.model_validate(event)))
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _told(alarm: AlarmView) -> str:
    from apps.cli.times import day_and_clock

    if alarm.cleared_at is not None:
        state = "over" if alarm.bad else "better"
    else:
        state = alarm.severity
        if alarm.acknowledged_by is not None:
            state += f", seen by {alarm.acknowledged_by}"
    return f"{day_and_clock(alarm.raised_at)} {state}: {alarm.text}"


def _named(api: Client, beginning: str, *, open_only: bool) -> str:
    """The id of the alarm whose id begins so.

    :raises InvalidInput: if there is none, or several.
    """
    return one_of((one.id for one in api.alarms(open_only=open_only, limit="1000")), beginning, "alarm")


@app.command()
def ack(
    ctx: typer.Context,
    alarm: AlarmId,
    json_: JsonFlag = False,
) -> None:
    """Acknowledge an alarm."""
    api = client(ctx)
    known = api.acknowledge(_named(api, alarm, open_only=True))
    if json_:
        print_json(known)
    else:
        typer.echo(f"{known.id[:8]} is acknowledged by {known.acknowledged_by}")


@app.command()
def subscribe(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(help="Mail address or URL.")],
    path: OfPath = None,
    metric: Annotated[str | None, typer.Option(help="Only about this metric.")] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Only critical ones.")] = False,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Subscribe to alarms by mail or by a signed call of a URL."""
    channel = "webhook" if target.startswith(("http://", "https://")) else "mail"
    wanted = {"path": path, "metric": metric, "least": "critical" if critical else "warning"}
    with naming({"target": "TARGET", "filter.path": "--path", "filter.metric": "--metric"}):
        kept = client(ctx).subscribe({"channel": channel, "target": target, "filter": wanted})
    if json_:
        print_json(kept)
    else:
        typer.echo(kept.id if quiet else f"{kept.id[:8]}: {kept.channel} to {kept.target}")


@app.command()
def subscriptions(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List subscriptions to alarms."""
    found = client(ctx).subscriptions()
    if json_:
        print_json(found)
        return
    rows = ((one.id[:8], one.owner, one.channel, one.target) for one in found)
    print_table(
        ("Subscription", "Owner", "By", "To"), rows, "no subscriptions; see: adon alarm subscribe --help"
    )


@app.command()
def subscription(ctx: typer.Context, name: SubscriptionId, json_: JsonFlag = False) -> None:
    """Show one subscription: owner, channel, target and filter."""
    api = client(ctx)
    found = api.subscription(_subscribed(api, name))
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} of {found.owner}: {found.channel} to {found.target}")
    for wanted, value in found.filter.model_dump().items():
        if value is not None:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            typer.echo(f"{wanted.replace('_', ' ')}: {told}")


def _subscribed(api: Client, beginning: str) -> str:
    """The id of the subscription whose id begins so.

    :raises InvalidInput: if there is none, or several.
    """
    return one_of((one.id for one in api.subscriptions()), beginning, "subscription")


@app.command()
def unsubscribe(ctx: typer.Context, name: SubscriptionId, json_: JsonFlag = False) -> None:
    """Delete a subscription."""
    api = client(ctx)
    name = _subscribed(api, name)
    gone = api.unsubscribe(name)
    if json_:
        print_json(gone)
    else:
        typer.echo(f"{name[:8]} is deleted")
