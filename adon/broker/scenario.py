"""The failures that can be rehearsed, by name, and what each would take away (:mod:`adon.broker.whatif`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adon.broker.maintenance import Scope, Window, paths_of
from adon.config import Configuration
from adon.errors import InvalidInput, NotFound


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

    paths: Mapping[str, str]
    hosts: Mapping[str, str]


def scenarios(configuration: Configuration) -> Iterator[Scenario]:
    """Every single failure that the configuration has a name for."""
    for link in dict.fromkeys(link for path in configuration.paths.values() for link in path.links):
        yield Scenario(Failure.LINK_DOWN, link)
    for path in configuration.paths:
        yield Scenario(Failure.PATH_DOWN, path)
    for switch in configuration.switches:
        yield Scenario(Failure.SWITCH_DOWN, switch)
    for switch, port in dict.fromkeys((*_path_ports(configuration), *_host_ports(configuration))):
        yield Scenario(Failure.PORT_DOWN, f"{switch}:{port}")


def supposed(configuration: Configuration, windows: Iterable[Window], scenario: Scenario) -> Supposed:
    """What a failure takes away.

    :param windows: those that can be named.
    :raises InvalidInput: for a name that is not known.
    """
    name = scenario.name
    match scenario.failure:
        case Failure.PORT_DOWN:
            return _port_down(configuration, name)
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
        return Supposed(dict.fromkeys(paths_of(configuration, scope, name), why), {})
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


def _port_down(configuration: Configuration, name: str) -> Supposed:
    switch, _, port = name.partition(":")
    why, which = f"port {port} of switch {switch} is down", (switch, port)
    paths = {
        path: why
        for path, one in configuration.paths.items()
        if which in {(configuration.sites[site].edge, end.port) for site, end in one.ends.items()}
    }
    hosts = {
        host: why
        for site in configuration.sites.values()
        for host, one in site.hosts.items()
        if which == (site.edge, one.port)
    }
    if not paths and not hosts:
        raise InvalidInput.of("name", f"{name!r} is no SWITCH:PORT that a path or a host uses")
    return Supposed(paths, hosts)


def _path_ports(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for path in configuration.paths.values():
        for site, end in path.ends.items():
            yield configuration.sites[site].edge, end.port


def _host_ports(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for site in configuration.sites.values():
        for host in site.hosts.values():
            yield site.edge, host.port
