"""``adon path`` and ``adon rules``: the network as the controller knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import completing as offered
from apps.cli.arguments import OfFlow, OfSwitch
from apps.cli.common import JsonFlag, client, naming, print_json, print_table

if TYPE_CHECKING:
    from adon.api.network import EstimateView

paths = typer.Typer(help="Transit paths.", no_args_is_help=True)
hosts = typer.Typer(help="Data transfer nodes.", no_args_is_help=True)
rules = typer.Typer(help="OpenFlow rules.", no_args_is_help=True)

NARROWED = {"flow": "--flow", "dpid": "--dpid"}
METRICS = ("throughput", "rtt", "one_way_delay", "jitter", "loss", "health")


@paths.command("list")
def list_paths(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List paths with their latest values, ages and alarms."""
    from apps.cli.words import alarms, reading, value

    body = client(ctx).network()
    found = body.items
    if json_:
        print_json(found)
        return
    rows = (
        (
            path.path,
            path.layer,
            f"{path.source} > {path.destination}",
            "up" if path.usable else f"down: {path.reason}",
            value(path.capacity_bps, "bps"),
            *(reading(path.metrics.get(metric)) for metric in METRICS),
            " ".join(path.flows) or "-",
            alarms(path.alarms),
        )
        for path in found
    )
    columns = ("Path", "Layer", "Direction", "State", "Capacity", *METRICS, "Flows", "Alarms")
    print_table(columns, rows, "no path is configured; see: adon config check FILE")
    if body.estimates:
        _print_estimates(body.estimates)


def _print_estimates(estimates: list[EstimateView]) -> None:
    from apps.cli.words import error

    rows = (
        (
            one.path,
            f"{one.source} > {one.destination}",
            one.basis,
            str(one.count),
            error(one.median),
            f"{100 * one.spread:.0f} points",
        )
        for one in estimates
    )
    columns = ("Path", "Direction", "Estimate from", "Flows", "Median error", "Half of them within")
    print_table(columns, rows, "")


@hosts.command("list")
def list_hosts(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List data transfer nodes."""
    found = client(ctx).hosts()
    if json_:
        print_json(found)
        return
    rows = ((one.name, one.site) for one in found)
    print_table(("Host", "Campus"), rows, "no host is configured; see: adon config check FILE")


@rules.command("show")
def show_rules(
    ctx: typer.Context,
    flow: OfFlow = None,
    dpid: OfSwitch = None,
    removed: Annotated[bool, typer.Option("--removed", help="Include removed rules.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Print the desired rules in the form of ovs-ofctl."""
    with naming(NARROWED):
        known = client(ctx).rules(flow, dpid)
    found = [rule for rule in known if removed or rule.state != "removed"]
    if json_:
        print_json(found)
        return
    if not found:
        typer.echo("no rules")
    for rule in found:
        error = f"  # {rule.error}" if rule.error else ""
        kind = f" {rule.kind}" if rule.kind in ("group", "meter") else ""
        typer.echo(f"{rule.dpid} {rule.owner}{kind} {rule.state}: {rule.text}{error}")


@rules.command("explain")
def explain_rules(
    ctx: typer.Context,
    of: Annotated[
        str,
        typer.Argument(
            help="A flow (f-17), path-0, switch-2, or a cookie as a switch prints it.",
            autocompletion=offered.flows,
        ),
    ],
    json_: JsonFlag = False,
) -> None:
    """Explain the rules of a flow, a path or a cookie."""
    found = client(ctx).rules_explained(of)
    if json_:
        print_json(found)
        return
    asked = f" of {found.requester}" if found.requester else ""
    because = f": {found.because} ({found.decision})" if found.because else ""
    typer.echo(f"{found.owner}{asked}{because}")
    for rule in found.items:
        error = f" ({rule.error})" if rule.error else ""
        typer.echo(f"\n{rule.dpid} {rule.state}{error}: {rule.purpose}")
        typer.echo(f"  takes  {rule.packets}")
        for deed in rule.deeds:
            typer.echo(f"  then   {deed}")
        typer.echo(f"  {rule.text}")


@rules.command("sent")
def list_sent(
    ctx: typer.Context,
    flow: OfFlow = None,
    dpid: OfSwitch = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    json_: JsonFlag = False,
) -> None:
    """List rule changes with their events, the newest first."""
    from apps.cli.times import at

    with naming(NARROWED):
        found = client(ctx).rules_sent(flow, dpid, limit)
    if json_:
        print_json(found)
        return
    for one in found:
        typer.echo(f"{at(one.at)} {one.dpid} {one.op} {one.owner} by {one.cause}: {one.text}")
    if not found:
        typer.echo("nothing was sent")


@rules.command("diff")
def diff_rules(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Compare the rules in the switches with the desired rules."""
    found = client(ctx).rules_diff()
    if json_:
        print_json(found)
        return
    for switch in found:
        differences = [
            (kind, text)
            for kind, texts in (
                ("missing", switch.missing),
                ("wrong", switch.wrong),
                ("extra", switch.extra),
                ("blocked", switch.blocked),
            )
            for text in texts
        ]
        if switch.connected:
            state = f"{len(differences)} differences" if differences else "as it should be"
        else:
            state = f"not connected; {len(differences)} differences when it was last read"
        typer.echo(f"{switch.name} {switch.dpid}: {state}")
        for kind, text in differences:
            typer.echo(f"  {kind}: {text}")


@rules.command("sync")
def sync_rules(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Compare and repair every connected switch now."""
    switches = client(ctx).rules_sync()
    if json_:
        print_json(switches)
        return
    typer.echo(f"comparing and repairing {', '.join(switches)}" if switches else "no switch is connected")
