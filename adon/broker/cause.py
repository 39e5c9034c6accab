"""Text of the event that led to a decision.

The text names no user except the requester of a maintenance window, because the requester of any flow can
read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adon.broker import events
from adon.broker.events import Event
from adon.flowvisor.topology.path import dpid_text

_TEXTS: Mapping[type[Event], Callable[[Any], str]] = {
    events.AlarmRaised: lambda event: f"alarm: {event.alarm.text}",
    events.AlarmCleared: lambda event: f"end of the alarm: {event.alarm.text}",
    events.MeasurementArrived: lambda event: (
        f"{event.measurement.metric} of {event.measurement.key.path} measured "
        f"from {event.measurement.key.source} to {event.measurement.key.destination}"
    ),
    events.ObservationArrived: lambda event: f"new value of {event.observation.metric}",
    events.FlowSubmitted: lambda _: "request of a flow",
    events.FlowCancelled: lambda event: f"cancellation of f-{event.number}",
    events.TransferReported: lambda event: f"report of f-{event.number}: {event.status}",
    events.TemplateSaved: lambda event: f"new template version {event.template.reference}",
    events.SwitchUp: lambda event: f"connection of switch {dpid_text(event.dpid)}",
    events.SwitchDown: lambda event: f"loss of switch {dpid_text(event.dpid)}",
    events.PortChanged: lambda event: f"change of port {event.name} of switch {dpid_text(event.dpid)}",
    events.RulesReported: lambda event: f"rules of switch {dpid_text(event.dpid)}",
    events.CountersReported: lambda event: f"counters of switch {dpid_text(event.dpid)}",
    events.BatchConfirmed: lambda event: f"confirmed rules of switch {dpid_text(event.dpid)}",
    events.BatchFailed: lambda event: f"refused rules of switch {dpid_text(event.dpid)}",
    events.RuleRemoved: lambda event: f"removed rule of switch {dpid_text(event.dpid)}: {event.reason}",
    events.LldpReceived: lambda event: f"LLDP frame at switch {dpid_text(event.dpid)}",
    events.UnannouncedPackets: lambda _: "first packets of an unregistered flow",
    events.Tick: lambda _: "timer of the controller",
    events.MaintenanceAsked: lambda event: (
        f"maintenance of {event.request.scope} {event.request.name}, requested by {event.requester}"
    ),
    events.MaintenanceCancelled: lambda event: f"end of maintenance by {event.requester}",
    events.ReservationAsked: lambda _: "reservation of resources",
    events.ReservationReleased: lambda _: "release of a reservation",
    events.SiteReported: lambda event: f"report of compute site {event.report.site}",
    events.JobTold: lambda event: f"new state of job j-{event.news.number}",
}


def cause_text(event: Event) -> str:
    """Return what an event was: ``rtt of al2s measured from mu to osu``; empty if it has no text."""
    text = _TEXTS.get(type(event))
    return "" if text is None else text(event)
