"""From a network to what a picture of it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adon.units import format_count, format_duration, format_rate, format_ratio
from mininet_topos.networks import NamedLink, Network, Path
from mininet_topos.pictures.sketch import Kind, Line, Node, Sketch, Way
from mininet_topos.topology import Kind as HostKind

MOST_WAYS = 8
"""More paths than this are drawn by overlay, not each by itself."""


def sketched(network: Network, between: tuple[str, str] | None = None) -> Sketch:
    """The sketch of a network, with rates at full scale.

    :param between: only the paths between these two sites are drawn in colour; None for all.
    :raises InvalidInput: if there is no such site.
    """
    paths = network.paths
    if between is not None:
        paths = network.between(*(network.site(name).name for name in between))
    return Sketch(
        title=network.title,
        subtitle=_subtitle(network),
        sites=tuple(site.name for site in network.sites),
        nodes=tuple(_nodes(network)),
        lines=tuple(_lines(network)),
        ways=tuple(_ways(network, paths)),
        places=network.places,
    )


def _subtitle(network: Network) -> str:
    switches = len(network.topology.switches)
    counted = (
        network.name,
        f"{switches} {'switch' if switches == 1 else 'switches'}",
        format_count(len(network.dtns), "DTN"),
        format_count(len(network.paths), "path"),
    )
    scale = "rates as built" if network.scale == 1 else f"rates at full scale, built at 1:{network.scale:g}"
    return " \u00b7 ".join((*counted, scale))


def _nodes(network: Network) -> Iterator[Node]:
    owned = set()
    for site in network.sites:
        named = (
            (Kind.EDGE, (site.edge,)),
            (Kind.ROUTER, site.routers),
            (Kind.CAMPUS, site.switches),
            (Kind.DTN, tuple(dtn.host for dtn in site.dtns)),
        )
        for kind, names in named:
            for name in names:
                owned.add(name)
                yield Node(name, kind, site.name)
    for switch in network.topology.switches:
        if switch.name not in owned:
            yield Node(switch.name, Kind.TRANSIT)
    for host in network.topology.hosts:
        if host.name not in owned and host.kind is HostKind.ROUTER:
            yield Node(host.name, Kind.ROUTER)


def _lines(network: Network) -> Iterator[Line]:
    """The described links, and the cables of the hosts that nobody described."""
    named = {end for link in network.links for end in (*link.ends, *link.shaped)}
    for link in network.links:
        rate = None if link.shape is None else link.shape.rate * network.scale
        yield Line(link.name, link.between, rate, _attributes(link, network.scale))
    for cable in network.topology.links:
        if not named & {end.name for end in cable.ends}:
            yield Line(cable.one.name, (cable.one.node, cable.other.node))


def _attributes(link: NamedLink, scale: float) -> str:
    if link.shape is None:
        return ""
    return _said(_rate(link, scale), link.shape.delay, link.shape.loss)


def _rate(link: NamedLink, scale: float) -> str:
    """As the description tells it: on the wire, or what TCP gets of it."""
    if link.told == "goodput" and link.goodput is not None:
        return f"{_rounded(link.goodput * scale)} TCP"
    return "" if link.shape is None else _rounded(link.shape.rate * scale)


def _rounded(rate: float) -> str:
    return format_rate(float(f"{rate:.3g}"))


def _narrowest(network: Network, path: Path) -> str:
    shaped = [link for link in map(network.link, path.links) if link.shape is not None]
    return _rate(min(shaped, key=lambda link: link.goodput or 0.0), network.scale)


def _said(rate: str, delay: float, loss: float) -> str:
    parts = [
        rate,
        *((_span(delay),) if delay else ()),
        *((f"{format_ratio(loss)} loss",) if loss else ()),
    ]
    return " \u00b7 ".join(parts)


def _span(seconds: float) -> str:
    milliseconds = seconds * 1e3
    if 0.1 <= milliseconds < 1:
        return f"{milliseconds:.3g} ms"
    return format_duration(float(f"{seconds:.3g}")).replace(" us", " \u00b5s")


def _ways(network: Network, paths: Sequence[Path]) -> Iterator[Way]:
    if len(paths) <= MOST_WAYS:
        for path in paths:
            said = _said(_narrowest(network, path), path.delay, path.loss)
            how = f"layer 2, VLAN {path.vlan}" if path.layer == 2 else "layer 3, routed"
            yield Way(path.name, f"{how}: {said}", path.layer == 3, _course(network, path))
        return
    for (name, layer), members in _overlays(paths).items():
        ordered = sorted(members, key=lambda path: path.goodput)
        span = " to ".join(dict.fromkeys(_narrowest(network, path) for path in (ordered[0], ordered[-1])))
        kind = "layer 2" if layer == 2 else "layer 3, routed"
        courses = dict.fromkeys(line for path in members for line in _course(network, path))
        yield Way(name, f"{kind}: {format_count(len(members), 'path')}, {span}", layer == 3, tuple(courses))


def _overlays(paths: Sequence[Path]) -> dict[tuple[str, int], list[Path]]:
    """Paths that are called alike up to the first ``-``; where these are too many, those of a layer."""
    for name_of in (lambda path: path.name.split("-")[0], lambda path: f"layer {path.layer}"):
        found: dict[tuple[str, int], list[Path]] = {}
        for path in paths:
            found.setdefault((name_of(path), path.layer), []).append(path)
        if len(found) <= MOST_WAYS:
            break
    return found


def _course(network: Network, path: Path) -> tuple[str, ...]:
    """The links of a path; on layer 3 with the cables from edge to router."""
    if path.layer == 2:
        return path.links
    ports = {end.port for end in path.ends.values()}
    lan = tuple(link.one.name for link in network.topology.links if ports & {link.one.name, link.other.name})
    return (*lan, *path.links)
