"""``adon testbed``: a test network of a Mininet topology, in the foreground; needs no server.

``run`` starts itself once more inside namespaces, or inside the guest: the testbed is built there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from adon.errors import InvalidInput, Unavailable
from apps.cli.common import EXIT_INTERRUPTED
from apps.cli.document_printer import CommandGroup, print_document, print_items

if TYPE_CHECKING:
    from mininet.topo import Topo

    from mininet_topos.adon_server import AdonServer
    from mininet_topos.testbed import Testbed
    from mininet_topos.topologies.campus_topo import CampusTopo

app = CommandGroup("Test networks on this machine (docs/testbed.md).")

AFTER_DASHES = "adon.after_dashes"


class ProgramCommand(TyperCommand):
    """A command whose words after ``--`` are a program of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line up to the dashes."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[AFTER_DASHES] = args[end + 1 :]
        return super().parse_args(ctx, args[:end])


@app.command(cls=ProgramCommand, formats=False)
def run(
    ctx: typer.Context,
    topology: Annotated[
        str, typer.Argument(metavar="TOPOLOGY [-- COMMAND...]", help="A built-in one, or a Python file.")
    ] = "mu_osu",
    platform: Annotated[
        str | None, typer.Option(help="host (needs root) or guest; the best by default.")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Divide declared rates by it.")] = None,
    no_adon: Annotated[bool, typer.Option("--no-adon", help="Build the network without ADON.")] = False,
) -> None:
    """Run a test network with ADON until its prompt or command ends."""
    from mininet_topos.isolation import FOLDER
    from mininet_topos.topology_catalog import load_network

    topo = load_network(topology, scale)
    if not no_adon:
        configuration_of(topo, topology)  # what ADON cannot control is refused before anything is made
    command: list[str] = ctx.meta[AFTER_DASHES]
    if FOLDER in os.environ:
        raise typer.Exit(_run_inside(topo, topology, command, with_adon=not no_adon))
    words = [
        topology,
        *(() if scale is None else ("--scale", f"{scale:g}")),
        *(("--no-adon",) if no_adon else ()),
    ]
    raise typer.Exit(_run_again(platform, [*words, *(("--", *command) if command else ())]))


def _run_again(platform: str | None, words: list[str]) -> int:
    """Run this command inside; return its exit status."""
    from mininet_topos.isolation import choose_platform, run_isolated

    choice = choose_platform(platform, needs_netem=False)
    typer.echo(f"platform  {choice.platform}: {choice.reason}")
    argv = [sys.executable, "-m", "apps.cli.main", "testbed", "run", *words]
    return run_isolated(argv, choice.platform, shared=Path.cwd())


def _run_inside(topo: Topo, topology: str, command: list[str], *, with_adon: bool) -> int:
    from mininet_topos.adon_server import URL
    from mininet_topos.isolation import folder_inside
    from mininet_topos.nodes import CLI
    from mininet_topos.testbed import TOPOLOGY, build_testbed

    folder, name = folder_inside(), short_name(topology)
    with build_testbed(topo, folder) as testbed:
        (folder / TOPOLOGY).write_text(name)
        at = f" at 1:{topo.scale:g}" if hasattr(topo, "scale") else ""
        typer.echo(f"network   {name}{at}: {testbed.emulation}")
        with _adon(testbed, name) if with_adon else nullcontext() as server:
            if server is not None:
                _introduce(server)
                token = server.folder / "admin.token"
                os.environ |= {"ADON_URL": URL, "ADON_TOKEN_FILE": str(token)}
            if not command:
                CLI(testbed.net)
                return 0
            try:
                return subprocess.run(command, check=False).returncode % 256
            except KeyboardInterrupt:
                return EXIT_INTERRUPTED
            except OSError as error:
                raise Unavailable(f"{command[0]}: {error.strerror}") from error


@contextmanager
def _adon(testbed: Testbed, name: str) -> Iterator[AdonServer]:
    from mininet_topos.adon_server import prepare_server
    from mininet_topos.measurement_points import start_points
    from mininet_topos.topologies.campus_topo import CampusTopo

    with ExitStack() as stack:
        options = {}
        if isinstance(testbed.topo, CampusTopo):
            options = {"points": stack.enter_context(start_points(testbed))}
        text = configuration_of(testbed.topo, name, **options)
        server = stack.enter_context(prepare_server(testbed, text, testbed.folder / "adon"))
        server.start()
        yield server


def _introduce(server: AdonServer) -> None:
    from mininet_topos.adon_server import first_ping

    ping, rule = first_ping(server.testbed)
    typer.echo(f"ping      {ping}")
    typer.echo(f"rule      {rule}")
    server.wait_ready()
    server.add_users()
    token = server.folder / "admin.token"
    if server.dashboard is not None:
        typer.echo(f"dashboard {server.dashboard}")
        typer.echo(f"tokens    {server.folder}/*.token, one per role; for the command line:")
        typer.echo(f"          export ADON_URL={server.dashboard} ADON_TOKEN_FILE={token}")


@app.command("exec", cls=ProgramCommand, formats=False)
def exec_(
    ctx: typer.Context,
    host: Annotated[str, typer.Argument(metavar="HOST [-- PROGRAM...]", help="Where.")],
    topology: Annotated[str | None, typer.Option(help="Which, if several test networks run.")] = None,
) -> None:
    """Run a program or a shell in a host of a running test network."""
    from mininet_topos.isolation import FOLDER, first_process
    from mininet_topos.testbed import HOSTS

    is_inside = FOLDER in os.environ
    folder = Path(os.environ[FOLDER]) if is_inside else _find_running(topology)
    hosts = {file.name: file.read_text().strip() for file in (folder / HOSTS).iterdir()}
    if host not in hosts:
        raise InvalidInput.of("host", f"{host!r} is unknown; expected one of {', '.join(sorted(hosts))}")
    program = ctx.meta[AFTER_DASHES] or ["env", f"PS1={host}:\\w\\$ ", "bash", "--norc"]
    argv = ["mnexec", "-a", hosts[host], *program]
    if not is_inside:
        # mnexec reads /proc/PID/ns of the testbed's PID namespace.  To be in it nsenter forks and passes on
        # no signal: the program ends when nsenter does.
        enter = ["nsenter", "--target", first_process(folder), "--net", "--pid", "--mount", "--"]
        argv = [*enter, "setpriv", "--pdeathsig", "TERM", *argv]
    sys.stdout.flush()
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - signals, terminal and exit status are the program's
    except OSError as error:
        raise Unavailable(f"{argv[0]}: {error.strerror}") from error


def _find_running(topology: str | None) -> Path:
    """Return the folder of the one test network that runs, or of the one with this topology."""
    from mininet_topos.isolation import running_folders
    from mininet_topos.testbed import TOPOLOGY

    found = {
        folder: (folder / TOPOLOGY).read_text()
        for folder in running_folders()
        if (folder / TOPOLOGY).exists()
    }
    wanted = [folder for folder, name in found.items() if topology in (None, name)]
    if len(wanted) == 1:
        return wanted[0]
    if not wanted:
        raise InvalidInput.of(
            "topology", "no such test network runs on this host; adon testbed run starts one"
        )
    raise InvalidInput.of("topology", f"{len(wanted)} test networks run: {', '.join(found.values())}")


# -- topologies ------------------------------------------------------------------------------------------

TopologyArgument = Annotated[
    str | None, typer.Argument(metavar="[TOPOLOGY]", help="A built-in one, or a Python file.")
]


@app.command()
def show(
    topology: TopologyArgument = None,
    scale: Annotated[float | None, typer.Option(help="Divide declared rates by it.")] = None,
    config: Annotated[bool, typer.Option("--config", help="Print ADON's configuration for mn.")] = False,
) -> None:
    """Print the built-in topologies, or the parts of one."""
    from mininet_topos.topology_catalog import BUILT_IN, load_network, load_topology, mn_command

    if topology is None:
        found = {name: load_topology(name) for name in BUILT_IN}
        summaries = [_summary(name, topo) for name, topo in found.items()]
        if not print_document(summaries):
            print_items(summaries, "", "")
        return
    if config:
        network = load_network(topology, scale)
        text = configuration_of(network, topology, measured=False)
        typer.echo(f"# For the network of: {mn_command(topology, network)}\n{text}", nl=False)
        return
    topo = load_topology(topology, scale)
    if print_document(_document(topology, topo)):
        return
    typer.echo(cleandoc(type(topo).__doc__ or topology))
    typer.echo(f"\nRates are scaled by 1:{topo.scale:g}.\n")
    _print_tables(topo)


def configuration_of(topo: Topo, name: str, **options: Any) -> str:
    """Return ADON's configuration for a topology.

    :param options: as for :func:`mininet_topos.adon_configuration.configuration_text`.
    :raises InvalidInput: if ADON cannot control it, with the name of the host or switch.
    """
    from mininet_topos.topologies.campus_topo import CampusTopo

    if isinstance(topo, CampusTopo):
        from mininet_topos.adon_configuration import configuration_text, fit_periods_to

        return configuration_text(topo, name=short_name(name), periods=fit_periods_to(topo), **options)
    from mininet_topos.plain_network import plain_configuration

    try:
        return plain_configuration(topo, name=short_name(name))
    except ValueError as error:
        field, _, cause = str(error).partition(": ")
        raise InvalidInput.of(field, cause) from error


def short_name(topology: str) -> str:
    """Return a topology's name: that of its file without folders."""
    return topology.rpartition("/")[2].removesuffix(".py")


def _summary(name: str, topo: CampusTopo) -> dict[str, Any]:
    return {
        "name": name,
        "campuses": len(topo.campuses),
        "switches": sum(topo.isSwitch(node) for node in topo.nodes()) - 1,  # not the management bridge
        "dtns": sum(len(campus.dtns) for campus in topo.campuses.values()),
        "paths": len(topo.paths),
        "scale": topo.scale,
        "title": (type(topo).__doc__ or "").partition("\n")[0],
    }


def _document(name: str, topo: CampusTopo) -> dict[str, Any]:
    """Return the description as JSON: bits/s as built, seconds, ratios."""
    return {
        **_summary(name, topo),
        "campuses": [asdict(campus) for campus in topo.campuses.values()],
        "circuits": [asdict(circuit) for circuit in topo.circuits.values()],
        "paths": [asdict(path) for path in topo.paths.values()],
    }


def _print_tables(topo: CampusTopo) -> None:
    campuses = [
        {
            "campus": one.name,
            "edge": one.edge,
            "routers": list(one.routers),
            "dtns": {host: str(dtn.address) for host, dtn in one.dtns.items()},
        }
        for one in topo.campuses.values()
    ]
    print_items(campuses, "", "No campuses.")
    typer.echo()
    circuits = [
        {
            "circuit": one.name,
            "between": list(one.interfaces),
            "rate_bps": one.shape.rate,
            "delay_seconds": one.shape.delay,
            "loss_ratio": one.shape.loss,
            "queue": one.shape.queue,
        }
        for one in topo.circuits.values()
        if one.shape is not None
    ]
    print_items(circuits, "", "No circuit has a rate.")
    typer.echo()
    paths = [
        {
            "path": one.name,
            "layer": str(one.layer),
            "vlan": one.vlan,
            "stream_bps": one.goodput,
            "delay_seconds": one.delay,
            "loss_ratio": one.loss,
            "over": list(one.circuits),
        }
        for one in topo.paths.values()
    ]
    print_items(paths, "", "No paths.")
