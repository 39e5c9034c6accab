"""From a request to a flow that may be tried: checked, and what it asks for in advance reserved.

The broker takes a request by it, and a preview looks at one by it.  Nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.events import FlowSubmitted
from adon.broker.flow import Flow
from adon.broker.intake import new_flow
from adon.broker.queueing import claims
from adon.broker.queueing.window_search import reserve_window
from adon.broker.world import World


def asked_for(world: World, number: int, asked: FlowSubmitted, others: Iterable[Flow]) -> Flow:
    """The flow of a request; what it reserves takes nothing from who has waited long.

    :param number: its number.
    :param others: the flows that it must differ from.
    :raises AdonError: as :func:`~adon.broker.intake.new_flow` and
        :func:`~adon.broker.queueing.window_search.reserve_window`.
    """
    flow = new_flow(number, asked, world.catalog, world.network.topology, others)
    if flow.not_before is None:
        return flow
    try:
        return reserve_window(world, flow, asked.at, claims.kept_from_flow(world, flow, asked.at).paths)
    finally:
        # A refused request gives its number to the next one, which may need something else.
        world.flows.forget(number)
