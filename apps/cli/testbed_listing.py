"""``adon testbed list`` and ``show``: which networks there are, and what one of them is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from apps.cli.common import JsonFlag, print_json, print_table

if TYPE_CHECKING:
    from mininet_topos.networks import NamedLink, Network

NetworkArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="One of adon testbed list, or a Python file.")
]
ScaleOption = Annotated[
    float | None, typer.Option(help="Rates are divided by it (default: the topology's own).")
]
ConfigFlag = Annotated[
    bool, typer.Option("--config", help="Print ADON's configuration for the network run with mn.")
]


def list_(json_: JsonFlag = False) -> None:
    """The networks that are built in."""
    from mininet_topos import networks

    found = [networks.named(name) for name in networks.names()]
    if json_:
        print_json([_summary(network) for network in found])
        return
    rows = (
        (
            network.name,
            str(len(network.sites)),
            str(len(network.topology.switches)),
            str(len(network.dtns)),
            str(len(network.paths)),
            f"1:{network.scale:g}",
            network.title,
        )
        for network in found
    )
    print_table(("Network", "Sites", "Switches", "DTNs", "Paths", "Scale", "What it is"), rows, "")


def show(
    name: NetworkArgument, scale: ScaleOption = None, config: ConfigFlag = False, json_: JsonFlag = False
) -> None:
    """A network's sites, links and paths, with the rates that are built."""
    from mininet_topos import networks

    network = networks.found(name, scale)
    if config:
        from mininet_topos.networks.configuration import configuration

        typer.echo(configuration(network), nl=False)
        return
    if json_:
        print_json(_whole(network))
        return
    typer.echo(f"{network.title}\n{network.about}\n")
    typer.echo(f"Rates are those that are built, at 1:{network.scale:g}.\n")
    sites = (
        (
            site.name,
            site.edge,
            ", ".join(site.routers),
            str(len(site.switches)),
            ", ".join(f"{dtn.host} {dtn.address}" for dtn in site.dtns),
        )
        for site in network.sites
    )
    print_table(("Site", "Edge", "Routers", "Further switches", "DTNs"), sites, "")
    typer.echo()
    links = (
        (link.name, " - ".join(link.between), *_attributes(link))
        for link in network.links
        if link.shape is not None
    )
    print_table(("Link", "Between", "Rate", "Delay", "Loss", "Queue"), links, "no link has a rate")
    typer.echo()
    print_table(("Path", "Layer", "VLAN", "One stream", "Delay", "Loss", "Over"), _paths(network), "no paths")


def _attributes(link: NamedLink) -> tuple[str, ...]:
    from adon.units import format_count, format_duration, format_rate, format_ratio

    shape = link.shape
    if shape is None:
        return ("-",) * 4
    queue = format_count(shape.queue, "frame")
    delay, loss = format_duration(shape.delay), format_ratio(shape.loss)
    return format_rate(shape.rate), delay, loss, queue


def _paths(network: Network) -> list[tuple[str, ...]]:
    from adon.units import format_duration, format_rate, format_ratio

    return [
        (
            path.name,
            str(path.layer),
            "-" if path.vlan is None else str(path.vlan),
            format_rate(path.goodput),
            format_duration(path.delay),
            format_ratio(path.loss),
            " ".join(path.links),
        )
        for path in network.paths
    ]


def _summary(network: Network) -> dict[str, Any]:
    return {
        "name": network.name,
        "title": network.title,
        "sites": len(network.sites),
        "switches": len(network.topology.switches),
        "dtns": len(network.dtns),
        "paths": len(network.paths),
        "scale": network.scale,
    }


def _whole(network: Network) -> dict[str, Any]:
    """Bits/s as built, seconds, ratios."""
    return {
        **_summary(network),
        "about": network.about,
        "sites": [
            {
                "name": site.name,
                "edge": site.edge,
                "network": str(site.network),
                "routers": list(site.routers),
                "switches": list(site.switches),
                "dtns": {dtn.host: str(dtn.address) for dtn in site.dtns},
            }
            for site in network.sites
        ],
        "links": [_link(link) for link in network.links],
        "paths": [
            {
                "name": path.name,
                "layer": path.layer,
                "vlan": path.vlan,
                "sites": list(path.sites),
                "capacity_bps": path.capacity,
                "goodput_bps": path.goodput,
                "delay_s": path.delay,
                "loss": path.loss,
                "links": list(path.links),
            }
            for path in network.paths
        ],
    }


def _link(link: NamedLink) -> dict[str, Any]:
    shape = link.shape
    shaped = (
        {}
        if shape is None
        else {
            "rate_bps": shape.rate,
            "goodput_bps": link.goodput,
            "delay_s": shape.delay,
            "loss": shape.loss,
            "queue": shape.queue,
        }
    )
    return {"name": link.name, "between": list(link.between), **shaped}
