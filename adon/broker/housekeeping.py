"""What is due by the clock: patience, hold-offs, polls, the next wake.

Also which paths are to carry no load-generating test, which is asked after every event.  Reads no clock:
the time is that of the event.  Sources: spec section 2 (measurement load), section 4 (patience).
"""

from __future__ import annotations

from adon.broker import maintenance_events, scheduler
from adon.broker.effects import Effect, QuietPaths, ReadCounters, ReadFeatures, ReadRules, WakeAt
from adon.broker.events import Event, Tick
from adon.broker.flow import FlowState
from adon.broker.flow_placement import Placing
from adon.broker.queueing.window_search import announce_lapsed
from adon.broker.resources import reservation_events
from adon.broker.world import World
from adon.units import format_duration


class Housekeeping:
    """See the module's text.

    :param world: what the broker holds; shunned and quiet paths are changed here.
    :param placing: ends flows whose patience is over, looks again when a path may be used again.
    """

    def __init__(self, world: World, placing: Placing) -> None:
        self._world = world
        self._placing = placing
        self._polled_at = 0.0
        self._compared_at = 0.0
        self._ticked_at: float | None = None
        self._announced_wake: float | None = None

    def tick(self, event: Tick) -> list[Effect]:
        """Do what is due."""
        world, placing = self._world, self._placing
        effects = placing.act(world.network.wake(event.id, event.at), event)
        for flow in world.flows.overdue(event.at):
            waited = format_duration(event.at - scheduler.waiting_since(flow))
            late = flow.deadline is not None and flow.deadline <= event.at
            reason = f"{'its deadline has passed; ' if late else ''}waited {waited}; last: {flow.reason}"
            effects += placing.end(flow, FlowState.EXPIRED, reason, event)[1]
        effects += announce_lapsed(world, event)
        if world.line.advance(event.at):
            effects += placing.serve_queue(event)
        over = [path for path, (until, _) in world.shunned.items() if until <= event.at]
        for path in over:
            del world.shunned[path]
        if world.room.forget_expired(event.at) or over:
            effects += placing.network_changed(event)
        else:
            effects += placing.catch_up(event)
        effects += maintenance_events.handle_window_stages(world, placing, event)
        since = event.at if self._ticked_at is None else self._ticked_at
        self._ticked_at = event.at
        effects += reservation_events.handle_boundaries(world, placing, since, event)
        return [*effects, *self._poll(event)]

    def _poll(self, event: Tick) -> list[Effect]:
        """Compare the switches with what should be; between that, read the flows' counters."""
        connected = sorted(self._world.network.topology.connected)
        if event.at >= self._compared_at + self._world.configuration.policy.consistency_period:
            self._compared_at = self._polled_at = event.at
            asked: list[Effect] = [ReadRules(event.id, dpid) for dpid in connected]
            return [*asked, *(ReadFeatures(event.id, dpid, whole=False) for dpid in connected)]
        if event.at >= self._poll_due():
            self._polled_at = event.at
            return [ReadCounters(event.id, dpid) for dpid in connected]
        return []

    def _poll_due(self) -> float:
        policy = self._world.configuration.policy
        compare_at = self._compared_at + policy.consistency_period
        if not self._world.flows.moving():
            return compare_at
        return min(compare_at, self._polled_at + policy.counters_period)

    def next_wake(self, event: Event) -> list[Effect]:
        """When the next tick is wanted, if that is another time than the one asked for last."""
        world = self._world
        times = [
            self._poll_due(),
            world.network.next_wake(),
            world.links.next_wake(),
            world.flows.next_deadline(),
            world.line.next_change(),
            world.room.next_wake(),
            *(until for until, _ in world.shunned.values()),
            world.windows.next_change(event.at),
            reservation_events.next_change(world, event.at),
            event.at if self._placing.behind else None,
        ]
        wake = min(time for time in times if time is not None)
        if wake == self._announced_wake and not isinstance(event, Tick):
            return []
        self._announced_wake = wake
        return [WakeAt(event.id, wake)]

    def quiet_paths(self, event: Event) -> list[Effect]:
        """Where admitted bounds take too much of a path, or it is in maintenance, no test may load it."""
        share, topology = (
            self._world.configuration.policy.no_test_above_reserved,
            self._world.network.topology,
        )
        quiet = self._world.windows.quiet(topology, event.at)
        if share is not None:
            quiet |= {
                path
                for path, bits in self._world.flows.reserved_bandwidth().items()
                if (capacity := topology.capacity_of(path)) is not None and bits > share * capacity
            }
        if quiet == self._world.quiet:
            return []
        self._world.quiet = quiet
        return [QuietPaths(event.id, quiet)]
