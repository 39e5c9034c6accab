"""Would this flow be admitted now, where, and if not, why?  The one function that says so.

The broker admits by it, the queue tries by it, and what is suggested to a waiting user was tried by it.
Nothing is changed here.  Sources: [ADON] figure 4, algorithm 2; spec sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from adon.broker import circuits, compute
from adon.broker.choice import Choice, Need
from adon.broker.deciding import choose_path, giving_way
from adon.broker.flow import Flow
from adon.broker.queueing.refusal import NONE, Kept
from adon.broker.queueing.reserving import honoured, under_way
from adon.broker.queueing.together import held_back
from adon.broker.world import World
from adon.moments import minutes_text


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found.

    :param path: where it would be admitted; None if it is refused.
    :param reason: why there, or why not, in words.
    :param holder: the running flow that would give way to it.
    :param by_site: refused because no compute site can take it, though a path could.
    :param passing: refused for something that does not outlast this event.
    """

    flow: Flow
    need: Need
    choice: Choice
    sites: compute.Sites
    path: str | None
    reason: str
    holder: Flow | None = None
    by_site: bool = False
    passing: bool = False


def tried(
    world: World, flow: Flow, now: float, kept: Kept = NONE, decided: Container[int] = frozenset()
) -> Trial:
    """Try a flow that has no path.

    :param kept: what it may not have, because it is kept for somebody before it.
    :param decided: the flows that this event has led to a decision about: none of them gives way as well.
    """
    need, choice = choose_path(world, flow, now, kept.paths)
    choice = honoured(flow, choice, now)
    holder = giving_way(world, flow, need, choice, now) if choice.selection.path is None else None
    spared = holder is not None and holder.number in decided
    if holder is not None and not spared:
        instead = f"{holder.path}: in the place of {holder.id}, whose priority is lower"
        choice = choice.taking(str(holder.path), f"{instead}; {choice.selection.reason}")
    sites = compute.sites(flow, need, choice, world.network.topology, world.performance, world.ledger, now)
    path, reason = choice.selection.path, choice.selection.reason
    if path is None:
        reason = reason if choice.selection.records else circuits.without_any(world, flow)
        return Trial(flow, need, choice, sites, None, reason, passing=spared)
    if sites.refused:
        return Trial(flow, need, choice, sites, None, sites.reason, by_site=True)
    apart = _asleep(flow, now) or _apart(world, flow, need, path, kept, sites, now)
    if apart:
        return Trial(flow, need, choice, replace(sites, site=None), None, apart, passing=True)
    reason += f"; {sites.reason}" if sites.reason else ""
    return Trial(flow, need, choice, sites, path, reason, None if spared else holder)


def _asleep(flow: Flow, now: float) -> str:
    """That a flow does not want to start yet; empty if it does."""
    if flow.not_before is None or flow.not_before <= now:
        return ""
    booked = "" if flow.booking is None else f": reserved, {flow.booking.words}"
    return f"it is not to start before {minutes_text(flow.not_before)}{booked}"


def _apart(
    world: World, flow: Flow, need: Need, path: str, kept: Kept, sites: compute.Sites, now: float
) -> str:
    """Why a flow that could go waits all the same; empty if it does not."""
    if sites.site is not None and sites.site in kept.sites:
        return f"{sites.site}: {kept.sites[sites.site]}"
    if under_way(flow, now):
        return ""
    return held_back(world, replace(flow, transfer_size=sites.transfer_size), need, path, now)
