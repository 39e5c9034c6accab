"""Rounds of health among instances of ours: who probes whom, how often, and which path a pair goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from adon.config.instances import MOST, Instances, ListedInstance
from adon.config.parts import Span
from adon.errors import Problem
from adon.nearest_key import unknown_name
from adon.templates_catalog.model import Name
from measurement.health.model import Pair
from measurement.model import PathKey

if TYPE_CHECKING:
    from adon.config.configuration import Configuration


class SitedInstance(ListedInstance):
    """An instance, and what it stands for.

    :param site: where it is; None: it is probed, and says nothing of a path.
    :param path: the transit path that the edges pin its address to, as with a test's address.
    """

    site: Name | None = None
    path: Name | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.site is None) != (self.path is None):
            raise ValueError("path: an instance stands for a site and a path, or for neither")
        return self


class HealthRounds(Instances):
    """The ``health`` section: an instances file, and when its instances probe each other.

    :param every: between the beginnings of two rounds.
    :param verified: so many pairs have their throughput verified by a transfer of ten seconds in each round;
        at least one from each zone to each, unless it is 0.
    :param seed: draws these pairs.
    :param renew: only pairs whose markers fire, or whose throughput is older than this, are loaded with
        trains; None: all, in each round.
    :param throughput: tell what trains found as the throughput of paths that no test measures.
    """

    instances: Annotated[tuple[SitedInstance, ...], Field(min_length=2, max_length=MOST)]
    key_file: Path = Field(description="holds the key of the probe agents; relative to this file")
    every: Annotated[Span, Field(ge=10.0, le=86_400.0)] = 600.0
    verified: Annotated[int, Field(ge=0, le=1000)] = 0
    seed: int = 1
    renew: Span | None = None
    throughput: bool = False

    def paths(self) -> Mapping[Pair, PathKey]:
        """The directed path that a pair goes by, of each pair that goes by one."""
        return {
            Pair(one.name, other.name): PathKey(one.path, one.site, other.site)
            for one, other in permutations(self.instances, 2)
            if one.path is not None
            and one.path == other.path
            and one.site is not None
            and other.site is not None
            and one.site != other.site
        }


def wrong_instances(whole: Configuration) -> Iterator[str | Problem]:
    """What does not agree with the rest, as ``field: text``."""
    if whole.health is None:
        return
    for number, one in enumerate(whole.health.instances):
        field = f"health.instances.{number}"
        if one.site is not None and one.site not in whole.sites:
            yield unknown_name(f"{field}.site", "site", one.site, whole.sites)
        elif one.path is not None and one.path not in whole.paths:
            yield unknown_name(f"{field}.path", "path", one.path, whole.paths)
        elif one.path is not None and one.site is not None and one.site not in whole.paths[one.path].ends:
            yield f"{field}.path: {one.path} does not end at {one.site}"


def measured_by_tests(whole: Configuration) -> frozenset[PathKey]:
    """The directed paths whose throughput some test measures."""
    return frozenset(
        PathKey(test.path, test.from_, test.to)
        for test in whole.measurements.tests
        if test.throughput_period is not None
    )
