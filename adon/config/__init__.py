"""Configuration of an ADON installation, parsed once into immutable values.

One YAML file describes the network (switches, sites with their DTNs, transit paths), where
measurements come from, the compute sites, and the policy.  The same parser serves ``adon serve`` and
``adon config check``: unknown keys are refused and every problem is reported with file, line and
field.  See ``docs/configuration.md`` for a commented example.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from adon import yamlfile
from adon.config.access import Access
from adon.config.checks import find_section_problems
from adon.config.compute import ComputeSite
from adon.config.controller import Controller
from adon.config.instances import HealthRounds
from adon.config.measurements import Measurements
from adon.config.network import CookieRange, LinkDiscovery, NetworkLink, Overlay, Site, Switch, TransitPath
from adon.config.policy import Policy
from adon.config.slices import Slice
from adon.config.types import Section
from adon.errors import Problem
from adon.values import Frozen, FrozenMap, Mode, Name

ORDERED = ("switches", "paths")
"""Sections in which the order of names has a meaning."""
_ABSENT = object()


class Configuration(Section):
    """Configuration file.

    :param network: name of the network.
    :param mode: ``dry-run``: decide, record and show, but change no switch.
    :param switches: switches, by name.
    :param sites: campuses, by name.
    :param paths: transit paths, by name; their order is their number in cookies.
    :param links: links between switches, by name.
    :param overlays: layer-2 overlays with computed paths, by name.
    :param measurements: measurement points, tests and archives.
    :param compute: compute sites, by name.
    :param policy: policy of the performance engineers.
    :param controller: addresses, ports and limits of the processes.
    :param discovery: discovery of links.
    :param slices: tenants, by name.
    :param access: how people sign in, and their roles.
    :param ignored_cookies: rules of other controllers, which are never judged or changed.
    :param health: instances that probe each other.
    """

    network: Name
    mode: Mode = "active"
    switches: Annotated[Frozen[Name, Switch], Field(min_length=1)]
    sites: Annotated[Frozen[Name, Site], Field(min_length=1)]
    paths: Frozen[Name, TransitPath]
    links: Frozen[Name, NetworkLink] = FrozenMap()
    overlays: Frozen[Name, Overlay] = FrozenMap()
    measurements: Measurements = Measurements()
    compute: Frozen[Name, ComputeSite] = FrozenMap()
    policy: Policy = Policy()
    controller: Controller = Controller()
    discovery: LinkDiscovery = LinkDiscovery()
    slices: Frozen[Name, Slice] = FrozenMap()
    access: Access = Access()
    ignored_cookies: tuple[CookieRange, ...] = ()
    health: HealthRounds | None = None

    def _problems(self) -> Iterator[str | Problem]:
        return find_section_problems(self)

    def mode_of(self, switch: str) -> Mode:
        """Return the mode of a switch: its own, else the network's."""
        return self.switches[switch].mode or self.mode


def load(path: Path) -> Configuration:
    """Read and check a configuration file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, Configuration)


def fingerprint(configuration: Configuration) -> str:
    """Return the content as 16 hex digits, equal for equal configurations in every process."""
    text = json.dumps(_values(configuration), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def list_changed_fields(before: Configuration, after: Configuration) -> tuple[str, ...]:
    """Return the fields that differ, in the order of the file: ``policy.drain``, ``paths.al2s``, ``network``.

    Only the section itself if it is no mapping, or if just the order of its names differs.  Comments, units
    and defaults that are written out do not count.  The order of ``switches`` and ``paths`` does: a position
    is a number in the cookies of rules (:mod:`adon.flowvisor.rules.cookie`).
    """
    old, new = _values(before), _values(after)
    names: list[str] = []
    for section in new:
        if old[section] != new[section]:
            names += _keys(section, old[section], new[section])
    return tuple(names)


def _keys(section: str, old: Any, new: Any) -> list[str]:
    if section in ORDERED:
        old, new = dict(old), dict(new)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [section]
    keys = dict.fromkeys((*old, *new))
    return [f"{section}.{key}" for key in keys if old.get(key, _ABSENT) != new.get(key, _ABSENT)] or [section]


def _values(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration as JSON values, with the sections of :data:`ORDERED` as pairs."""
    values = configuration.model_dump(mode="json")
    return {**values, **{name: [list(pair) for pair in values[name].items()] for name in ORDERED}}
