"""``adon testbed import``: a map of the Internet Topology Zoo as a network that can be built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from apps.cli.common import JsonFlag, print_json, writable, write

T = TypeVar("T")

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE.graphml", help="A file of the Topology Zoo's form.")
]
Out = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="FILE.yaml", help="Write it here instead of printing it."),
]
Campuses = Annotated[
    list[str] | None,
    typer.Option("--campus", metavar="NODE", help="A node that gets a campus, by label or id; two or more."),
]
Number = Annotated[
    int, typer.Option("--campuses", metavar="N", help="Without --campus: so many, as far apart as can be.")
]
Overlays = Annotated[
    int, typer.Option(help="Layer-2 paths between two campuses that share no link, at most.")
]
Rate = Annotated[str, typer.Option(help="Of links whose speed the file does not say.")]
Delay = Annotated[str, typer.Option(help="Of links with an end whose place the file does not say.")]
Routed = Annotated[
    str | None,
    typer.Option(help="What the routed path carries (default: a tenth of the narrowest overlay's link)."),
]
AtLeast = Annotated[str | None, typer.Option(help="Links that are slower get this rate.")]
Named = Annotated[str | None, typer.Option(help="The network's name (default: the file's).")]


def import_(
    file: FileArgument,
    out: Out = None,
    campus: Campuses = None,
    number: Number = 2,
    overlays: Overlays = 2,
    rate: Rate = "10 Gbps",
    delay: Delay = "1 ms",
    routed: Routed = None,
    at_least: AtLeast = None,
    name: Named = None,
    json_: JsonFlag = False,
) -> None:
    """Describe a network of the Internet Topology Zoo, so that it can be built, changed and drawn.

    Nodes become a provider's switches; some get a campus.  Delays are great circles in fibre.  What was
    left out or settled by a default stands in the description and on standard error.
    """
    from adon.units import parse_duration, parse_rate
    from mininet_topos import networks
    from mininet_topos.zoo.importing import described
    from mininet_topos.zoo.settling import Wishes

    writable(out, "--out")
    wishes = Wishes(
        campuses=tuple(campus or ()),
        number=number,
        overlays=overlays,
        rate=_parsed("--rate", rate, parse_rate),
        delay=_parsed("--delay", delay, parse_duration),
        routed=None if routed is None else _parsed("--routed", routed, parse_rate),
        at_least=None if at_least is None else _parsed("--at-least", at_least, parse_rate),
    )
    text = described(file, wishes, name)
    network = networks.of_map(text.yaml, file)
    if out is not None:
        write(out, text.yaml, "--out")
    if json_:
        print_json({"file": None if out is None else str(out), "notes": text.notes, "yaml": text.yaml})
        return
    for note in text.notes:
        typer.echo(f"note: {note}", err=True)
    if out is None:
        typer.echo(text.yaml, nl=False)
    else:
        sites = ", ".join(site.name for site in network.sites)
        counted = f"{len(network.topology.switches)} switches, {len(network.paths)} paths"
        typer.echo(f"{out}: campuses {sites}; {counted}; scale 1:{network.scale:g}")


def _parsed(option: str, text: str, parse: Callable[[object], T]) -> T:
    from adon.errors import InvalidInput

    try:
        return parse(text)
    except ValueError as error:
        raise InvalidInput.of(option, str(error)) from error
