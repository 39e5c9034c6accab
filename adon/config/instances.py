"""Instances file: machines that probe each other and receive tasks (docs/health-and-probes.md).

``adon health``, ``place`` and ``evaluate`` read this separate file, because instances of a cloud change more
often than the network's configuration.

The section ``health`` is such a list with the schedule of the probes.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Annotated

from pydantic import Field

from adon import yamlfile
from adon.config.types import Port, Section, Span
from adon.units import Size
from adon.values import Name
from measurement.health.model import Pair
from measurement.instances import PORT, Instance
from measurement.model import PathKey

MOST = 1000


class InstanceEntry(Section):
    """Machine, as :class:`measurement.instances.Instance` describes it.

    :param name: a word that identifies the instance in results.
    :param address: IP address of the probe agent; source and destination of measurements.
    :param port: TCP port of the probe agent.
    :param zone: its availability zone, rack or site.
    :param cores, memory: resources for tasks, for ``adon place``.
    """

    name: str
    address: Annotated[str, Field(examples=["10.1.0.10"])]
    port: Port = PORT
    zone: Annotated[str, Field(max_length=63)] = ""
    cores: float | None = None
    memory: Size | None = None

    def _problems(self) -> Iterator[str]:
        self.instance()
        yield from ()

    def instance(self) -> Instance:
        """Return the instance as a value of :mod:`measurement`.

        :raises ValueError: for an invalid value; it names the field.
        """
        return Instance(self.name, self.address, self.port, self.zone, self.cores, self.memory)


class Instances(Section):
    """Instances file.

    :param key_file: file with the key of the probe agents; relative to this file's folder.
    :param between_zones: maximum number of simultaneous load probes from one zone to another; without it
        only the instances themselves limit them.
    """

    instances: Annotated[tuple[InstanceEntry, ...], Field(min_length=1, max_length=MOST)]
    key_file: Path | None = None
    between_zones: Annotated[int | None, Field(ge=1)] = None

    def _problems(self) -> Iterator[str]:
        # Two texts may be the same IPv6 address.
        ends: list[object] = [(ipaddress.ip_address(one.address), one.port) for one in self.instances]
        names: list[object] = [one.name for one in self.instances]
        for key, values, example in (("name", names, "vm-b"), ("address", ends, "10.1.0.11")):
            for number, value in enumerate(values):
                if (first := values.index(value)) != number:
                    yield f"instances.{number}.{key}: repeats instances.{first}; for example {example}"

    @property
    def members(self) -> tuple[Instance, ...]:
        """Return the instances in the file's order."""
        return tuple(one.instance() for one in self.instances)


def load_instances(path: Path) -> Instances:
    """Read and check an instances file; the key's file is not opened.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    found = yamlfile.load_model(path, Instances)
    if found.key_file is None:
        return found
    return found.model_copy(update={"key_file": path.parent / found.key_file})


class SiteInstance(InstanceEntry):
    """Instance with its site and path.

    :param site: its site; results without a site belong to no path.
    :param path: the transit path that the edges pin its address to, as for a test's address.
    """

    site: Name | None = None
    path: Name | None = None

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if (self.site is None) != (self.path is None):
            yield "path: an instance has a site and a path, or neither; for example site: mu, path: al2s"


class HealthRounds(Instances):
    """Section ``health``: an instances file with the schedule of the probes.

    :param every: time between the starts of two rounds.
    :param verified: number of pairs whose throughput a transfer of ten seconds verifies in each round; at
        least one per pair of zones, unless it is 0.
    :param seed: seed of the random choice of these pairs.
    :param renew: maximum age of a throughput; only older pairs, and pairs with markers, are loaded with
        trains; without it all pairs in each round.
    :param throughput: report the results of trains as the throughput of paths without tests.
    :param instances: the instances.
    :param key_file: file with the key of the probe agents; relative to this file.
    """

    instances: Annotated[tuple[SiteInstance, ...], Field(min_length=2, max_length=MOST)]
    key_file: Path
    every: Annotated[Span, Field(ge=10.0, le=86_400.0)] = 600.0
    verified: Annotated[int, Field(ge=0, le=1000)] = 0
    seed: int = 1
    renew: Span | None = None
    throughput: bool = False

    def paths(self) -> Mapping[Pair, PathKey]:
        """Return the directed path of each pair of instances on one path."""
        return {
            Pair(one.name, other.name): PathKey(one.path, one.site, other.site)
            for one, other in permutations(self.instances, 2)
            if one.path is not None
            and one.path == other.path
            and one.site is not None
            and other.site is not None
            and one.site != other.site
        }
