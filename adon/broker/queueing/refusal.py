"""A refusal, and what it rests on: as long as that is the same, flows that are alike need not be tried.

As in :mod:`adon.broker.memo`, nothing here decides: a refusal that is forgotten costs a trial and changes no
outcome.  A test runs two brokers side by side, one of which forgets every refusal at once.

What a refusal rests on is kept in two parts.  The *ground* is the same for all flows between two sites: the
topology, the results heard of the paths there, the load on them, which of them are shunned.  The rest is the
refusal's own: until when its values are young enough; who runs alongside, where somebody of lower priority
might give way; and for what rests on more than that (worker nodes, slices, ladders, crowded tables) this very
instant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from adon.broker.heard import Heard
from adon.flowvisor.topology.topology import Topology
from adon.reasons import Reason
from adon.values import FrozenMap


class Fate(NamedTuple):
    """All that may differ between waiting flows that are alike.

    :param reach: the maintenance windows and reservations that a flow would run into.
    :param kept: the paths and sites that are kept for flows before it.
    """

    reach: Hashable = ()
    kept: Hashable = ()


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What refusals between two sites rest on.

    :param heard: how often a result or a change of one of the paths was heard of.
    :param loads: how often the load on one of them changed.
    :param hour: of the history that "best value seen" looks at.
    :param limited: whether there is a limit that is not counted here.
    """

    topology: Topology
    performance: Heard
    heard: int
    loads: int
    shunned: tuple[str, ...]
    hour: int
    limited: bool = False

    def same(self, other: Ground) -> bool:
        """Whether what rests on the one rests on the other."""
        if self is other:
            return True
        return (
            self.topology is other.topology
            and self.performance is other.performance
            and (self.heard, self.loads, self.shunned, self.hour, self.limited)
            == (other.heard, other.loads, other.shunned, other.hour, other.limited)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """One flow was refused.

    :param until: when a value it rests on grows too old.
    :param token: the verdicts: an equal one is not recorded again.
    :param alongside: who runs between the same sites and how, where one of them might give way; else None.
    :param instant: what has to be the same besides, at the same instant, where it does not outlive that; else
        None.
    """

    ground: Ground
    until: float
    token: Hashable
    alongside: Hashable = None
    instant: Hashable = None

    def holds(
        self,
        ground: Ground,
        now: float,
        alongside: Callable[[], Hashable],
        instant: Callable[[], Hashable],
    ) -> bool:
        """Whether a flow that is alike would be refused now for the same reasons."""
        if not self.ground.same(ground):
            return False
        if self.instant is not None:
            return self.instant == instant()
        if now >= self.until:
            return False
        return self.alongside is None or self.alongside == alongside()


NOTHING: Mapping[str, str] = FrozenMap()


@dataclass(frozen=True, slots=True)
class Kept:
    """What a flow may not have because it is kept for somebody before it, each with the reason.

    :param by: the names, and the numbers of those for whom.
    """

    paths: Mapping[str, Reason] = FrozenMap()
    sites: Mapping[str, str] = NOTHING
    by: tuple[tuple[str, int], ...] = ()


NONE = Kept()
