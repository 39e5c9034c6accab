"""``adon path`` and ``adon rules``: the network as the controller knows it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from apps.cli.common import JsonFlag, client, print_json, print_table

paths = typer.Typer(help="Transit paths.", no_args_is_help=True)
rules = typer.Typer(help="OpenFlow rules.", no_args_is_help=True)

METRICS = ("throughput", "rtt", "one_way_delay", "jitter", "loss")


@paths.command("list")
def list_paths(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Every path and direction with its latest values and their age, and the alarms in force."""
    from apps.cli.words import alarms, reading, value

    body = client(ctx).network()
    found = body["items"]
    if json_:
        print_json(found)
        return
    rows = (
        (
            path["path"],
            path["layer"],
            f"{path['source']} > {path['destination']}",
            "up" if path["usable"] else f"down: {path['reason']}",
            value(path["capacity_bps"], "bps"),
            *(reading(path["metrics"].get(metric)) for metric in METRICS),
            " ".join(path["flows"]) or "-",
            alarms(path["alarms"]),
        )
        for path in found
    )
    columns = ("Path", "Layer", "Direction", "State", "Capacity", *METRICS, "Flows", "Alarms")
    print_table(columns, rows, "no path is configured; see: adon config check FILE")
    if body["estimates"]:
        _print_estimates(body["estimates"])


def _print_estimates(estimates: list[dict[str, Any]]) -> None:
    from apps.cli.words import error

    rows = (
        (
            one["path"],
            f"{one['source']} > {one['destination']}",
            one["basis"],
            str(one["count"]),
            error(one["median"]),
            f"{100 * one['spread']:.0f} points",
        )
        for one in estimates
    )
    columns = ("Path", "Direction", "Estimate from", "Flows", "Median error", "Half of them within")
    print_table(columns, rows, "")


@rules.command("show")
def show_rules(
    ctx: typer.Context,
    flow: Annotated[str | None, typer.Option(help="Only the rules of this flow.")] = None,
    dpid: Annotated[str | None, typer.Option(help="Only this switch (16 hex digits).")] = None,
    json_: JsonFlag = False,
) -> None:
    """The rules that should be in the switches, as ovs-ofctl prints them."""
    found = client(ctx).rules(flow, dpid)
    if json_:
        print_json(found)
        return
    if not found:
        typer.echo("no rules")
    for rule in found:
        error = f"  # {rule['error']}" if rule["error"] else ""
        typer.echo(f"{rule['dpid']} {rule['owner']} {rule['state']}: {rule['text']}{error}")


@rules.command("diff")
def diff_rules(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """How the switches differ from what should be; changes nothing."""
    found = client(ctx).rules_diff()
    if json_:
        print_json(found)
        return
    for switch in found:
        differences = [
            (kind, text) for kind in ("missing", "wrong", "extra", "blocked") for text in switch[kind]
        ]
        if switch["connected"]:
            state = f"{len(differences)} differences" if differences else "as it should be"
        else:
            state = f"not connected; {len(differences)} differences when it was last read"
        typer.echo(f"{switch['name']} {switch['dpid']}: {state}")
        for kind, text in differences:
            typer.echo(f"  {kind}: {text}")


@rules.command("sync")
def sync_rules(ctx: typer.Context) -> None:
    """Compare and repair every connected switch now."""
    switches = client(ctx).rules_sync()
    typer.echo(f"comparing and repairing {', '.join(switches)}" if switches else "no switch is connected")
