"""``adon switch``, ``adon link``, ``adon circuit``: what the network is made of, each part with its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from apps.cli.common import JsonFlag, client, print_json, print_table

if TYPE_CHECKING:
    from adon.api.network import LinkEnd

switches = typer.Typer(help="Switches.", no_args_is_help=True)
links = typer.Typer(help="Links between switches.", no_args_is_help=True)
circuits = typer.Typer(help="Paths with VLAN, links and switches.", no_args_is_help=True)


@switches.command("list")
def list_switches(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List switches with state, features, table use and ports."""
    found = client(ctx).topology().switches
    if json_:
        print_json(found)
        return
    rows = (
        (
            switch.name,
            switch.dpid,
            ("connected" if switch.connected else "away") + (", dry run" if switch.mode == "dry-run" else ""),
            switch.pipeline,
            switch.control,
            str(switch.rules),
            str(switch.foreign_rules),
            _table(switch.table),
            " ".join(switch.down) or "-",
            "; ".join(switch.lacks) or "-",
        )
        for switch in found
    )
    driven = ("Switch", "Datapath", "State", "Pipeline", "Control")
    columns = (*driven, "Ours", "Others'", "Table", "Ports down", "Lacks")
    print_table(columns, rows, "no switch is configured; see: adon config check FILE")


def _table(table: Mapping[str, Any] | None) -> str:
    """How full a switch is: rules in it, of as many as it takes; our budget."""
    if table is None:
        return "-"
    most = "" if table["maximum"] is None else f" of {table['maximum']}"
    budget = "" if table["budget"] is None else f", budget {table['budget']}"
    full = f", full: {table['full']}" if table["full"] else ""
    return f"{table['active']}{most}{budget}{full}"


@links.command("list")
def list_links(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List links, configured and discovered, with state and reason."""
    from apps.cli.times import at
    from apps.cli.words import value

    found = client(ctx).topology().links
    if json_:
        print_json(found)
        return
    rows = (
        (
            link.name or "-",
            link.state,
            " - ".join(_end(end) for end in link.ends),
            value(link.capacity_bps, "bps"),
            at(link.penalised_until),
            link.neighbour or link.reason or "-",
        )
        for link in found
    )
    columns = ("Link", "State", "Between", "Capacity", "Not used until", "Why, or what is there")
    print_table(columns, rows, "no link is configured, and none was discovered")


def _end(end: LinkEnd) -> str:
    port = end.port if end.number is None else end.port or str(end.number)
    return f"{end.switch or end.dpid}:{port}"


@circuits.command("list")
def list_circuits(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List paths with VLAN, links, switches and flows."""
    from apps.cli.words import value

    found = client(ctx).topology().circuits
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.name,
            one.overlay or "-",
            one.layer,
            f"{one.source} - {one.destination}",
            "-" if one.vlan is None else str(one.vlan),
            value(one.capacity_bps, "bps"),
            "up" if one.usable else f"down: {one.reason}",
            " ".join(one.links) or "-",
            " ".join(one.switches),
            " ".join(one.flows) or "-",
        )
        for one in found
    )
    columns = ("Circuit", "Overlay", "Layer", "Between", "VLAN", "Capacity", "State", "Links", "Switches")
    print_table((*columns, "Flows"), rows, "no path is configured; see: adon config check FILE")
