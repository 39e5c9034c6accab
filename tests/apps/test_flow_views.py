"""Documents of flows: what a flow has reserved, and what the queue ladder gives it."""

from __future__ import annotations

from dataclasses import asdict

from adon.api.flows import FlowView
from adon.broker.queueing.booking import Booking
from adon.flowvisor.rules.queue_ladder import GrantRecord
from apps.rest.flow_views import to_flow_view
from tests.support.factories import make_flow

GRANTED = GrantRecord("mu-edge-al2s", 0.6, 2e6, 1e6, 0.5e6, 1.5e6, "queue", "its rung has a queue", 11)


def test_document_of_a_flow_shows_its_booking_and_what_it_is_granted() -> None:
    shown = to_flow_view(make_flow(granted=GRANTED, booking=Booking("al2s", 2e6, 60.0, 120.0)))
    body = shown.body()
    assert body["granted"] == asdict(GRANTED)
    assert [*body["granted"]] == [*asdict(GRANTED)]
    assert body["booking"] == {
        "path": "al2s",
        "rate_bps": 2e6,
        "begins": "1970-01-01T00:01:00.000Z",
        "ends": "1970-01-01T00:02:00.000Z",
    }
    assert FlowView.model_validate(body) == shown


def test_document_of_a_flow_without_either_shows_null() -> None:
    body = to_flow_view(make_flow()).body()
    assert (body["granted"], body["booking"]) == (None, None)
