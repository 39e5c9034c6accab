"""From a circuit's links to the candidate path that flows are steered onto; and the check for loops.

A circuit knows links by name; rules need the numbers that the switches gave to their ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from adon.errors import InvalidInput, Problem
from adon.flowvisor.graph import Link, joined
from adon.flowvisor.overlay import Circuit
from adon.flowvisor.path import CandidatePath, Hop, Layer, PathEnd
from adon.flowvisor.performance import compose
from adon.flowvisor.rule import dpid_text
from measurement.model import PathKey


def circuit_path(circuit: Circuit, links: Sequence[Link]) -> CandidatePath | None:
    """A circuit as a candidate in its own direction; None as long as a port's number is not known.

    :param links: its links, in order.
    """
    hops, ends = list[Hop](), (links[0].source_port, links[-1].target_port)
    for before, after in pairwise(links):
        if before.target_port is None or after.source_port is None:
            return None
        hops.append(Hop(before.target, before.target_port, after.source_port))
    if ends[0] is None or ends[1] is None:
        return None
    attributes = joined(links)
    return CandidatePath(
        PathKey(circuit.name, circuit.source, circuit.destination),
        Layer.L2,
        circuit.index,
        min(link.capacity for link in links),
        attributes.mtu,
        PathEnd(links[0].source, ends[0]),
        PathEnd(links[-1].target, ends[1]),
        circuit.vlan,
        tuple(hops),
        attributes.firewall,
        attributes.nat,
        attributes.families,
        tuple(compose([link.metrics for link in links]).items()),
    )


def check_loop_free(paths: Iterable[CandidatePath]) -> None:
    """Check that no packet on these paths can come to a switch twice.

    Two things must hold: no path visits a switch twice, and no two paths with the same VLAN id want a frame
    that comes in by the same port of a switch to go different ways.

    :raises InvalidInput: with every path that breaks this, and where.
    """
    known = list(paths)
    problems = [Problem(path.key.path, cause) for path in known for cause in _visited_twice(path)]
    problems += [Problem(name, cause) for name, cause in _forks(known)]
    if problems:
        raise InvalidInput(problems)


def _visited_twice(path: CandidatePath) -> Iterator[str]:
    seen: set[int] = set()
    for dpid in (path.source_end.dpid, *(hop.dpid for hop in path.hops), path.destination_end.dpid):
        if dpid in seen:
            yield f"visits switch {dpid_text(dpid)} twice"
        seen.add(dpid)
    for hop in path.hops:
        if hop.in_port == hop.out_port:
            yield f"leaves switch {dpid_text(hop.dpid)} by port {hop.in_port}, where it came in"


def _forks(paths: Sequence[CandidatePath]) -> Iterator[tuple[str, str]]:
    taken: dict[tuple[int, int, int | None], tuple[int, str]] = {}
    for path in (each for one in paths for each in (one, one.reversed())):
        for hop in path.hops:
            place = hop.dpid, hop.in_port, path.vlan
            out, other = taken.setdefault(place, (hop.out_port, path.key.path))
            if out != hop.out_port:
                where = f"from port {hop.in_port} of switch {dpid_text(hop.dpid)}"
                ways = f"to port {hop.out_port}, for {other} to port {out}"
                yield path.key.path, f"VLAN {path.vlan} {where} goes {ways}"
