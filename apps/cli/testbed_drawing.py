"""``adon testbed draw``: a picture of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apps.cli.common import JsonFlag, print_json, writable
from apps.cli.testbed_listing import NetworkArgument

Out = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to: .svg or .png.")]
Between = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="SITE SITE", help="Colour only the paths between these two sites, each by itself."),
]


def draw(name: NetworkArgument, out: Out, between: Between = None, json_: JsonFlag = False) -> None:
    """Draw a network: campuses, switches, routers, DTNs, links with rates, delays and losses, paths.

    Rates are told at full scale, as the description says them.  A map where sites have places.
    """
    from adon.errors import InvalidInput
    from mininet_topos import networks
    from mininet_topos.pictures.files import encoded
    from mininet_topos.pictures.sketching import sketched
    from mininet_topos.pictures.svg import drawn

    writable(out, "--out")
    content = encoded(drawn(sketched(networks.found(name), between)), out)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise InvalidInput.of("--out", f"{out}: {error.strerror}") from error
    print_json({"file": str(out)}) if json_ else typer.echo(f"{out}: written")
