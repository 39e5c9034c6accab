"""Links between switches, and the layer-2 overlays whose paths are computed over them.

Where ``paths`` names whole transit paths, ``links`` and ``overlays`` describe the network they run over
when its switches are ours too: :mod:`adon.flowvisor.overlay` then finds up to ``paths`` paths between
every two sites and gives each a VLAN of its own.  VLAN ids: IEEE 802.1Q, 1 to 4094.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from adon.config.parts import Families, PositiveRate, Section, raise_all
from adon.errors import Problem
from adon.frozenmap import Frozen
from adon.nearest_key import unknown_name
from adon.templates_catalog.model import Name
from adon.units import Duration, Ratio

if TYPE_CHECKING:
    from adon.config.configuration import Configuration


class Cost(StrEnum):
    """What makes a path cheap."""

    DELAY = "delay"
    HOPS = "hops"
    CAPACITY = "1/capacity"


def _vlans(value: object) -> object:
    """``"100-199"``, ``"100-199, 300"`` or a list of such texts, as a set of VLAN ids."""
    if isinstance(value, frozenset):
        return value
    texts = value if isinstance(value, list | tuple) else [value]
    found: set[int] = set()
    for text in (part.strip() for each in texts for part in str(each).split(",")):
        known = re.fullmatch(r"(\d{1,4})(?:\s*-\s*(\d{1,4}))?", text)
        if known is None:
            raise ValueError(f"{text[:40]!r} is not a range of VLAN ids such as 100-199")
        first, last = int(known[1]), int(known[2] or known[1])
        if not 1 <= first <= last <= 4094:
            raise ValueError(f"{text!r} is not a range of VLAN ids: they go from 1 to 4094, upwards")
        found |= set(range(first, last + 1))
    return frozenset(found)


def vlan_ranges(vlans: Iterable[int]) -> str:
    """VLAN ids as people write them: ``100-199, 300``."""
    runs: list[list[int]] = []
    for vlan in sorted(vlans):
        if runs and vlan == runs[-1][1] + 1:
            runs[-1][1] = vlan
        else:
            runs.append([vlan, vlan])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


Vlans = Annotated[frozenset[int], BeforeValidator(_vlans), PlainSerializer(vlan_ranges)]


class NetworkLink(Section):
    """A link between two switches; both directions have the same properties.

    :ivar delay: one-way propagation delay; None if nobody declared it.
    """

    ends: Frozen[Name, str] = Field(description="per switch the name of its port")
    capacity: PositiveRate
    delay: Duration | None = None
    jitter: Duration | None = None
    loss: Annotated[Ratio, Field(lt=1)] | None = None
    mtu: Annotated[int, Field(ge=576, le=9216)] = 1500
    firewall: bool = False
    nat: bool = False
    families: Families = (4, 6)

    @model_validator(mode="after")
    def _two_ends(self) -> Self:
        raise_all(iter(() if len(self.ends) == 2 else ["ends: a link joins exactly two different switches"]))
        return self


class Overlay(Section):
    """A layer-2 overlay: which links it may use, and how many paths it offers between two sites.

    :ivar links: None: every link of the network.
    :ivar through_edges: whether a path between two sites may pass the edge switch of a third.
    """

    vlans: Vlans
    links: tuple[Name, ...] | None = None
    paths: Annotated[int, Field(ge=1, le=16)] = 4
    cost: Cost = Cost.HOPS
    through_edges: bool = False

    def may_use(self, link: str) -> bool:
        """Whether the paths of this overlay may run over this link."""
        return self.links is None or link in self.links


def link_problems(whole: Configuration) -> Iterator[str | Problem]:
    """Every problem of links and overlays with the other sections, as ``field: text``."""
    yield from _dangling(whole)
    yield from _doubled_ports(whole)
    yield from _undeclared_delays(whole)
    yield from _vlans_in_use(whole)
    yield from _shared_vlans(whole)


def _dangling(whole: Configuration) -> Iterator[str | Problem]:
    for name, link in whole.links.items():
        for switch in link.ends:
            if switch not in whole.switches:
                yield unknown_name(f"links.{name}.ends.{switch}", "switch", switch, whole.switches)
    for name, overlay in whole.overlays.items():
        for path in whole.paths:
            # Computed paths are named OVERLAY.N.
            if path == name or re.fullmatch(rf"{re.escape(name)}\.\d+", path):
                yield f"overlays.{name}: there is a path {path!r}: its own paths could have this name"
        for number, link_name in enumerate(overlay.links or ()):
            if link_name not in whole.links:
                yield unknown_name(f"overlays.{name}.links.{number}", "link", link_name, whole.links)


def _doubled_ports(whole: Configuration) -> Iterator[Problem]:
    # A link has its ports for itself; only layer-2 paths, told apart by VLAN, may share one.
    taken: dict[Hashable, str] = {}
    for site, place in whole.sites.items():
        for name, host in place.hosts.items():
            taken[place.edge, host.port] = f"sites.{site}.hosts.{name}"
        for name, path in whole.paths.items():
            if path.layer == 3 and site in path.ends:
                taken[place.edge, path.ends[site].port] = f"paths.{name}.ends.{site}"
    for name, link in whole.links.items():
        for switch, port in link.ends.items():
            field = f"links.{name}.ends.{switch}"
            if (switch, port) in taken:
                yield Problem(field, f"{taken[switch, port]} has the same port", code="shared-port")
            else:
                taken[switch, port] = field


def _undeclared_delays(whole: Configuration) -> Iterator[str | Problem]:
    for name, overlay in whole.overlays.items():
        if overlay.cost is not Cost.DELAY:
            continue
        for link_name, link in whole.links.items():
            if overlay.may_use(link_name) and link.delay is None:
                yield f"overlays.{name}.cost: link {link_name!r} declares no delay"


def _vlans_in_use(whole: Configuration) -> Iterator[str | Problem]:
    ports = {(switch, port): name for name, link in whole.links.items() for switch, port in link.ends.items()}
    for name, path in whole.paths.items():
        for site, end in path.ends.items():
            place = whole.sites.get(site)
            link = ports.get((place.edge, end.port)) if place is not None else None
            for overlay_name, overlay in whole.overlays.items():
                if link is not None and overlay.may_use(link) and path.vlan in overlay.vlans:
                    yield (
                        f"overlays.{overlay_name}.vlans: VLAN {path.vlan} belongs to path {name!r} "
                        f"on port {end.port} of link {link!r}"
                    )


def _shared_vlans(whole: Configuration) -> Iterator[str | Problem]:
    for (name, overlay), (other_name, other) in combinations(whole.overlays.items(), 2):
        shared = [link for link in whole.links if overlay.may_use(link) and other.may_use(link)]
        both = overlay.vlans & other.vlans
        if shared and both:
            yield (
                f"overlays.{other_name}.vlans: {vlan_ranges(both)} belong to overlay {name!r} too, "
                f"and both may use link {shared[0]!r}"
            )
