"""What each path rests on: the sites, switches, links and ports that must work for it.

For whoever asks what an outage would take away (maintenance, failure rehearsal): configured paths name the
links they share, and end at two edges; an overlay's circuits are sequences of configured links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adon.config import Configuration
from adon.flowvisor.overlay import Circuit


@dataclass(frozen=True, slots=True)
class Course:
    """See the module's text.

    :param switches: names of switches of ours.
    :param ports: pairs of a switch's and a port's name.
    """

    path: str
    sites: frozenset[str]
    switches: frozenset[str]
    links: frozenset[str]
    ports: frozenset[tuple[str, str]]


def courses(configuration: Configuration, circuits: tuple[Circuit, ...]) -> Iterator[Course]:
    """Every path's course, configured ones first."""
    for name, path in configuration.paths.items():
        edges = {site: configuration.sites[site].edge for site in path.ends}
        ports = frozenset((edges[site], end.port) for site, end in path.ends.items())
        switches = frozenset(edges.values())
        yield Course(name, frozenset(path.ends), switches, frozenset(path.links), ports)
    for circuit in circuits:
        yield _of_circuit(configuration, circuit)


def _of_circuit(configuration: Configuration, circuit: Circuit) -> Course:
    sites = frozenset((circuit.source, circuit.destination))
    links = [configuration.links[name] for name in circuit.links if name in configuration.links]
    ports = frozenset(end for link in links for end in link.ends.items())
    edges = {configuration.sites[site].edge for site in sites if site in configuration.sites}
    switches = frozenset(switch for switch, _ in ports) | edges
    return Course(circuit.name, sites, switches, frozenset(circuit.links), ports)
