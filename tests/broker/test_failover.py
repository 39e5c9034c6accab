"""From the failure to the last move confirmed."""

from __future__ import annotations

import pytest

from adon.broker.failover import Failovers
from adon.broker.flow import FlowState
from adon.flowvisor.topology.network_graph import PortState
from tests.support.stage import MU_EDGE, know, make_stage


def test_a_failure_lasts_until_its_last_flow_has_moved() -> None:
    failovers = Failovers()
    for flow in (1, 2, 3):
        failovers.moving(flow, "e1", 100.0)
    failovers.moving(4, "e2", 100.5)
    failovers.record_move(1, 100.1)
    failovers.record_move(2, 100.3)
    assert failovers.reading()["open"] == 2
    failovers.left_out(3)
    failovers.record_move(9, 100.4)  # not moved for a failure
    assert (failovers.reading()["open"], failovers.reading()["seconds"]) == (1, pytest.approx(0.3))
    failovers.moving(4, "e3", 101.0)  # its new path failed too
    failovers.record_move(4, 101.02)
    found = failovers.reading()
    assert (found["open"], found["seconds"]) == (0, pytest.approx(0.32))
    assert dict(map(tuple, found["buckets"]))["0.025"] == 1  # type: ignore[call-overload]
    assert dict(map(tuple, found["buckets"]))["+Inf"] == 2  # type: ignore[call-overload]


def test_a_port_that_goes_down_is_a_failure_and_a_measurement_is_none() -> None:
    stage = make_stage()
    flows = [stage.submit(qspec={"throughput": {"min": "1 Mbps"}}) for _ in range(2)]
    know(stage, internet=20.0)
    stage.silence(MU_EDGE)
    stage.change_port(MU_EDGE, "mu-edge-al2s", PortState(2, live=False))
    moved = [stage.flow(flow).path for flow in flows]
    assert "internet" in moved
    assert stage.snapshot()["failover"]["open"] == 1
    stage.now += 0.2
    stage.answer_late()
    assert all(stage.flow(flow).state is FlowState.ACTIVE for flow in flows)
    found = stage.snapshot()["failover"]
    assert (found["open"], found["seconds"]) == (0, pytest.approx(0.2))
