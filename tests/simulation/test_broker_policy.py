"""The real decision core in the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.decision import Outcome
from adon.simulation.broker_policy import BARRIER_S, BrokerPolicy, simulated_configuration
from adon.simulation.engine import TransferRecord
from adon.simulation.simulated_network import Outage, SimulatedNetwork
from adon.simulation.synthetic_tests import PeriodicTests
from adon.simulation.workload import Workload
from tests.simulation.small_worlds import network, run, steps, transfer, workload

OFTEN = PeriodicTests(throughput_period=60, throughput_duration=5, rtt_period=60, loss_period=60, noise=0.0)


def world(
    *transfers: Any, over: SimulatedNetwork | None = None, tests: PeriodicTests = OFTEN, end: float = 2000.0
) -> Workload:
    return workload(*transfers, over=over or network(1e9, 5e8), tests=tests, end=end)


def simulate_broker(of: Workload, **settings: Any) -> tuple[BrokerPolicy, list[TransferRecord]]:
    policy = BrokerPolicy(of, policy=settings)
    return policy, run(of, policy, tests=True)


def test_configuration_has_advertised_capacities() -> None:
    found = simulated_configuration(network(1e9, 5e8), {"counters_period": "7 s"})
    assert [(path.layer, path.capacity) for path in found.paths.values()] == [(2, 1e9), (3, 5e8)]
    assert found.policy.counters_period == 7.0


def test_transfer_starts_when_its_rules_are_confirmed() -> None:
    policy, (record,) = simulate_broker(world(transfer(at=100)))
    assert [path for _, path in record.stays] == ["p0"]
    assert record.began == pytest.approx(100 + 2 * BARRIER_S), "delivery rules, then the ingress rules"
    assert record.ended == pytest.approx(101 + 2 * BARRIER_S)
    (admitted,) = policy.saved.decisions
    assert (admitted.outcome, admitted.path) == (Outcome.ADMIT, "p0")


def test_transfer_without_a_qualified_path_waits() -> None:
    """Nothing reaches the bound of 100 Mbps before 300 s; then the next test says so."""
    over = network(steps((0, 5e7), (300, 1e9)), steps((0, 6e7)))
    _, (record,) = simulate_broker(world(transfer(at=100), over=over))
    assert record.began is not None
    assert 300 < record.began < 400
    assert record.violated == 0.0


def test_path_is_left_when_its_port_goes_down() -> None:
    over = network(1e9, 5e8, outages=[Outage(102, 500)])
    _, (record,) = simulate_broker(world(transfer(at=100, megabytes=500), over=over))
    assert [path for _, path in record.stays] == ["p0", "p1"]
    assert record.stalled < 0.1
    assert record.ended == pytest.approx(106, abs=0.2)


def test_silent_failure_is_detected_by_counters() -> None:
    over = network(1e9, 5e8, outages=[Outage(110, 900, visible=False)])
    _, (record,) = simulate_broker(world(transfer(at=100, megabytes=5000), over=over))
    assert [path for _, path in record.stays] == ["p0", "p1"], "and not taken again before it is measured"
    (found_out,) = [at for at, path in record.stays if path == "p1"]
    assert 110 + 15 < found_out < 110 + 35


def test_path_is_left_when_a_test_shows_less() -> None:
    over = network(steps((0, 1e9), (130, 2e7)), 5e8)
    _, (record,) = simulate_broker(world(transfer(at=100, megabytes=20_000), over=over))
    assert [path for _, path in record.stays] == ["p0", "p1"]
    assert record.moves == 1


def test_core_sees_the_counters_of_a_transfer() -> None:
    of = world(transfer(at=100, megabytes=5000), end=120)
    policy, (record,) = simulate_broker(of)
    (flow,) = policy.broker.flows
    assert record.ended is None
    assert flow.bytes_sent == pytest.approx(record.transfer.size * 19 / 40, rel=0.25)
    assert flow.evidence == "packets arrive"


def test_impossible_flow_is_rejected() -> None:
    of = world(transfer(at=100, destination="nowhere"))
    _, (record,) = simulate_broker(of)
    assert "nowhere-dtn" in record.rejected


def test_ended_transfers_leave_no_rules() -> None:
    many = [transfer(n, at=100 + 3.0 * n, megabytes=400) for n in range(1, 41)]
    policy, records = simulate_broker(world(*many))
    assert all(record.ended is not None for record in records)
    assert len(policy.broker.flows) <= 3, "only the last ones' rules are still on their way out"


def test_same_seed_gives_the_same_run() -> None:
    of = world(
        *(transfer(n, at=100 + 2.0 * n, megabytes=700) for n in range(1, 20)), tests=PeriodicTests(noise=0.1)
    )
    one, other = (simulate_broker(of)[1] for _ in range(2))
    assert [(r.ended, r.stays) for r in one] == [(r.ended, r.stays) for r in other]


def test_estimate_rises_when_flows_have_left() -> None:
    """The test at 120 s had a quarter beside three; two of them are over when the fourth asks."""
    asked = [transfer(1, at=70, megabytes=25_000)]
    asked += [transfer(n, at=100, megabytes=2000) for n in (2, 3)]
    of = world(*asked, transfer(4, at=170, megabytes=2000), over=network(1e9))
    policy, records = simulate_broker(of)
    assert all(record.ended is not None and record.ended < 170 for record in records[1:3])
    admitted = next(one for one in policy.saved.decisions if one.flow == "f-4")
    (candidate,) = admitted.candidates
    (throughput,) = [metric for metric in candidate.metrics if metric.metric == "throughput"]
    assert throughput.value == pytest.approx(0.5e9, rel=0.05)
    assert throughput.observed_at == pytest.approx(1_000_000 + 125)
