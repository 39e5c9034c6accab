"""Would this flow be admitted now, where, and if not, why?  The one function that says so.

The broker admits by it, the queue tries by it, and previews and explanations ask it.  It changes nothing.
Sources: [ADON] figure 4, algorithm 2; spec sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from adon.broker import circuits, compute, decision_rules
from adon.broker.choice import Choice, Need
from adon.broker.decision_records import choose_path, rivals
from adon.broker.decision_rules import Ruling
from adon.broker.flow import Flow
from adon.broker.optimisation.placement import Placement
from adon.broker.optimisation.plan import UNPLANNED, Arranged, Together, with_plan
from adon.broker.preemption import Rivals
from adon.broker.queueing.refusal import NONE, Kept
from adon.broker.queueing.window_search import honour_booking
from adon.broker.site_comparison import NOTHING_REGARDED, Regarded, along, placement
from adon.broker.world import World
from adon.reasons import Reason
from adon.timestamps import format_minutes


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found.

    :param sites: the compute side, as it is recorded with the decision.
    :param ruled: what is to become of the flow.
    :param regarded: what was looked at of compute sites and of past promises.
    :param asked: whose place it might have taken, where it asked.
    :param nowhere: why there is no path at all, where there is none.
    :param apart: why it waits though it could go, where it does.
    :param plan: the plan for several flows that it is in, if it is in one.
    :param holder: the running flow that would give way to it.
    :param by_site: refused because no compute site can take it, though a path could.
    :param alone: refused for what concerns no other flow: it waits though it could go.
    :param passing: refused for something that does not outlast this event.
    """

    flow: Flow
    need: Need
    choice: Choice
    sites: Placement
    ruled: Ruling
    regarded: Regarded = NOTHING_REGARDED
    asked: Rivals | None = None
    nowhere: str = ""
    apart: Reason | None = None
    plan: Together | None = None
    holder: Flow | None = None
    by_site: bool = False
    alone: bool = False
    passing: bool = False

    @property
    def path(self) -> str | None:
        """Where it would be admitted; None if it is refused."""
        return self.ruled.path

    @property
    def reason(self) -> str:
        """Why there, or why not, in words."""
        return self.ruled.reason.text


def try_flow(
    world: World,
    flow: Flow,
    now: float,
    kept: Kept = NONE,
    decided: Collection[int] = frozenset(),
    *,
    plan: Arranged = UNPLANNED,
) -> Trial:
    """Try a flow that has no path.

    :param kept: what it may not have, because it is kept for somebody before it.
    :param decided: the flows that this event has led to a decision about: none of them gives way as well.
    :param plan: of several flows together, this one maybe among them.
    """
    planned = plan.places.get(flow.number)
    need, first = choose_path(world, flow, now, kept.paths)
    first = honour_booking(flow, first, now)
    asked = rivals(world, flow, need, first, now, decided) if first.selection.path is None else None
    holder = decision_rules.holder_to_go(flow, need, first, asked)
    spared = holder is None and decision_rules.rival(flow, need, first, asked) is not None
    choice = with_plan(decision_rules.in_the_place_of(holder, first), planned)
    seen = compute.gather_sites(world, flow, need, choice, now)
    placed = placement(flow, need, choice, seen, planned, world.functions)
    choice = along(choice, placed)
    path, apart = choice.selection.path, None
    if path is not None and not placed.refused:
        apart = _asleep(flow, now) or _kept_for_others(kept, placed)
    nowhere = "" if choice.selection.records else circuits.without_any(world, flow)
    ruled = decision_rules.rule_admission(choice, placed, nowhere, apart)
    return Trial(
        flow,
        need,
        choice,
        decision_rules.sites_of(ruled, choice, placed),
        ruled,
        seen,
        asked,
        nowhere,
        apart,
        None if planned is None else plan.together,
        None if holder is None or ruled.path is None else world.flows.get(holder.number),
        by_site=path is not None and placed.refused,
        alone=apart is not None,
        passing=apart is not None or (path is None and spared),
    )


def _asleep(flow: Flow, now: float) -> Reason | None:
    """That a flow does not want to start yet; None if it does."""
    if flow.not_before is None or flow.not_before <= now:
        return None
    booked = "" if flow.booking is None else f": reserved, {flow.booking.words}"
    return Reason("not-before", f"it is not to start before {format_minutes(flow.not_before)}{booked}")


def _kept_for_others(kept: Kept, sites: Placement) -> Reason | None:
    """That the site it would take is kept for somebody before it; None if it is not."""
    if sites.site is not None and sites.site in kept.sites:
        return Reason("site-kept", f"{sites.site}: {kept.sites[sites.site]}")
    return None
