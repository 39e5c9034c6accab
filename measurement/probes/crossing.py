"""How much others send where a path is narrowest, in connections that would never end ([CHOREO] 3.2).

A bulk connection shares the narrowest link, of rate c1, evenly with c others: it gets c2 = c1 / (c + 1).
Where c1 is not known, one connection is tried, which gets x1, then two, which get x2 each; both equations
together give c and c1.  Values and functions only; rates are in any unit, the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass

ALIKE = 0.02
"""Two rates that differ by less than this share of the greater are the same."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """What shares a path's narrowest link.

    :param others: c: as many bulk connections as would take what others take.
    :param link: c1: the rate of the link.
    """

    others: float
    link: float


def beside(link: float, share: float) -> float:
    """c, given the link's rate c1 and what a bulk connection gets of it, c2; never below 0.

    :raises ValueError: for a rate that is not above 0.
    """
    if not (link > 0 and share > 0):
        raise ValueError(f"share: {share} of {link} is no rate on a link")
    return max(0.0, link / share - 1)


def from_two(alone: float, each: float) -> Crossing | None:
    """C and c1, from what one connection gets (x1), and each of two at the same time (x2).

    None if a second connection takes nothing from the first: then it is not this link that limits them.

    :raises ValueError: for a rate that is not above 0.
    """
    if not (alone > 0 and each > 0):
        raise ValueError(f"each: {each} beside {alone} is no rate")
    if alone - each <= ALIKE * alone:
        return None
    others = max(0.0, (2 * each - alone) / (alone - each))
    return Crossing(others, alone * (others + 1))
