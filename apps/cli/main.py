"""``adon``: the command line.

Commands that ask or change something use the REST API (``--url``, ADON_URL; the token is in ADON_TOKEN, in
the file that ADON_TOKEN_FILE names, or what ``adon login`` stored; never an argument, where ``ps`` would show
it).  Exit status: 0 done, 2 an input is wrong (one line per problem on standard error), 3 done and the answer
is no, 1 anything else.  Imports are inside the commands, so that ``adon --help`` and shell completion are
quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from apps.cli import (
    access_commands,
    advice_commands,
    archive_commands,
    audit_commands,
    config_commands,
    decision_commands,
    deploy_commands,
    evaluate,
    experiment_commands,
    flow_commands,
    health_commands,
    measurement_commands,
    network_commands,
    placement_commands,
    server_commands,
    status_commands,
    study,
    template_commands,
    testbed_commands,
)
from apps.cli.command_table import COMMANDS
from apps.cli.common import ADMINISTRATION, ENGINEER, OPERATOR, RESEARCHER, Settings
from apps.cli.document_printer import CommandGroup
from apps.cli.rest_call import run_rest_command
from apps.cli.rest_command import build_command
from apps.cli.root_group import RootGroup

HELP = "Application-driven transit and compute selection for data-intensive science."

app = CommandGroup(HELP, cls=RootGroup, pretty_exceptions_show_locals=False)

GROUPS: Mapping[str, Mapping[str, typer.Typer]] = {
    RESEARCHER: {
        "flow": flow_commands.app,
        "host": CommandGroup("Data transfer nodes."),
        "decision": decision_commands.app,
        "outcome": CommandGroup("Promised and achieved values of finished flows."),
        "advice": advice_commands.app,
        "site": CommandGroup("Compute sites."),
        "job": CommandGroup("Jobs at compute sites."),
        "reserve": CommandGroup("Reservations of compute sites and paths."),
        "workflow": CommandGroup("Workflows and batch systems of hosts."),
    },
    ENGINEER: {
        "template": template_commands.app,
        "backtest": template_commands.backtests,
        "forecast": CommandGroup("Forecasts of completion times."),
        "measure": measurement_commands.app,
        "plan": config_commands.plans,
        "place": placement_commands.app,
        "health": health_commands.app,
        "evaluate": evaluate.app,
        "experiment": experiment_commands.app,
        "study": study.app,
        "testbed": testbed_commands.app,
    },
    OPERATOR: {
        "alarm": network_commands.alarms,
        "path": CommandGroup("Transit paths."),
        "switch": network_commands.switches,
        "link": CommandGroup("Links between switches."),
        "circuit": CommandGroup("Paths with VLAN, links and switches."),
        "rules": network_commands.rules,
        "maintenance": CommandGroup("Maintenance windows."),
        "slice": CommandGroup("Slices: the network's tenants."),
        "policy": CommandGroup("Settings of the policy."),
    },
    ADMINISTRATION: {
        "token": access_commands.tokens,
        "session": CommandGroup("Browser sessions."),
        "user": access_commands.users,
        "role": CommandGroup("Roles and their permissions."),
        "audit": audit_commands.app,
        "archive": archive_commands.app,
        "config": config_commands.app,
        "deploy": deploy_commands.app,
    },
}
"""Groups of commands by the panel of the help."""


def _register_rows() -> None:
    """Add the commands of the table to their groups."""
    for panel, rows in COMMANDS.items():
        for row in rows:
            function = build_command(row, run_rest_command)
            group, _, name = row.name.rpartition(" ")
            if group:
                GROUPS[panel][group].command(name)(function)
            else:
                app.command(name, rich_help_panel=panel)(function)


_register_rows()
for _panel, _groups in GROUPS.items():
    for _name, _group in _groups.items():
        app.add_typer(_group, name=_name, rich_help_panel=_panel)
COMMANDS_OF_PANELS: Mapping[str, tuple[Callable[..., None], ...]] = {
    RESEARCHER: (access_commands.login, access_commands.whoami, access_commands.logout),
    OPERATOR: (
        network_commands.what_if,
        status_commands.events,
        status_commands.status,
        status_commands.metrics,
    ),
    ADMINISTRATION: (
        status_commands.openapi,
        server_commands.reload,
        server_commands.backup,
        server_commands.restore,
    ),
}
"""Commands outside of groups."""
for _panel, _functions in COMMANDS_OF_PANELS.items():
    for _function in _functions:
        app.command(rich_help_panel=_panel)(_function)
for _function in (server_commands.serve, server_commands.collect, server_commands.demo):
    app.command(rich_help_panel=ADMINISTRATION, formats=False)(_function)


def _version(wanted: bool) -> None:
    if wanted:
        from adon.code_version import code_version

        typer.echo(f"adon {code_version()}")
        raise typer.Exit


@app.callback()
def connection(
    ctx: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="ADON_URL",
            help="Address of the REST API (default: the last adon login, else http://127.0.0.1:8080).",
        ),
    ] = None,
    utc: Annotated[bool, typer.Option("--utc", help="Show times in UTC; valid at any place.")] = False,
    version: Annotated[  # noqa: ARG001 - its callback prints it and ends the program
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Application-driven transit and compute selection for data-intensive science."""
    from apps.cli.value_format import UTC_WANTED

    ctx.obj = Settings(url)
    UTC_WANTED.set(utc)


def main() -> None:
    """The entry point."""
    app(prog_name="adon")


if __name__ == "__main__":
    main()
