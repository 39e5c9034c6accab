"""The failures that can be rehearsed, by name, and what each would take away (:mod:`adon.broker.whatif`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from adon.broker.maintenance import Scope, Window, paths_of
from adon.errors import InvalidInput, NotFound
from adon.reasons import Reason

if TYPE_CHECKING:  # clients import the failures; they need no configuration
    from adon.config import Configuration
    from adon.flowvisor.topology.topology import Topology


class Failure(StrEnum):
    """What can be rehearsed."""

    LINK_DOWN = "link-down"
    PATH_DOWN = "path-down"
    SWITCH_DOWN = "switch-down"
    PORT_DOWN = "port-down"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One supposed failure.

    :param name: of a link, path or switch; ``SWITCH:PORT``; of maintenance an announced window (``m-3``) or
        ``path:``, ``link:``, ``switch:`` or ``site:`` with a name.
    """

    failure: Failure
    name: str


@dataclass(frozen=True, slots=True)
class Supposed:
    """A failure as its consequences: dead paths, and hosts that are cut off, each with the reason."""

    paths: Mapping[str, Reason]
    hosts: Mapping[str, str]


def scenarios(topology: Topology) -> Iterator[Scenario]:
    """Every single failure that there is a name for."""
    courses, configuration = topology.path_elements, topology.configuration
    links = (*configuration.links, *(link for one in courses for link in sorted(one.links)))
    for link in dict.fromkeys(links):
        yield Scenario(Failure.LINK_DOWN, link)
    for one in courses:
        yield Scenario(Failure.PATH_DOWN, one.path)
    for switch in configuration.switches:
        yield Scenario(Failure.SWITCH_DOWN, switch)
    ports = (port for one in courses for port in sorted(one.ports))
    for switch, name in dict.fromkeys((*ports, *_host_ports(configuration))):
        yield Scenario(Failure.PORT_DOWN, f"{switch}:{name}")


def apply_failure(topology: Topology, windows: Iterable[Window], scenario: Scenario) -> Supposed:
    """What a failure takes away.

    :param windows: those that can be named.
    :raises InvalidInput: for a name that is not known.
    """
    name = scenario.name
    match scenario.failure:
        case Failure.PORT_DOWN:
            return _port_down(topology, name)
        case Failure.MAINTENANCE:
            scope, name = _window(windows, name)
            why = f"{scope} {name} is in maintenance"
        case Failure.LINK_DOWN:
            scope, why = Scope.LINK, f"link {name} is down"
        case Failure.PATH_DOWN:
            scope, why = Scope.PATH, f"path {name} is down"
        case Failure.SWITCH_DOWN:
            scope, why = Scope.SWITCH, f"switch {name} is down"
    try:
        return Supposed(dict.fromkeys(paths_of(topology, scope, name), Reason("path-down", why)), {})
    except NotFound as error:
        raise InvalidInput.of("name", f"there is no {scope} {name!r}") from error


def _window(windows: Iterable[Window], name: str) -> tuple[Scope, str]:
    announced = next((window for window in windows if window.id == name), None)
    if announced is not None:
        return announced.scope, announced.name
    scope, _, rest = name.partition(":")
    if scope not in list(Scope) or not rest:
        known = ", ".join(f"{one}:NAME" for one in Scope)
        raise InvalidInput.of("name", f"{name!r} is no announced window such as m-3, nor one of {known}")
    return Scope(scope), rest


def _port_down(topology: Topology, name: str) -> Supposed:
    switch, _, port = name.partition(":")
    why, which = f"port {port} of switch {switch} is down", (switch, port)
    paths = {one.path: Reason("path-down", why) for one in topology.path_elements if which in one.ports}
    hosts = {
        host: why
        for site in topology.configuration.sites.values()
        for host, one in site.hosts.items()
        if which == (site.edge, one.port)
    }
    if not paths and not hosts:
        raise InvalidInput.of("name", f"{name!r} is no SWITCH:PORT that a path or a host uses")
    return Supposed(paths, hosts)


def _host_ports(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for site in configuration.sites.values():
        for host in site.hosts.values():
            yield site.edge, host.port
