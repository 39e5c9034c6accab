"""``adon``: the command line.

Commands that ask or change something use the REST API (``--url``, ADON_URL; the token is in ADON_TOKEN, in
the file that ADON_TOKEN_FILE names, or what ``adon login`` stored; never an argument, where ``ps`` would show
it).  Exit status: 0 done, 2 an input is wrong (one line per problem on standard error), 3 done and the answer
is no, 1 anything else.  Imports are inside the commands, so that ``adon --help`` and shell completion are
quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apps.cli import (
    advice,
    alarm,
    archive,
    audit,
    backtests,
    backup,
    configuring,
    decision,
    deploy,
    evaluate,
    experiment,
    flow,
    forecast,
    glances,
    health,
    identity,
    measure,
    network,
    operations,
    outcome,
    place,
    plan,
    reserve,
    roles,
    sessions,
    site,
    status,
    study,
    template,
    testbed,
    tokens,
    topology,
    users,
)
from apps.cli.common import (
    ADMINISTRATION,
    ENGINEER,
    OPERATOR,
    RESEARCHER,
    Commands,
    JsonFlag,
    Settings,
    client,
    print_json,
)

app = typer.Typer(
    cls=Commands,
    help="Application-driven transit and compute selection for data-intensive science.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)

GROUPS = {
    RESEARCHER: {
        "flow": flow.app,
        "host": network.hosts,
        "decision": decision.app,
        "outcome": outcome.app,
        "advice": advice.app,
        "site": site.sites,
        "job": site.jobs,
        "reserve": reserve.app,
        "workflow": glances.workflows,
    },
    ENGINEER: {
        "template": template.app,
        "backtest": backtests.app,
        "forecast": forecast.app,
        "measure": measure.app,
        "plan": plan.app,
        "place": place.app,
        "health": health.app,
        "evaluate": evaluate.app,
        "experiment": experiment.app,
        "study": study.app,
        "testbed": testbed.app,
    },
    OPERATOR: {
        "alarm": alarm.app,
        "path": network.paths,
        "switch": topology.switches,
        "link": topology.links,
        "circuit": topology.circuits,
        "rules": network.rules,
        "maintenance": operations.maintenance,
        "slice": glances.slices,
        "policy": glances.policies,
    },
    ADMINISTRATION: {
        "token": tokens.app,
        "session": sessions.sessions,
        "user": users.app,
        "role": roles.app,
        "audit": audit.app,
        "archive": archive.app,
        "config": configuring.app,
        "deploy": deploy.app,
    },
}
"""The groups of commands, by who uses them."""

for _panel, _groups in GROUPS.items():
    for _name, _group in _groups.items():
        app.add_typer(_group, name=_name, rich_help_panel=_panel)
app.command(rich_help_panel=RESEARCHER)(identity.login)
app.command(rich_help_panel=RESEARCHER)(identity.whoami)
app.command(rich_help_panel=RESEARCHER)(identity.logout)
app.command(rich_help_panel=RESEARCHER)(flow.queue)
app.command("what-if", rich_help_panel=OPERATOR)(operations.what_if)
app.command(rich_help_panel=OPERATOR)(status.events)
app.command(rich_help_panel=OPERATOR)(status.status)
app.command(rich_help_panel=OPERATOR)(status.metrics)
app.command(rich_help_panel=OPERATOR)(glances.version)
app.command(rich_help_panel=ADMINISTRATION)(status.openapi)
app.command(rich_help_panel=ADMINISTRATION)(backup.backup)
app.command(rich_help_panel=ADMINISTRATION)(backup.restore)


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
    from apps.cli.times import UTC_WANTED

    ctx.obj = Settings(url)
    UTC_WANTED.set(utc)


@app.command(rich_help_panel=ADMINISTRATION)
def serve(
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    data: Annotated[Path, typer.Option(help="The folder of databases and sockets.")],
    admin_token_file: Annotated[
        Path | None, typer.Option(help="Write the first admin token here instead of printing it.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The state's database (default: SQLite in the data folder)."),
    ] = None,
) -> None:
    """Run the controller, the collector and the web process.

    With controller.ha in the configuration and the same --store on every host, one controller is active and
    the others are standbys.
    """
    from apps.serve import run

    raise typer.Exit(run(config, data, admin_token_file, store))


@app.command(rich_help_panel=ADMINISTRATION)
def reload(
    data: Annotated[Path, typer.Option(help="The data folder of the adon serve that is to reload.")],
    json_: JsonFlag = False,
) -> None:
    """Reload the configuration of adon serve.

    Only processes that read a changed section restart.  A file with a problem changes nothing.
    """
    from apps.link import SUPERVISOR, LinkClient

    link = LinkClient(data / SUPERVISOR, "cli", "adon serve")
    try:
        done = link.call("reload", {}, timeout=60.0)
    finally:
        link.close()
    if json_:
        print_json(done)
    elif not done["changes"]:
        typer.echo("the configuration has the same values; no change")
    else:
        restarted = ", ".join(done["restarted"])
        typer.echo(f"changed: {', '.join(done['changes'])}; restarted: {restarted}")


@app.command(rich_help_panel=OPERATOR)
def controllers(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Show which controller is active, and its lease."""
    found = client(ctx).controllers()
    if json_:
        print_json(found)
        return
    for one in found:
        lease = "no lease" if one.lease_s is None else f"lease runs for {one.lease_s:.1f} s"
        state = "active" if one.active else "not active"
        typer.echo(f"{one.name}: {state}, generation {one.generation}, {lease}")
    if not found:
        typer.echo("no controller has run on this database")


@app.command(rich_help_panel=ADMINISTRATION)
def collect(
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    data: Annotated[Path, typer.Option(help="Data folder of this collector.")],
    controller: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="The controller's socket (default: in the data folder)."),
    ] = None,
) -> None:
    """Run a standby collector.

    It takes over when the active collector ends.  Both need the same archive: measurements.archive_url.
    """
    from apps.collector.__main__ import main as run

    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = [] if controller is None else ["--controller", str(controller)]
    raise typer.Exit(run(["--config", str(config), "--data", str(data), *where]))


@app.command(rich_help_panel=ADMINISTRATION)
def demo(
    report: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the reports.")] = Path(
        "reports/demo"
    ),
    stay: Annotated[bool, typer.Option("--stay", help="Keep all and open Mininet's prompt.")] = False,
    seed: Annotated[int | None, typer.Option(help="Choose the transfers' ports.")] = None,
    platform: Annotated[str | None, typer.Option(help="host, which needs root; a guest is too slow.")] = None,
) -> None:
    """Run figure 18 of the thesis and an alarm that moves a flow.

    Takes about 5 minutes on a network of real switches and hosts on this machine.

    Exit status: 0 if all checks hold, 1 if one does not, 130 after Ctrl-C, which removes all that was built.
    """
    from mininet_topos.demo import run_demo

    raise typer.Exit(run_demo(report, stay=stay, seed=seed, platform=platform))


def main() -> None:
    """The entry point."""
    app(prog_name="adon")


if __name__ == "__main__":
    main()
