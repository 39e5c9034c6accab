"""The paths of a description as courses over nodes and links.

Refused here: a path that leads over what is not there or not of its layer, or whose way is not one; two paths
of one VLAN on a link or at an edge; a path without any rate, since ADON must know a capacity; layer-3 paths
that would have a router send packets for one site two ways (routers forward by destination), or out of the
network that it is in itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adon.nearest_key import absent
from mininet_topos.networks.description import Description, PathPart
from mininet_topos.networks.graph import LAYER_3, Cable, Graph, Role
from mininet_topos.networks.wrong import Wrong, WrongDescription, refuse

FIRST_VLAN = 1701
LAST_VLAN = 4094


@dataclass(frozen=True, slots=True)
class Course:
    """The way of a path.

    :param sites: where it begins and ends.
    :param nodes: from the first site's edge (layer 2) or router (layer 3) to the other site's.
    :param cables: between them.
    """

    name: str
    layer: int
    vlan: int | None
    measured: bool
    sites: tuple[str, str]
    nodes: tuple[str, ...]
    cables: tuple[Cable, ...]

    def steps(self) -> Iterator[tuple[str, Cable, str]]:
        """From node over link to node."""
        return zip(self.nodes, self.cables, self.nodes[1:], strict=False)


def courses(described: Description, graph: Graph) -> tuple[Course, ...]:
    """The way of each path, in the order of the description.

    :raises WrongDescription: with everything that is wrong.
    """
    wrong: list[Wrong] = []
    vlans = _vlans(described)
    found = []
    for name, part in described.paths.items():
        try:
            found.append(_course(name, part, vlans.get(name), graph))
        except WrongDescription as refused:
            wrong += refused.found
    refuse(wrong)
    refuse([*_shared_vlans(found), *_without_rate(found), *_forks(found), *_unused(graph, found)])
    return tuple(found)


def _vlans(described: Description) -> dict[str, int]:
    """Per layer-2 path its VLAN: what was written, else the first that is free."""
    written = {name: part.vlan for name, part in described.paths.items() if part.vlan is not None}
    taken = set(written.values())
    free = (vlan for vlan in range(FIRST_VLAN, LAST_VLAN + 1) if vlan not in taken)
    return {
        name: written[name] if name in written else next(free)
        for name, part in described.paths.items()
        if part.layer == 2
    }


def _course(name: str, part: PathPart, vlan: int | None, graph: Graph) -> Course:
    place = ("paths", name, "over")
    sites = {node.site for node in graph.nodes.values() if node.site is not None}
    known = {*sites, *graph.nodes, *graph.cables}
    refuse(Wrong(place, absent("node, link or site", step, known)) for step in part.over if step not in known)
    first, *between, last = part.over
    if not {first, last} <= sites or first == last:
        refuse([Wrong(place, "leads from one site to another: both ends are names of sites")])
    refuse(
        Wrong(place, f"site {step!r} is in the middle: a path joins two sites")
        for step in between
        if step in sites
    )
    cables = {step for step in between if step in graph.cables}
    middle = [step for step in between if step in graph.nodes]
    nodes = _with_ends(first, middle, last, cables, part.layer, graph, place)
    refuse(_off_layer(nodes, part.layer, graph, place))
    refuse(_twice_home(nodes, (first, last), graph, place))
    if len(set(nodes)) < len(nodes):
        refuse([Wrong(place, "leads over a node twice")])
    chosen = tuple(_chosen(one, other, cables, graph, place) for one, other in pairwise(nodes))
    refuse(
        Wrong(place, f"link {step!r} is not between the nodes beside it")
        for step in sorted(cables - {cable.name for cable in chosen})
    )
    return Course(name, part.layer, vlan, part.measured, (first, last), nodes, chosen)


def _with_ends(
    first: str,
    middle: Sequence[str],
    last: str,
    cables: set[str],
    layer: int,
    graph: Graph,
    place: tuple[str, ...],
) -> tuple[str, ...]:
    """The whole way: each site's edge on layer 2, on layer 3 that router of it that is joined to the next."""
    if layer == 2:
        ends = (graph.edge(first), graph.edge(last))
        return (ends[0], *(node for node in middle if node not in ends), ends[1])
    beginning, end = graph.of(first, Role.CAMPUS_ROUTER), graph.of(last, Role.CAMPUS_ROUTER)
    nodes = list(middle)
    if not nodes or nodes[0] not in beginning:
        onward = (nodes[0],) if nodes else end
        nodes.insert(0, _only(first, beginning, onward, cables, graph, place))
    if nodes[-1] not in end:
        nodes.append(_only(last, end, (nodes[-1],), cables, graph, place))
    return tuple(nodes)


def _only(
    site: str,
    routers: Sequence[str],
    onward: Sequence[str],
    cables: set[str],
    graph: Graph,
    place: tuple[str, ...],
) -> str:
    joined = [router for router in routers if any(graph.joining(router, node) for node in onward)]
    named = [
        router
        for router in joined
        if any(cable.name in cables for node in onward for cable in graph.joining(router, node))
    ]
    candidates = named or joined
    if len(candidates) != 1:
        found = "none" if not candidates else "more than one"
        cause = f"{found} of the routers of {site!r} is joined to {' or '.join(onward)}"
        refuse([Wrong(place, cause if not candidates else f"{cause}: name the one that is meant")])
    return candidates[0]


def _off_layer(nodes: Sequence[str], layer: int, graph: Graph, place: tuple[str, ...]) -> Iterator[Wrong]:
    for node in nodes[1:-1]:
        role = graph.nodes[node].role
        if (layer == 2 and role is not Role.SWITCH) or (layer == 3 and role not in LAYER_3):
            yield Wrong(place, f"{node!r} is {role.value}: a layer-{layer} path does not lead over it")


def _twice_home(
    nodes: Sequence[str], sites: tuple[str, str], graph: Graph, place: tuple[str, ...]
) -> Iterator[Wrong]:
    """Every router of a campus is in the campus's network: none would send packets for it over another."""
    for site in sites:
        own = [node for node in nodes if node in graph.of(site, Role.CAMPUS_ROUTER)]
        if len(own) > 1:
            cause = f"leads over {' and '.join(own)}: a path has one router of each of its sites"
            yield Wrong(place, cause)


def _chosen(one: str, other: str, named: set[str], graph: Graph, place: tuple[str, ...]) -> Cable:
    joining = graph.joining(one, other)
    meant = tuple(cable for cable in joining if cable.name in named) or joining
    if not meant:
        refuse([Wrong(place, f"there is no link between {one!r} and {other!r}")])
    if len(meant) > 1:
        links = " and ".join(cable.name for cable in meant)
        refuse([Wrong(place, f"{links} join {one!r} and {other!r}: name the one that is meant between them")])
    return meant[0]


def _shared_vlans(found: Sequence[Course]) -> Iterator[Wrong]:
    """A VLAN that two paths have on a link, or at an edge.

    An edge floods what it does not know into all ports of a VLAN, and so would make one network of two paths,
    of those between the same two sites a ring.
    """
    taken: dict[tuple[str, int], str] = {}
    for course in found:
        if course.vlan is None:
            continue
        where = {cable.name: f"on link {cable.name!r}" for cable in course.cables}
        where |= {edge: f"at {edge!r}" for edge in (course.nodes[0], course.nodes[-1])}
        for name, words in where.items():
            other = taken.setdefault((name, course.vlan), course.name)
            if other != course.name:
                cause = f"{course.vlan} is the VLAN of path {other!r} {words}"
                yield Wrong(("paths", course.name, "vlan"), cause)
                break


def _without_rate(found: Sequence[Course]) -> Iterator[Wrong]:
    for course in found:
        if all(cable.shape is None for cable in course.cables):
            yield Wrong(
                ("paths", course.name, "over"), "no link of it has a rate, so its capacity is not known"
            )


def _forks(found: Sequence[Course]) -> Iterator[Wrong]:
    ways: dict[tuple[str, str], tuple[str, str]] = {}
    for course in found:
        if course.layer == 3:
            for node, site, cable, _ in hops(course):
                before, path = ways.setdefault((node, site), (cable.name, course.name))
                if before != cable.name:
                    cause = (
                        f"at {node!r} path {path!r} leads over link {before!r} to site {site!r}, this one "
                        f"over {cable.name!r}: a router has one way to a site"
                    )
                    yield Wrong(("paths", course.name, "over"), cause)


def hops(course: Course) -> Iterator[tuple[str, str, Cable, str]]:
    """What a layer-3 path's routers must know: at this one, for that site, over this link to that one."""
    one, other = course.sites
    for near, cable, far in course.steps():
        yield near, other, cable, far
        yield far, one, cable, near


def _unused(graph: Graph, found: Sequence[Course]) -> Iterator[Wrong]:
    """Edges flood what they do not know: a link of theirs that no path uses would join campuses."""
    used = {cable.name for course in found for cable in course.cables}
    for name, cable in graph.cables.items():
        edges = [node for node in cable.between if graph.nodes[node].role is Role.EDGE]
        if cable.campus is None and edges and name not in used:
            yield Wrong(("links", name), f"no path leads over it, and {edges[0]!r} would flood into it")
