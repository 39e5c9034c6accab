"""What is done about an alarm: flows on the path are decided on again at once, and the path is measured.

Which alarm is acted on and what it waives is worked out in :mod:`adon.broker.alarms`; here it is applied to
the flows.  An alarm concerns the flows that are on that path in that direction *and* look at that metric;
each of them gets one decision, moved or not, so that it can be read why an alarm left a flow where it was.
Issue: alarms are events to the broker; spec sections 2 and 5b.
"""

from __future__ import annotations

from adon.broker.alarms import words
from adon.broker.effects import Announce, Effect, RequestMeasurement
from adon.broker.events import AlarmCleared, AlarmRaised
from adon.broker.flow_placement import Placing
from adon.broker.world import World
from measurement.anomaly.alarm import Alarm, Kind
from measurement.model import Metric


def handle_alarm(world: World, placing: Placing, event: AlarmRaised) -> list[Effect]:
    """Take an alarm in, and act on it if its time has come."""
    alarm = event.alarm
    if not _about_a_path(world, alarm):
        return []
    world.alarms.note(alarm)
    if _our_own_doing(world, alarm) or not world.alarms.act_on(alarm, event.at):
        return []
    key, metric = alarm.series.key, Metric(alarm.series.metric)
    world.performance.supersede(key, metric, world.alarms.find_change(alarm.series))
    effects: list[Effect] = [Announce(event.id, "warning", "alarm-raised", words(alarm))]
    for flow in world.flows.going((key.source, key.destination)):
        if flow.path == key.path and metric in world.flows.need(flow).metrics:
            effects += placing.reexamine(flow, event, alarm=alarm)
    effects += placing.serve_queue(event)
    return [*effects, *_measure(world, alarm, event)]


def handle_alarm_cleared(world: World, placing: Placing, event: AlarmCleared) -> list[Effect]:
    """An alarm is over: who waits is tried again, who moved away may find the path better again."""
    alarm = event.alarm
    if not world.alarms.clear(alarm):
        return []
    key, metric = alarm.series.key, Metric(alarm.series.metric)
    world.performance.supersede(key, metric, world.alarms.find_change(alarm.series))
    effects: list[Effect] = [Announce(event.id, "info", "alarm-cleared", f"{words(alarm)} is cleared")]
    for flow in world.flows.going((key.source, key.destination)):
        effects += placing.reexamine(flow, event)
    return [*effects, *placing.serve_queue(event)]


def _about_a_path(world: World, alarm: Alarm) -> bool:
    """Whether it is about one of the network's metrics, on a path of ours and in a direction it has."""
    ends = world.network.topology.ends_of(alarm.series.path)
    return (
        alarm.series.metric in set(Metric)
        and frozenset((alarm.series.source, alarm.series.destination)) == ends
    )


def _our_own_doing(world: World, alarm: Alarm) -> bool:
    """Whether throughput results are missing because we asked for quiet on that path."""
    loads = alarm.series.metric == Metric.THROUGHPUT
    return loads and alarm.kind is Kind.ABSENCE and alarm.series.path in world.quiet


def _measure(world: World, alarm: Alarm, event: AlarmRaised) -> list[Effect]:
    """Ask for one more value: it confirms what the alarm says, or takes it back."""
    key, metric = alarm.series.key, Metric(alarm.series.metric)
    if metric is Metric.THROUGHPUT and key.path in world.quiet:
        return []
    return [RequestMeasurement(event.id, key, metric, f"alarm {alarm.id}")]
