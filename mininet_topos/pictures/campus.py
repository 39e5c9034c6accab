"""Where things stand within a campus: what faces the outside in the first rank, the rest behind it.

A campus network is a tree (its switches forward without a controller, so it has no loops): ranks are steps
from the border, and a node stands in the middle of those behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mininet_topos.pictures.sketch import Kind, Sketch

DENSE = 8
"""In a rank of more nodes their symbols are small, and stand close together."""
STEP_BACK = 0.5
"""Of a rank."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A campus without direction.

    :param rank: of each node, 0 for those that face the outside; of several routers all but the last stand
        back, so that no cable lies behind one of them.
    :param slot: along the rank; leaves are 1 apart.
    :param longest: of its nodes' names.
    """

    rank: Mapping[str, float]
    slot: Mapping[str, float]
    longest: str = ""

    @property
    def ranks(self) -> float:
        """How deep it is, in ranks."""
        return max(self.rank.values(), default=0) + 1

    @property
    def slots(self) -> float:
        """How wide the widest rank is."""
        return max(self.slot.values(), default=0) + 1

    @property
    def dense(self) -> bool:
        """Whether its symbols are small."""
        return self.slots > DENSE


def ranked(sketch: Sketch, site: str) -> Ranked:
    """Ranks and slots of a campus's nodes."""
    border = list(sketch.border(site)) or [node.name for node in sketch.within(site)[:1]]
    rank = dict.fromkeys(border, 0)
    behind: dict[str, list[str]] = {node.name: [] for node in sketch.within(site)}
    ahead = list(border)
    while ahead:
        here = ahead.pop(0)
        for other in sketch.near[here]:
            if other in behind and other not in rank:
                rank[other] = rank[here] + 1
                behind[here].append(other)
                ahead.append(other)
    rest = [name for name in behind if name not in rank]
    rank |= dict.fromkeys(rest, 1)
    slot: dict[str, float] = {}
    _spread([*border, *rest], behind, slot, 0.0)
    routers = [name for name in border if sketch.node[name].kind is Kind.ROUTER]
    back = {name: STEP_BACK * place for place, name in enumerate(reversed(routers))}
    longest = max((node.label for node in sketch.within(site)), key=len, default="")
    return Ranked({name: its + back.get(name, 0.0) for name, its in rank.items()}, slot, longest)


def _spread(
    names: Sequence[str], behind: Mapping[str, Sequence[str]], slot: dict[str, float], start: float
) -> float:
    """Give slots to these and what is behind them; the first slot that is free afterwards."""
    for name in names:
        ordered = _middle_out(behind[name], behind)
        after = _spread(ordered, behind, slot, start)
        if after == start:
            slot[name], start = start, start + 1
        else:
            slot[name], start = (slot[ordered[0]] + slot[ordered[-1]]) / 2, after
    return start


def _leaves(name: str, behind: Mapping[str, Sequence[str]]) -> int:
    return sum(_leaves(one, behind) for one in behind[name]) or 1


def _middle_out(names: Sequence[str], behind: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The largest subtree in the middle, so that both sides are even; alike ones stay in their order."""
    if len({_leaves(name, behind) for name in names}) < 2:
        return names
    ordered = sorted(names, key=lambda name: _leaves(name, behind))
    return [*ordered[::2], *reversed(ordered[1::2])]
