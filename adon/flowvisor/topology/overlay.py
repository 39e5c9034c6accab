"""Overlay paths between sites: computed, with a VLAN, a name and a number.

A *circuit* is one such path: a sequence of links from the edge switch of one site to that of another, with
its own VLAN id.  It is used in both directions, like a configured layer-2 path.  A circuit stores its links;
port numbers are looked up on demand, since a switch may renumber its ports.

:func:`replan` follows the network.  Per overlay and pair of sites it plans the ``paths`` cheapest paths.  The
best backup of the first path replaces the last one if it shares fewer links with the first than all others
do.  A name denotes the same links as long as a flow uses the circuit:

- a working circuit stays, unless it is unused and a cheaper path (or that backup) needs its place;
- a dead circuit is removed when it is unused;
- a circuit over a disconnected switch is neither, because the state of its links is unknown (R10).

Names and numbers are never used again, so that measurements and rules of an old path are not mistaken for
those of a new one (the number is the owner in cookies).  Numbers start above any position in ``paths``.

A circuit has one VLAN id on all its links (IEEE 802.1Q), so that no switch on the path has to rewrite it.
Two circuits that share a link never share an id, in any direction; circuits without a common link may.  A
circuit gets the lowest id that is free on every link: equal histories give equal ids.

A circuit has the names of links; rules need the port numbers of the switches.  No circuit visits a switch
twice, and two circuits with one VLAN id share no link, so no frame reaches a switch twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from adon.config import Configuration
from adon.config.network import Overlay, vlan_ranges
from adon.errors import Conflict
from adon.flowvisor.topology.network_graph import (
    Link,
    LinkState,
    NetworkGraph,
    PathConstraints,
    Route,
    join_attributes,
)
from adon.flowvisor.topology.path import CandidatePath, Hop, Layer, PathEnd, compose_metrics
from measurement.model import PathKey

if TYPE_CHECKING:
    from adon.flowvisor.topology.k_shortest_paths import CostMatrix

_MAX_CACHED = 4096
FIRST_INDEX = 1 << 16
"""First number of circuits: a configuration file of 1 MB cannot contain that many paths."""


@dataclass(frozen=True, slots=True)
class Circuit:
    """One computed path between two sites.

    :param index: its number in cookies.
    :param source, destination: sites, in configuration order.
    :param links: names of links from the source's edge switch to the destination's.
    """

    name: str
    index: int
    overlay: str
    source: str
    destination: str
    links: tuple[str, ...]
    vlan: int


def used_vlans(circuits: Iterable[Circuit]) -> dict[str, set[int]]:
    """Return the VLAN ids in use, per name of a link."""
    used: dict[str, set[int]] = {}
    for circuit in circuits:
        for link in circuit.links:
            used.setdefault(link, set()).add(circuit.vlan)
    return used


def _free_vlan(
    overlay: str, vlans: frozenset[int], links: tuple[str, ...], used: Mapping[str, set[int]]
) -> int:
    """Return the lowest of an overlay's ids that is free on all of these links.

    :raises Conflict: if there is none; names overlay, range, and the link with the fewest ids left.
    """
    free = vlans.difference(*(used.get(link, ()) for link in links))
    if free:
        return min(free)
    taken = {link: len(vlans & used.get(link, set())) for link in links}
    fullest = max(links, key=lambda link: taken[link])
    raise Conflict(
        f"overlays.{overlay}.vlans",
        f"no VLAN of {vlan_ranges(vlans)} is free on every link of {' '.join(links)}: "
        f"link {fullest!r} has {taken[fullest]} of {len(vlans)} in use",
    )


@dataclass(frozen=True, slots=True)
class OverlayPaths:
    """All circuits, in the order of their creation.

    :param serial: number of circuits ever created.
    """

    circuits: tuple[Circuit, ...] = ()
    serial: int = 0

    def with_path(
        self, overlay: str, vlans: frozenset[int], source: str, destination: str, links: tuple[str, ...]
    ) -> OverlayPaths:
        """Return the circuits with one more.

        :raises Conflict: if no VLAN id is free on all of its links.
        """
        vlan = _free_vlan(overlay, vlans, links, used_vlans(self.circuits))
        number = self.serial + 1
        made = Circuit(f"{overlay}.{number}", FIRST_INDEX + number, overlay, source, destination, links, vlan)
        return OverlayPaths((*self.circuits, made), number)

    def without(self, name: str) -> OverlayPaths:
        """Return the circuits without one; its name and number are not used again."""
        return replace(self, circuits=tuple(c for c in self.circuits if c.name != name))


@dataclass(frozen=True, slots=True)
class Replan:
    """Result of planning the overlays' paths.

    :param added, dropped: new and removed circuits.
    :param refused: planned paths without a free VLAN, in words.
    """

    paths: OverlayPaths
    added: tuple[Circuit, ...] = ()
    dropped: tuple[Circuit, ...] = ()
    refused: tuple[str, ...] = ()


def route_of(circuit: Circuit, graph: NetworkGraph, configuration: Configuration) -> tuple[Link, ...] | str:
    """Return the links of a circuit in its own direction, or the reason why it is obsolete."""
    sites, overlay = configuration.sites, configuration.overlays.get(circuit.overlay)
    for site in (circuit.source, circuit.destination):
        if site not in sites:
            return f"the configuration no longer has site {site!r}"
    if overlay is None:
        return f"the configuration no longer has overlay {circuit.overlay!r}"
    node, end = (
        configuration.switches[sites[site].edge].dpid for site in (circuit.source, circuit.destination)
    )
    found, visited = list[Link](), {node}
    for name in circuit.links:
        link = graph.links_by_name.get((name, node))
        if link is None or link.target in visited or not overlay.may_use(name):
            return f"link {name!r} has changed since the path was computed"
        found.append(link)
        node = link.target
        visited.add(node)
    if node != end or not found:
        return f"it no longer leads to the edge of site {circuit.destination!r}"
    return tuple(found)


def state_of(circuit: Circuit, graph: NetworkGraph, configuration: Configuration) -> tuple[LinkState, str]:
    """Return the state of a circuit and its reason: the worst of its links."""
    links = route_of(circuit, graph, configuration)
    if isinstance(links, str):
        return LinkState.DOWN, links
    for state in (LinkState.DOWN, LinkState.UNHEARD):
        for link in links:
            if link.state is state:
                return state, f"link {link.name}: {link.reason}"
    return LinkState.LIVE, ""


def replan(
    known: OverlayPaths,
    graph: NetworkGraph,
    configuration: Configuration,
    in_use: frozenset[str] = frozenset(),
    cache: PathCache | None = None,
) -> Replan:
    """Return the planned circuits, from the present circuits and the present network.

    :param in_use: names of circuits that must stay: active or standby paths of flows.
    :param cache: results of earlier path searches.
    """
    paths, refused, remembered = known, list[str](), PathCache() if cache is None else cache
    for circuit in known.circuits:
        if circuit.name not in in_use and state_of(circuit, graph, configuration)[0] is LinkState.DOWN:
            paths = paths.without(circuit.name)
    for name, overlay in configuration.overlays.items():
        reported = not any(overlay.may_use(link.name) and _is_unreported(link) for link in graph.links)
        for source, destination in _pairs(configuration):
            between = _OverlayPair(name, overlay, source, destination, reported)
            wanted = _plan_routes(between, graph, configuration, remembered)
            paths, problems = _assign_circuits(paths, between, wanted, graph, configuration, in_use)
            refused += problems
    before, after = set(known.circuits), set(paths.circuits)
    return Replan(
        paths,
        tuple(circuit for circuit in paths.circuits if circuit not in before),
        tuple(circuit for circuit in known.circuits if circuit not in after),
        tuple(refused),
    )


def _is_unreported(link: Link) -> bool:
    """Return whether a switch at an end of the link has not reported since the start."""
    return link.state is LinkState.UNHEARD and None in (link.source_port, link.target_port)


@dataclass(frozen=True, slots=True)
class _OverlayPair:
    """An overlay and a pair of sites.

    :param reported: whether all its switches have reported since the start; before, costs are unknown, and no
        circuit replaces another.
    """

    name: str
    overlay: Overlay
    source: str
    destination: str
    reported: bool

    def has(self, circuit: Circuit) -> bool:
        own = (self.name, self.source, self.destination)
        return (circuit.overlay, circuit.source, circuit.destination) == own


def _pairs(configuration: Configuration) -> Iterator[tuple[str, str]]:
    # Sites behind the same edge switch need no transit path.
    for one, other in combinations(configuration.sites, 2):
        if configuration.sites[one].edge != configuration.sites[other].edge:
            yield one, other


def path_constraints(overlay: Overlay, configuration: Configuration) -> PathConstraints:
    """Return the constraints of this overlay's paths."""
    edges = frozenset(configuration.switches[site.edge].dpid for site in configuration.sites.values())
    return PathConstraints(
        cost=overlay.cost,
        links=None if overlay.links is None else frozenset(overlay.links),
        only_ends=frozenset() if overlay.through_edges else edges,
    )


def _plan_routes(
    between: _OverlayPair, graph: NetworkGraph, configuration: Configuration, cache: PathCache
) -> tuple[Route, ...]:
    # The cheapest paths; a better backup of the first replaces the last.
    constraints, count = path_constraints(between.overlay, configuration), between.overlay.paths
    source, target = (
        configuration.switches[configuration.sites[site].edge].dpid
        for site in (between.source, between.destination)
    )
    routes = cache.k_shortest_paths(graph, source, target, count, constraints)
    if len(routes) < 2:
        return routes
    first = set(routes[0].names)
    least = min(len(first & set(route.names)) for route in routes[1:])
    backup = cache.backup_path(graph, routes[0], constraints) if least > 0 else None
    if backup is None or len(first & set(backup.names)) >= least:
        return routes
    return (*routes[: count - 1], backup)


def _assign_circuits(
    paths: OverlayPaths,
    between: _OverlayPair,
    wanted: tuple[Route, ...],
    graph: NetworkGraph,
    configuration: Configuration,
    in_use: frozenset[str],
) -> tuple[OverlayPaths, list[str]]:
    refused = list[str]()
    names, constraints = {route.names for route in wanted}, path_constraints(between.overlay, configuration)
    for route in wanted:
        present = [circuit for circuit in paths.circuits if between.has(circuit)]
        if any(circuit.links == route.names for circuit in present):
            continue
        states = {circuit: state_of(circuit, graph, configuration)[0] for circuit in present}
        changed = paths
        if len([state for state in states.values() if state is not LinkState.DOWN]) >= between.overlay.paths:
            spare = {
                circuit.name: _cost(circuit, graph, configuration, constraints)
                for circuit, state in states.items()
                if state is LinkState.LIVE and circuit.name not in in_use and circuit.links not in names
            }
            # The planned path is cheaper, or is the backup: a path of equal cost replaces no circuit.
            dearest = max(spare, key=lambda name: spare[name], default=None)
            if not between.reported or dearest is None or spare[dearest] == route.cost:
                continue
            changed = paths.without(dearest)
        try:
            ends = between.source, between.destination
            paths = changed.with_path(between.name, between.overlay.vlans, *ends, route.names)
        except Conflict as error:
            refused.append(f"{between.source} to {between.destination}: {error}")
    return paths, refused


def _cost(
    circuit: Circuit, graph: NetworkGraph, configuration: Configuration, constraints: PathConstraints
) -> int:
    links = route_of(circuit, graph, configuration)
    prices = [] if isinstance(links, str) else [constraints.cost_of(link) for link in links]
    return sum(price for price in prices if price is not None)


def circuit_path(circuit: Circuit, links: Sequence[Link]) -> CandidatePath | None:
    """Return a circuit as a candidate in its own direction; None if the number of a port is unknown.

    :param links: its links, in order.
    """
    hops, ends = list[Hop](), (links[0].source_port, links[-1].target_port)
    for before, after in pairwise(links):
        if before.target_port is None or after.source_port is None:
            return None
        hops.append(Hop(before.target, before.target_port, after.source_port))
    if ends[0] is None or ends[1] is None:
        return None
    return CandidatePath(
        PathKey(circuit.name, circuit.source, circuit.destination),
        Layer.L2,
        circuit.index,
        min(link.capacity for link in links),
        PathEnd(links[0].source, ends[0]),
        PathEnd(links[-1].target, ends[1]),
        circuit.vlan,
        tuple(hops),
        join_attributes(links),
        tuple(compose_metrics([link.metrics for link in links]).items()),
    )


class PathCache:
    """Cache of the path search for one graph; a different graph empties the cache.

    The cache changes no result.  The libraries of the search take 50 MB and a quarter of a second.  They are
    imported with the first search, so a network without overlays does not load them.
    """

    def __init__(self) -> None:
        self._graph: NetworkGraph | None = None
        self._matrices: dict[PathConstraints, CostMatrix] = {}
        self._routes: dict[tuple[PathConstraints, int, int, int], tuple[Route, ...]] = {}
        self._backups: dict[tuple[PathConstraints, Route], Route | None] = {}

    def k_shortest_paths(
        self, graph: NetworkGraph, source: int, target: int, count: int, constraints: PathConstraints
    ) -> tuple[Route, ...]:
        """Return the ``count`` cheapest loop-free paths, cheapest first; fewer if there are no more.

        :raises NotFound: if a switch is not in the graph.
        :raises ValueError: for a count outside 1..64, or if source and target are the same.
        """
        self._follow(graph)
        question = constraints, source, target, count
        if question not in self._routes:
            from adon.flowvisor.topology.k_shortest_paths import CostMatrix

            if constraints not in self._matrices:
                self._matrices[constraints] = CostMatrix(graph, constraints)
            self._routes[question] = self._matrices[constraints].routes(source, target, count)
        return self._routes[question]

    def backup_path(self, graph: NetworkGraph, route: Route, constraints: PathConstraints) -> Route | None:
        """Return the path between the same ends that shares the fewest links with ``route``, or None."""
        self._follow(graph)
        question = constraints, route
        if question not in self._backups:
            from adon.flowvisor.topology.k_shortest_paths import backup_path

            self._backups[question] = backup_path(graph, route, constraints)
        return self._backups[question]

    def _follow(self, graph: NetworkGraph) -> None:
        known = self._graph
        same = known is graph or (known is not None and known.content == graph.content and known == graph)
        if not same or len(self._routes) + len(self._backups) >= _MAX_CACHED:
            self._matrices.clear()
            self._routes.clear()
            self._backups.clear()
        self._graph = graph
