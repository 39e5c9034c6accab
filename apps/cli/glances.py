"""``adon version``, ``policy``, ``slice``, ``workflow``: settings, tenants, and what runs on hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli.common import JsonFlag, client, naming, print_json, print_table

if TYPE_CHECKING:
    from adon.api.sites import WorkflowList

policies = typer.Typer(help="Settings of the policy.", no_args_is_help=True)
slices = typer.Typer(help="Slices: the network's tenants.", no_args_is_help=True)
workflows = typer.Typer(help="Workflows and batch systems of hosts.", no_args_is_help=True)

SHARED = " (shared)"


def version(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Show the version of the server and of its database schema."""
    found = client(ctx).version()
    if json_:
        print_json(found)
        return
    typer.echo(f"ADON {found.version}, API {found.api}, Python {found.python}")
    typer.echo(f"code {found.code}")
    typer.echo(f"database schema {found.schema_revision}")


@policies.command("show")
def show_policy(
    ctx: typer.Context,
    set_: Annotated[bool, typer.Option("--set", help="Only what the configuration sets.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Show every setting of the policy with its meaning."""
    found = [one for one in client(ctx).policy() if one.configured or not set_]
    if json_:
        print_json(found)
        return
    rows = (
        (one.name, _written(one.value), "set" if one.configured else "default", one.meaning) for one in found
    )
    print_table(("Setting", "Value", "From", "Meaning"), rows, "the configuration sets nothing of it")


def _written(value: object) -> str:
    """As it would stand in the configuration, in one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@slices.command("list")
def list_slices(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List slices with their limits and their present use."""
    from apps.cli.words import value

    found = client(ctx).slices()
    if json_:
        print_json(found)
        return
    use = (
        (
            one.name + (SHARED if one.shared else ""),
            path.path,
            f"{path.source} > {path.destination}",
            value(path.reserved_bps, "bps"),
            value(path.allowed_bps, "bps"),
        )
        for one in found
        for path in one.paths
    )
    print_table(("Slice", "Path", "Direction", "Reserved", "Of"), use, "no slice uses a path")
    kept = (
        (
            one.name,
            rules.dpid,
            str(rules.rules),
            "no limit" if rules.budget is None else str(rules.budget),
        )
        for one in found
        for rules in one.rules
    )
    print_table(("Slice", "Switch", "Rules", "Of"), kept, "")


@workflows.command("list")
def list_workflows(
    ctx: typer.Context,
    host: Annotated[str | None, typer.Option(help="Only workflows of this host.")] = None,
    state: Annotated[str | None, typer.Option(help="running, success, failure or unknown.")] = None,
    json_: JsonFlag = False,
) -> None:
    """List workflows and batch systems as their hosts reported them."""
    with naming({"host": "--host", "state": "--state"}):
        found = client(ctx).workflows(host=host, state=state)
    if json_:
        print_json(found)
    else:
        _print_workflows(found)


def _print_workflows(found: WorkflowList) -> None:
    from apps.cli.words import age

    rows = (
        (
            one.host,
            one.name,
            one.state + (", silent" if one.stale else ""),
            "-" if one.percent_done is None else f"{one.percent_done:.0f} %",
            str(one.jobs.get("failed", 0)),
            age(one.age_seconds),
        )
        for one in found.items
    )
    print_table(("Host", "Workflow", "State", "Done", "Failed", "Reported"), rows, "no workflows")
    users = (
        (one.host, one.name, ", ".join(f"{count} {name}" for name, count in one.workflows.items()))
        for one in found.users
    )
    print_table(("Host", "User", "Workflows"), users, "")
    batch = (
        (
            one.host,
            one.name,
            one.system,
            _of(one.values, "cores_free", "cores_total"),
            _of(one.values, "jobs_running"),
            _of(one.values, "jobs_pending"),
            age(one.age_seconds),
        )
        for one in found.batch_systems
    )
    print_table(("Host", "Batch", "System", "Cores free", "Run", "Wait", "Reported"), batch, "")


def _of(values: dict[str, float], *names: str) -> str:
    """``12 of 64``; a dash for what was not told."""
    return " of ".join(f"{values[name]:.0f}" if name in values else "-" for name in names)
