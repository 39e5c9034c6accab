"""What follows when a switch says what it can do: its limits, queues, meters and groups, and what it lacks.

Sources: R8, R9, R12; OpenFlow 1.3.5, 7.3.5 and 7.3.6.
"""

from __future__ import annotations

from dataclasses import replace

from adon.broker.effects import Announce, Effect
from adon.broker.events import FeaturesReported
from adon.broker.flow_placement import Placing
from adon.broker.world import World
from adon.flowvisor.rules.pipeline import pipelines_of
from adon.flowvisor.topology.path import dpid_text


def handle_features(world: World, placing: Placing, event: FeaturesReported) -> list[Effect]:
    """Take what a switch said; new flows are placed by it from now on."""
    dpid, network, abilities = event.dpid, world.network, world.abilities
    pipeline, unfit = pipelines_of(network.topology.configuration)[dpid], abilities.unfit.get(dpid, ())
    news = abilities.take(dpid, event.features, pipeline, network.desired_rules(dpid), whole=event.whole)
    world.means[dpid] = abilities.means(dpid)
    maximum = abilities.maximum(dpid, pipeline)
    if maximum is not None:
        world.room.maximum[dpid] = maximum
    effects: list[Effect] = [
        Announce(event.id, "warning", "switch-limited", f"switch {dpid_text(dpid)} lacks features: {reason}")
        for reason in news
    ]
    groupless = abilities.groupless()
    changed = groupless != network.topology.groupless or abilities.unfit[dpid] != unfit
    network.topology = replace(network.topology, groupless=groupless)
    if not changed or dpid not in network.topology.connected:
        return effects  # when it counts as connected, everything is looked at anyway
    return [*effects, *placing.network_changed(event)]
