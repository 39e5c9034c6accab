"""Rules in the form of ovs-ofctl, subscriptions to alarms, and the effects of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.api_completion import complete
from apps.cli.common import EXIT_DIFFERS, QuietFlag, client, naming, plain_json
from apps.cli.document_printer import CommandGroup, print_document, print_items
from apps.cli.status_commands import watch_alarms

if TYPE_CHECKING:
    from adon.api.maintenance import RehearsalView
    from adon.api.rules import SwitchDifference

switches = CommandGroup("Switches.")
rules = CommandGroup("OpenFlow rules.")
alarms = CommandGroup("Alarms about the paths.")
alarms.command("watch")(watch_alarms)

FAILURES = ("link-down", "path-down", "switch-down", "port-down", "maintenance")
DIFFERENCES = ("missing", "wrong", "extra", "blocked")


@switches.command("list")
def list_switches(ctx: typer.Context) -> None:
    """List switches with state, features, table use and ports."""
    found = client(ctx).topology().switches
    if print_document(found):
        return
    items = [{**one.body(), "ports_down": one.down} for one in found]
    columns = "name dpid connected mode pipeline control rules foreign_rules"
    print_items(items, f"{columns} table.active table.maximum table.budget ports_down lacks", "No switches.")


@rules.command("show")
def show_rules(
    ctx: typer.Context,
    flow: Annotated[
        str | None, typer.Option(help="Only of this flow, such as f-17.", autocompletion=complete("flow"))
    ] = None,
    dpid: Annotated[str | None, typer.Option(help="Only this switch (16 hex digits).")] = None,
    removed: Annotated[bool, typer.Option("--removed", help="Include removed rules.")] = False,
) -> None:
    """Print the desired rules in the form of ovs-ofctl."""
    with naming({"flow": "--flow", "dpid": "--dpid"}):
        known = client(ctx).rules(flow, dpid)
    found = [rule for rule in known if removed or rule.state != "removed"]
    if print_document(found):
        return
    if not found:
        typer.echo("No rules.")
    for rule in found:
        error = f"  # {rule.error}" if rule.error else ""
        kind = f" {rule.kind}" if rule.kind in ("group", "meter") else ""
        typer.echo(f"{rule.dpid} {rule.owner}{kind} {rule.state}: {rule.text}{error}")


@rules.command("diff")
def diff_rules(ctx: typer.Context) -> None:
    """Compare the rules in the switches with the desired rules."""
    found = client(ctx).rules_diff()
    if print_document(found):
        return
    for switch in found:
        _print_difference(switch)


def _print_difference(switch: SwitchDifference) -> None:
    differences = [(kind, text) for kind in DIFFERENCES for text in getattr(switch, kind)]
    if not switch.connected:
        state = f"not connected; {len(differences)} differences when it was last read"
    elif differences:
        state = f"{len(differences)} differences"
    else:
        state = "as it should be"
    typer.echo(f"{switch.name} {switch.dpid}: {state}")
    for kind, text in differences:
        typer.echo(f"  {kind}: {text}")


@alarms.command()
def subscribe(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(help="Mail address or URL.")],
    path: Annotated[
        str | None, typer.Option(help="Only about this path.", autocompletion=complete("path"))
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Only about this metric.")] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Only critical ones.")] = False,
    quiet: QuietFlag = False,
) -> None:
    """Subscribe to alarms by mail or by a signed call of a URL."""
    channel = "webhook" if target.startswith(("http://", "https://")) else "mail"
    wanted = {"path": path, "metric": metric, "least": "critical" if critical else "warning"}
    with naming({"target": "TARGET", "filter.path": "--path", "filter.metric": "--metric"}):
        created = client(ctx).subscribe({"channel": channel, "target": target, "filter": wanted})
    if quiet:
        typer.echo(created.id)
    elif not print_document(created):
        typer.echo(f"{created.id}: {created.channel} to {created.target}")


def what_if(
    ctx: typer.Context,
    failure: Annotated[str | None, typer.Argument(help=f"{', '.join(FAILURES)}.")] = None,
    name: Annotated[
        str | None,
        typer.Argument(help="A link, path or switch; SWITCH:PORT; m-3 or path:NAME, link:, switch:, site:."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every single failure, the worst first.")] = False,
) -> None:
    """Show the effects of a failure on running flows.

    Exit status: 0 if every QSpec would be kept, 3 if one would break.
    """
    if all_ == (failure is not None) or (failure is None) != (name is None):
        raise InvalidInput.of("failure", "give a failure and a name, or --all")
    if failure is not None and failure not in FAILURES:
        raise InvalidInput.of("failure", f"{failure[:40]!r} is not one of {', '.join(FAILURES)}")
    found = client(ctx).what_if(failure, name)
    if not print_document(found):
        if all_:
            print_items(
                [_summarise(one) for one in found], "", "No link, path, switch or port is configured."
            )
        else:
            _print_report(found[0])
    if any(one.verdict == "broken" for one in found):
        raise typer.Exit(EXIT_DIFFERS)


def _summarise(report: RehearsalView) -> dict[str, object]:
    return {
        "failure": report.failure,
        "name": report.name,
        "verdict": report.verdict,
        "flows_affected": len(report.flows),
        "flows_rerouted": sum(flow.to is not None for flow in report.flows),
        "unknown_quality": sum(flow.quality == "unknown" for flow in report.flows),
        "flows_broken": [flow.flow for flow in report.flows if flow.quality == "none"],
    }


def _print_report(report: RehearsalView) -> None:
    shown = plain_json(report)
    loads = "path source destination before_bps after_bps down carries_bps capacity_bps"
    columns = "flow priority bound_bps from to outcome q estimate_bps quality why"
    print_items(shown["flows"], columns, "No flow is affected.")
    print_items(shown["loads"], loads, "")
    found = _summarise(report)
    typer.echo(
        f"{report.verdict}: {report.failure} {report.name}: {found['flows_affected']} flows affected, "
        f"{found['flows_rerouted']} rerouted, {found['unknown_quality']} of them to a path of unknown "
        f"quality, {report.broken} with broken QSpec"
    )
