"""The whole configuration file."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import model_validator

from adon import yamlfile
from adon.config.access import Access
from adon.config.checks import problems
from adon.config.discovery import LinkDiscovery
from adon.config.health import HealthRounds
from adon.config.links import NetworkLink, Overlay
from adon.config.measuring import Measurements
from adon.config.network import Site, Switch, TransitPath
from adon.config.operation import ComputeSite, Controller, CookieRange, Policy
from adon.config.parts import Section, raise_all
from adon.config.slices import Slice
from adon.frozenmap import Frozen, FrozenMap
from adon.templates_catalog.model import Name


class Configuration(Section):
    """The whole file."""

    network: Name
    switches: Frozen[Name, Switch]
    sites: Frozen[Name, Site]
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

    @model_validator(mode="after")
    def _references(self) -> Self:
        raise_all(problems(self))
        return self


def load(path: Path) -> Configuration:
    """Read and check a configuration file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, Configuration)
