"""The campuses of a graph: which port of the edge leads to which DTN, and which DTN measures.

Campus switches forward as ordinary switches do: they flood what they do not know.  So the switches of a
campus must be a tree, with the edge in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adon.nearest_key import absent
from mininet_topos.networks.description import Description, SitePart
from mininet_topos.networks.graph import Cable, Graph, Role
from mininet_topos.networks.wrong import Wrong, refuse


@dataclass(frozen=True, slots=True)
class Campus:
    """A site with what nobody wrote filled in.

    :param routers: the hosts' gateway first.
    :param measuring: the DTN with the measurement point.
    :param at: per DTN the switch that it hangs on.
    :param cabled: per DTN the link that it hangs on, where one is described.
    :param behind: per campus switch the link of the edge that leads to it.
    """

    name: str
    edge: str
    routers: tuple[str, ...]
    switches: tuple[str, ...]
    measuring: str
    at: Mapping[str, str]
    cabled: Mapping[str, Cable]
    behind: Mapping[str, Cable]


def campuses(described: Description, graph: Graph) -> tuple[Campus, ...]:
    """The sites, in the order of the description.

    :raises WrongDescription: with everything that is wrong.
    """
    refuse(wrong for name, part in described.campuses.items() for wrong in _wrong(name, part, graph))
    return tuple(_campus(name, part, graph) for name, part in described.campuses.items())


def _campus(name: str, part: SitePart, graph: Graph) -> Campus:
    edge, dtns = graph.edge(name), graph.of(name, Role.DTN)
    cabled = {dtn: cable for dtn in dtns if (cable := graph.cable_of(dtn)) is not None}
    at = {dtn: cabled[dtn].beyond(dtn) if dtn in cabled else _switch_of(dtn, part) or edge for dtn in dtns}
    return Campus(
        name=name,
        edge=edge,
        routers=graph.of(name, Role.CAMPUS_ROUTER),
        switches=graph.of(name, Role.CAMPUS_SWITCH),
        measuring=part.measuring or dtns[0],
        at=at,
        cabled=cabled,
        behind=_behind(name, graph),
    )


def _switch_of(dtn: str, part: SitePart) -> str | None:
    written = part.dtns.get(dtn)
    return None if written is None else written.at


def _behind(site: str, graph: Graph) -> dict[str, Cable]:
    found: dict[str, Cable] = {}
    edge = graph.edge(site)
    waiting = [edge]
    while waiting:
        here = waiting.pop()
        for cable in _within(site, graph):
            there = cable.beyond(here)
            if here in cable.between and there != edge and there not in found:
                found[there] = found.get(here, cable)
                waiting.append(there)
    return found


def _within(site: str, graph: Graph) -> tuple[Cable, ...]:
    switches = {graph.edge(site), *graph.of(site, Role.CAMPUS_SWITCH)}
    return tuple(cable for cable in graph.cables.values() if set(cable.between) <= switches)


def _wrong(name: str, part: SitePart, graph: Graph) -> Iterator[Wrong]:
    place = ("sites", name)
    dtns = graph.of(name, Role.DTN)
    switches = {graph.edge(name), *graph.of(name, Role.CAMPUS_SWITCH)}
    if part.measuring is not None and part.measuring not in dtns:
        yield Wrong((*place, "measuring"), absent("DTN", part.measuring, dtns))
    for dtn in dtns:
        switch = _switch_of(dtn, part)
        if switch is not None and switch not in switches:
            yield Wrong((*place, "dtns", dtn, "at"), absent("switch of this site", switch, switches))
        cable = graph.cable_of(dtn)
        if switch is not None and cable is not None and cable.beyond(dtn) != switch:
            yield Wrong((*place, "dtns", dtn, "at"), f"link {cable.name!r} leads to {cable.beyond(dtn)!r}")
        for another in graph.cables.values():
            if dtn in another.between and another is not cable:
                cause = f"{dtn!r} hangs on one link, and there is one already"
                yield Wrong(("links", another.name, "between"), cause)
    behind = _behind(name, graph)
    for switch in graph.of(name, Role.CAMPUS_SWITCH):
        if switch not in behind:
            yield Wrong((*place, "switches"), f"no links join {switch!r} to the edge")
    if len(_within(name, graph)) > len(behind):
        yield Wrong((*place, "switches"), "their links form a loop, in which they would flood for ever")
