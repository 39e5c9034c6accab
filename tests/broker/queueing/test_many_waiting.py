"""A hundred thousand flows wait: the broker still takes requests, results and cancellations.

No time is asserted; each step's is in the log (``pytest --log-cli-level=WARNING``).
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adon.broker.events import SnapshotAsked
from adon.broker.flow import Flow, FlowState
from tests.broker.queueing.scenes import why
from tests.support.factories import make_flow, make_request
from tests.support.stage import know, make_stage

pytestmark = pytest.mark.integration

log = logging.getLogger(__name__)

MANY = 100_000
PORTS = 50_000
MOST_BYTES_PER_FLOW = 20_000
"""Of memory, for a flow that waits, its request included (and what this stage keeps of it)."""


def waiting(number: int, reference: str, now: float) -> Flow:
    """Either way between the two sites, each with a port of its own, of a hundred priorities."""
    ends = ("mu-dtn", "osu-dtn") if number <= PORTS else ("osu-dtn", "mu-dtn")
    request = make_request(
        source=ends[0],
        destination=ends[1],
        size=f"{10**9 + number} B",
        ports=[10_000 + number % PORTS],
        priority=number % 100,
        queue_patience="100 d",
    )
    return make_flow(
        number=number,
        request=request,
        requester="ann" if number % 3 else "bob",
        template=reference,
        submitted_at=now - 1 / number,
        state=FlowState.QUEUED,
        state_since=now - 1 / number,
        transfer_size=request.size,
    )


@contextmanager
def timed(what: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    log.warning("%s: %.0f ms", what, (time.perf_counter() - begun) * 1000)


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_hundred_thousand_flows_wait_and_the_core_is_of_use() -> None:
    stage = make_stage(al2s=1.0, internet=1.0)
    reference = stage.catalog.get("soykb").reference
    before = resident()
    stage.saved.flows = {number: waiting(number, reference, stage.now) for number in range(1, MANY + 1)}
    with timed("restart"):
        stage.restart()
        know(stage, al2s=1.0, internet=1.0)
    taken = resident() - before
    log.warning("memory: %.0f B per flow", taken / MANY)
    assert taken / MANY < MOST_BYTES_PER_FLOW
    assert len(stage.queue_order()) == MANY

    with timed("submit"):
        urgent = stage.submit(priority=999, ports=[5001])
    assert (urgent.state, stage.queue_order()[0]) == (FlowState.QUEUED, urgent.number)
    with timed("cancel"):
        stage.cancel(stage.saved.flows[MANY // 2])
    assert len(stage.queue_order()) == MANY
    assert MANY // 2 not in stage.queue_order()
    stage.pass_time(10)
    with timed("a result that lets nobody in"):
        know(stage, al2s=2.0)
    assert not [flow for flow in stage.saved.flows.values() if flow.path is not None]
    with timed("what one waits for"):
        assert why(stage, urgent)["id"] == urgent.id
    with timed("read-out"):
        stage.command(SnapshotAsked)
    stage.pass_time(10)
    with timed("a result that lets some in"):
        know(stage, al2s=58.0)
    assert stage.flow(urgent).path == "al2s"
    begun = Counter(
        int(flow.request.priority or 0) for flow in stage.saved.flows.values() if flow.path is not None
    )
    assert sum(begun.values()) > 1
    assert min(begun) >= 98, "the first in line were let in"
    with timed("the end of one that runs"):
        stage.cancel(urgent)
    stage.pass_time(5)
    assert not stage.rules_of(urgent)
