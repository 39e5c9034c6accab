"""A past to play again: one path that becomes bad while a transfer is on it, beside one that stays fair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.explain.backtest.past import Past
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from measurement.model import Measurement, PathKey
from tests.support.factories import make_flow, make_measurement, make_request, make_template

START = 1_000_000.0
BAD_FROM, UNTIL = START + 120, START + 900
TEST_S = 1.0


def template(**selection: Any) -> Template:
    """A bulk transfer of one stream that needs 8 Mbps; ``selection`` says how eager it is to move."""
    calm = {"patience": 50, "switch_margin": 100, "min_dwell": "0 s", "max_age": "200 s"}
    return make_template(
        name="bulk",
        qspec={"throughput": {"min": "8 Mbps"}},
        tables={"throughput": {"points": [["1 Mbps", 1], ["60 Mbps", 10]]}},
        selection={**calm, **selection},
        cost=None,
    )


EAGER = template(patience=1)
"""Moves at the first miss."""


def catalog() -> Catalog:
    return Catalog().add(template())[0]


def request(**fields: Any) -> FlowRequest:
    return make_request(**{"size": "600 MB", "template": "bulk", "ports": [5001], **fields})


def then(number: int = 1, after: float = 2.0, **fields: Any) -> Flow:
    """A flow as the store has it: asked for so many seconds after the start, finished long ago."""
    asked = {name: fields.pop(name) for name in list(fields) if name in FlowRequest.model_fields}
    given = {
        "number": number,
        "request": request(**{"ports": [5000 + number], **asked}),
        "template": "bulk@1",
        "submitted_at": START + after,
        "state": FlowState.FINISHED,
        "ended_at": START + 500,
        "path": "al2s",
        "path_since": START + after,
    }
    return make_flow(**{**given, **fields})


def result(path: str, at: float, mbps: float, streams: int = 1) -> Measurement:
    key, said = PathKey(path, "mu", "osu"), {"streams": streams}
    return make_measurement(
        key=key, value=mbps * 1e6, observed_at=at, lasted=TEST_S, source=f"{path}-{at:g}", parameters=said
    )


def results(every: float = 60.0) -> tuple[Measurement, ...]:
    """al2s gives 30 Mbps until it is bad and 5 from then on, the internet path 20 all the time."""
    times = [START + number * every for number in range(int((UNTIL - START) / every) + 1)]
    good = [result("al2s", at, 30.0 if at < BAD_FROM else 5.0) for at in times]
    fair = [result("internet", at + 3, 20.0) for at in times]
    return tuple(sorted((*good, *fair), key=lambda one: one.observed_at))


def past(*flows: Flow, **changes: Any) -> Past:
    return replace(Past(START, UNTIL, flows or (then(),), results()), **changes)
