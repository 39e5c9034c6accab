"""``adon testbed show``: which topologies are built in, and what one of them is made of."""

from __future__ import annotations

from dataclasses import asdict
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, print_json, print_table

if TYPE_CHECKING:
    from mininet.topo import Topo

    from mininet_topos.link_shape import LinkShape
    from mininet_topos.topologies.campus_topo import CampusTopo, Circuit

TopologyArgument = Annotated[
    str | None, typer.Argument(metavar="[TOPOLOGY]", help="A built-in one, or a Python file.")
]


def show(
    topology: TopologyArgument = None,
    scale: Annotated[float | None, typer.Option(help="Divide declared rates by it.")] = None,
    config: Annotated[bool, typer.Option("--config", help="Print ADON's configuration for mn.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Print the built-in topologies, or the parts of one."""
    from mininet_topos.topology_catalog import BUILT_IN, load_network, load_topology, mn_command

    if topology is None:
        found = {name: load_topology(name) for name in BUILT_IN}
        if json_:
            print_json([_summary(name, topo) for name, topo in found.items()])
            return
        rows = [tuple(map(str, _summary(name, topo).values())) for name, topo in found.items()]
        print_table(("Topology", "Campuses", "Switches", "DTNs", "Paths", "Scale", "What it is"), rows, "")
        return
    if config:
        network = load_network(topology, scale)
        text = configuration_of(network, topology, measured=False)
        typer.echo(f"# For the network of: {mn_command(topology, network)}\n{text}", nl=False)
        return
    topo = load_topology(topology, scale)
    if json_:
        print_json(_document(topology, topo))
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
    from adon.units import format_duration, format_rate, format_ratio

    campuses = [
        (
            campus.name,
            campus.edge,
            " ".join(campus.routers),
            ", ".join(f"{host} {dtn.address}" for host, dtn in campus.dtns.items()),
        )
        for campus in topo.campuses.values()
    ]
    print_table(("Campus", "Edge", "Routers", "DTNs"), campuses, "no campuses")
    typer.echo()
    circuits = [
        _circuit_row(circuit, circuit.shape)
        for circuit in topo.circuits.values()
        if circuit.shape is not None
    ]
    print_table(("Circuit", "Between", "Rate", "Delay", "Loss", "Queue"), circuits, "no circuit has a rate")
    typer.echo()
    paths = [
        (
            path.name,
            str(path.layer),
            "-" if path.vlan is None else str(path.vlan),
            format_rate(path.goodput),
            format_duration(path.delay),
            format_ratio(path.loss),
            " ".join(path.circuits),
        )
        for path in topo.paths.values()
    ]
    print_table(("Path", "Layer", "VLAN", "One stream", "Delay", "Loss", "Over"), paths, "no paths")


def _circuit_row(circuit: Circuit, shape: LinkShape) -> tuple[str, ...]:
    from adon.units import format_count, format_duration, format_rate, format_ratio

    return (
        circuit.name,
        " - ".join(circuit.interfaces),
        format_rate(shape.rate),
        format_duration(shape.delay),
        format_ratio(shape.loss),
        format_count(shape.queue, "frame"),
    )
