"""``adon``: the command line.

Commands that ask or change something use the REST API (``--url``, ADON_URL; the token is in ADON_TOKEN or
in the file that ADON_TOKEN_FILE names, never an argument, where ``ps`` would show it).  Exit status: 0
done, 2 an input is wrong (one line per problem on standard error), 1 anything else.  Imports are inside
the commands, so that ``adon --help`` and shell completion are quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apps.cli import (
    advice,
    alarm,
    archive,
    decision,
    flow,
    forecast,
    measure,
    network,
    operations,
    outcome,
    plan,
    reserve,
    site,
    template,
    topology,
)
from apps.cli.common import URL, Commands, JsonFlag, client, print_json

app = typer.Typer(
    cls=Commands,
    help="Application-driven transit and compute selection for data-intensive science.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
config = typer.Typer(help="The configuration file.", no_args_is_help=True)
app.add_typer(flow.app, name="flow")
app.add_typer(template.app, name="template")
app.add_typer(network.paths, name="path")
app.add_typer(topology.switches, name="switch")
app.add_typer(topology.links, name="link")
app.add_typer(topology.circuits, name="circuit")
app.add_typer(network.rules, name="rules")
app.add_typer(operations.maintenance, name="maintenance")
app.add_typer(reserve.app, name="reserve")
app.add_typer(forecast.app, name="forecast")
app.command("what-if")(operations.what_if)
app.add_typer(site.sites, name="site")
app.add_typer(site.jobs, name="job")
app.add_typer(decision.app, name="decision")
app.add_typer(advice.app, name="advice")
app.add_typer(outcome.app, name="outcome")
app.add_typer(plan.app, name="plan")
app.add_typer(measure.app, name="measure")
app.add_typer(alarm.app, name="alarm")
app.add_typer(archive.app, name="archive")
app.add_typer(config, name="config")


@app.callback()
def connection(
    ctx: typer.Context,
    url: Annotated[str, typer.Option(envvar="ADON_URL", help="Where the REST API is.")] = URL,
) -> None:
    """Application-driven transit and compute selection for data-intensive science."""
    ctx.obj = url


@app.command()
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
    """Run the controller, the collector and the web process until told to stop.

    With controller.ha in the configuration and the same --store on every host, one controller is active and
    the others stand by.
    """
    from apps.serve import run

    raise typer.Exit(run(config, data, admin_token_file, store))


@app.command()
def reload(
    data: Annotated[Path, typer.Option(help="The data folder of the adon serve that is to reload.")],
    json_: JsonFlag = False,
) -> None:
    """Let adon serve read its configuration file again; only what reads a changed section is restarted.

    A file with a problem changes nothing: every problem is told with file, line and field.
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
        typer.echo("the configuration says what it said: nothing is changed")
    else:
        restarted = ", ".join(done["restarted"])
        typer.echo(f"changed: {', '.join(done['changes'])}; restarted: {restarted}")


@app.command()
def controllers(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Which controller is active, and until when its lease runs."""
    found = client(ctx).controllers()
    if json_:
        print_json(found)
        return
    for one in found:
        lease = "no lease" if one["lease_s"] is None else f"lease runs for {one['lease_s']:.1f} s"
        state = "active" if one["active"] else "not active"
        typer.echo(f"{one['name']}: {state}, generation {one['generation']}, {lease}")
    if not found:
        typer.echo("no controller has run on this database")


@app.command()
def collect(
    config: Annotated[Path, typer.Option(help="The configuration file.")],
    data: Annotated[Path, typer.Option(help="A folder of this collector's own.")],
    controller: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="The controller's socket (default: in the data folder)."),
    ] = None,
) -> None:
    """Run one more collector, which stands by until the one that measures is gone.

    Both need the same archive: measurements.archive_url.
    """
    from apps.collector.__main__ import main as run

    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = [] if controller is None else ["--controller", str(controller)]
    raise typer.Exit(run(["--config", str(config), "--data", str(data), *where]))


@app.command()
def demo(
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The report's folder (default: reports/demo).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also carry the same transfers on one path always.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Chooses the transfers' ports (default: 18); the story is the same.")
    ] = None,
) -> None:
    """Run the thesis's timeline (figure 18) on a network of real switches and hosts on this machine.

    Needs root; takes about 4 minutes, with --compare about 18.

    The report is index.html, figure18.png and record.json.

    Exit status: 0 if every decision and transfer was as expected, 1 if not,
    130 if it was interrupted.  Ctrl-C removes all that it built.
    """
    from mininet_topos.demo.main import DEFAULT_REPORT, DEFAULT_SEED, run

    folder = DEFAULT_REPORT if report is None else report
    raise typer.Exit(run(folder, compare=compare, seed=DEFAULT_SEED if seed is None else seed))


@config.command()
def check(file: Annotated[Path, typer.Argument(help="The configuration file (YAML).")]) -> None:
    """Check a configuration file, and plan its tests.

    Every problem is told with file, line and field; if the tests fit no schedule, which one and why.
    """
    from adon.units import format_duration
    from apps.checking import checked
    from measurement.scheduling.ticks import seconds

    found, plan = checked(file)
    schedule = plan.schedule
    hosts = sum(len(site.hosts) for site in found.sites.values())
    typer.echo(
        f"{file}: network {found.network}: {len(found.switches)} switches, {len(found.sites)} sites, "
        f"{hosts} hosts, {len(found.paths)} paths, {len(found.measurements.tests)} tests"
    )
    if schedule.tasks:
        typer.echo(
            f"{file}: measurements: {len(schedule.jobs)} runs of {len(schedule.tasks)} tests in a round of "
            f"{format_duration(seconds(schedule.hyperperiod))}, none in conflict with another"
        )


def main() -> None:
    """The entry point."""
    app(prog_name="adon")


if __name__ == "__main__":
    main()
