"""Which VLAN id each overlay circuit has on each link: a value.

A circuit has one VLAN id on all its links (IEEE 802.1Q), so that no switch on the way has to rewrite it.
Two circuits that share a link never share an id, in whatever direction they use it; circuits that share
none may.  The lowest id that is free on every link is taken: equal histories give equal ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adon.config.network import vlan_ranges
from adon.errors import Conflict
from adon.frozenmap import FrozenMap


@dataclass(frozen=True, slots=True)
class Allocation:
    """Per link, by its name, the VLAN ids in use there."""

    used: Mapping[str, frozenset[int]] = field(default_factory=FrozenMap)

    @classmethod
    def restored(cls, circuits: Iterable[tuple[int, Iterable[str]]]) -> Allocation:
        """The allocation that these circuits, a VLAN id and names of links each, come to.

        :raises Conflict: if two of them have the same id on the same link.
        """
        found = cls()
        for vlan, links in circuits:
            found = found.taken(vlan, links)
        return found

    def taken(self, vlan: int, links: Iterable[str]) -> Allocation:
        """The allocation with this id in use on these links too.

        :raises Conflict: if it is in use on one of them.
        """
        names = list(links)
        for link in names:
            if vlan in self.used.get(link, frozenset()):
                raise Conflict(f"links.{link}", f"VLAN {vlan} is in use there already")
        return self._with({link: self.used.get(link, frozenset()) | {vlan} for link in names})

    def allocated(self, overlay: str, vlans: Iterable[int], links: Iterable[str]) -> tuple[int, Allocation]:
        """The lowest of an overlay's ids that is free on all of these links, and the allocation with it.

        :raises Conflict: if there is none; names overlay, range, and the link with the fewest ids left.
        """
        names, known = list(links), frozenset(vlans)
        free = known.difference(*(self.used.get(link, frozenset()) for link in names))
        if not free:
            fullest = max(names, key=lambda link: len(known & self.used.get(link, frozenset())))
            taken = len(known & self.used.get(fullest, frozenset()))
            raise Conflict(
                f"overlays.{overlay}.vlans",
                f"no VLAN of {vlan_ranges(known)} is free on every link of {' '.join(names)}: "
                f"link {fullest!r} has {taken} of {len(known)} in use",
            )
        vlan = min(free)
        return vlan, self.taken(vlan, names)

    def released(self, vlan: int, links: Iterable[str]) -> Allocation:
        """The allocation with this id free again on these links.

        :raises Conflict: if it is not in use on one of them.
        """
        names = list(links)
        for link in names:
            if vlan not in self.used.get(link, frozenset()):
                raise Conflict(f"links.{link}", f"VLAN {vlan} is not in use there")
        return self._with({link: self.used[link] - {vlan} for link in names})

    def _with(self, changed: Mapping[str, frozenset[int]]) -> Allocation:
        used = {link: ids for link, ids in {**self.used, **changed}.items() if ids}
        return Allocation(FrozenMap(used))
