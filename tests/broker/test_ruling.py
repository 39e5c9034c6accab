"""Rules that decisions and their recomputation share."""

from __future__ import annotations

import pytest

from adon.broker.choice import Choice, Need
from adon.broker.preemption import Holder, Rivals
from adon.broker.ruling import holder_to_go
from adon.broker.triggers.record import Triggered
from adon.flowvisor.selection import Selection
from tests.broker.test_preemption import record
from tests.store.values import a_flow, a_request, a_template

QSPEC = {"throughput": {"min": "7 Mbps"}}


@pytest.mark.parametrize(
    ("asked", "turned", "goes"),
    [
        (None, 0, False),  # 500, the template's: equal is not lower
        (501, 0, True),
        (None, 1, True),  # triggers turned it up
        (501, -1, False),
        (0, -500, False),  # below 0 there is nothing
    ],
)
def test_a_newcomer_has_the_priority_that_triggers_made_of_it(
    asked: int | None, turned: int, goes: bool
) -> None:
    template = a_template(qspec=QSPEC, priority=500)
    flow = a_flow(2, request=a_request(priority=asked), triggered=Triggered(priority=turned))
    holder = Holder(1, 500, "al2s", 6e6)
    rivals = Rivals(None, (holder,), {"al2s": 58e6})
    choice = Choice(Selection(None, (record(),), "full"), {}, {})
    found = holder_to_go(flow, Need.of(template, flow.request), choice, rivals)
    assert found == (holder if goes else None)
