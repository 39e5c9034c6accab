"""``adon maintenance`` and ``adon what-if``: outages that are known, and those that may come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.arguments import WindowId
from apps.cli.common import (
    EXIT_DIFFERS,
    JsonFlag,
    QuietFlag,
    client,
    naming,
    print_json,
    print_table,
)
from apps.cli.times import span

if TYPE_CHECKING:
    from adon.api.maintenance import LoadView, RehearsalView, WindowView

maintenance = typer.Typer(help="Maintenance windows.", no_args_is_help=True)

FAILURES = ("link-down", "path-down", "switch-down", "port-down", "maintenance")


@maintenance.command()
def add(
    ctx: typer.Context,
    scope: Annotated[str, typer.Argument(help="path, link, switch or site.")],
    name: Annotated[str, typer.Argument(help="Its name in the configuration.")],
    begins: Annotated[str, typer.Option("--from", help="A time such as 2026-11-21T02:00:00Z.")],
    ends: Annotated[str, typer.Option("--until", help="A time such as 2026-11-21T04:00:00Z.")],
    lead: Annotated[str, typer.Option(help="Running flows leave this long before the start.")] = "10 min",
    note: Annotated[str, typer.Option(help="Description.")] = "",
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Announce a maintenance window.

    No flow is admitted into it, and running flows leave before it.
    """
    body = {"scope": scope, "name": name, "begins": begins, "ends": ends, "lead": lead, "note": note}
    names = {"scope": "SCOPE", "name": "NAME", "begins": "--from", "ends": "--until", "lead": "--lead"}
    with naming(names):
        window = client(ctx).add_maintenance(body)
    if json_:
        print_json(window)
    elif quiet:
        typer.echo(window.id)
    else:
        typer.echo(f"{window.id} {window.stage}: {window.scope} {window.name}, {_times(window)}")


@maintenance.command("list")
def list_(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Include ended ones.")] = False,
    json_: JsonFlag = False,
) -> None:
    """List announced and active maintenance windows."""
    found = client(ctx).maintenance(all_=all_)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            one.stage,
            f"{one.scope} {one.name}",
            _times(one),
            one.requester,
            one.note or "-",
        )
        for one in found
    )
    print_table(("Window", "Stage", "What", "When", "By", "Note"), rows, "no maintenance is announced")


@maintenance.command()
def show(ctx: typer.Context, window: WindowId, json_: JsonFlag = False) -> None:
    """Show one maintenance window."""
    from adon.units import format_duration

    found = client(ctx).window(window)
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} {found.stage}: {found.scope} {found.name}, {_times(found)}")
    typer.echo(f"running flows leave {format_duration(found.lead_seconds)} before")
    typer.echo(f"announced by {found.requester}" + (f": {found.note}" if found.note else ""))


@maintenance.command()
def cancel(ctx: typer.Context, window: WindowId, json_: JsonFlag = False) -> None:
    """Cancel a maintenance window, also an active one."""
    gone = client(ctx).cancel_maintenance(window)
    if json_:
        print_json(gone)
    else:
        typer.echo(f"{gone.id} is cancelled")


def _times(window: WindowView) -> str:
    return span(window.begins, window.ends)


def what_if(
    ctx: typer.Context,
    failure: Annotated[str | None, typer.Argument(help=f"{', '.join(FAILURES)}.")] = None,
    name: Annotated[
        str | None,
        typer.Argument(help="A link, path or switch; SWITCH:PORT; m-3 or path:NAME, link:, switch:, site:."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every single failure, the worst first.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Show the effects of a failure on running flows.

    Exit status: 0 if every QSpec would be kept, 3 if one would break.
    """
    if all_ == (failure is not None) or (failure is None) != (name is None):
        raise InvalidInput.of("failure", "give a failure and a name, or --all")
    if failure is not None and failure not in FAILURES:
        raise InvalidInput.of("failure", f"{failure[:40]!r} is not one of {', '.join(FAILURES)}")
    found = client(ctx).what_if(failure, name)
    if json_:
        print_json(found)
    elif all_:
        _print_ranking(found)
    else:
        _print_report(found[0])
    if any(one.verdict == "broken" for one in found):
        raise typer.Exit(EXIT_DIFFERS)


def _print_ranking(found: list[RehearsalView]) -> None:
    rows = (
        (
            f"{one.failure} {one.name}",
            one.verdict,
            str(len(one.flows)),
            str(sum(flow.to is not None for flow in one.flows)),
            str(sum(flow.quality == "unknown" for flow in one.flows)),
            " ".join(flow.flow for flow in one.flows if flow.quality == "none") or "-",
        )
        for one in found
    )
    columns = ("Failure", "Verdict", "Flows hit", "Find a path", "Of unknown quality", "Broken")
    print_table(columns, rows, "no link, path, switch or port is configured")


def _print_report(report: RehearsalView) -> None:
    from apps.cli.words import score, value

    rows = (
        (
            flow.flow,
            str(flow.priority),
            value(flow.bound_bps, "bps"),
            flow.path,
            flow.to or flow.outcome,
            score(flow.q),
            value(flow.estimate_bps, "bps"),
            "broken" if flow.quality == "none" else flow.quality,
            flow.why,
        )
        for flow in report.flows
    )
    columns = ("Flow", "Priority", "Bound", "From", "To", "Q", "Expects", "QSpec", "Why")
    print_table(columns, rows, "no flow is affected")
    if report.loads:
        _print_loads(report.loads)
    typer.echo(_verdict(report))


def _print_loads(loads: list[LoadView]) -> None:
    from apps.cli.words import value

    rows = (
        (
            load.path,
            f"{load.source} > {load.destination}",
            value(load.before_bps, "bps"),
            value(load.after_bps, "bps"),
            "down" if load.down else value(load.carries_bps, "bps"),
            value(load.capacity_bps, "bps"),
        )
        for load in loads
    )
    print_table(("Path", "Direction", "Bounds now", "Then", "Carries then", "Capacity"), rows, "")


def _verdict(report: RehearsalView) -> str:
    hit, broken = len(report.flows), report.broken
    moved = sum(flow.to is not None for flow in report.flows)
    unknown = sum(flow.quality == "unknown" for flow in report.flows)
    doubt = f" ({unknown} to a path of unknown quality)" if unknown else ""
    return (
        f"{report.verdict}: {report.failure} {report.name}: {hit} flows affected, "
        f"{moved} moved to another path{doubt}, {broken} with broken QSpec"
    )
