from __future__ import annotations

import pytest

from adon.errors import Unavailable
from mininet_topos import old_testbed as testbed
from mininet_topos.demo.scenario import CONTENDING_STREAMS
from mininet_topos.networks import named
from tests.mininet_topos.experiments import IDLE_MBPS

EXPERIMENTS = "tests.mininet_topos.experiments"


def test_it_is_never_built_in_the_machines_own_network(tmp_path):
    with (
        pytest.raises(Unavailable, match="run_isolated"),
        testbed.testbed(named("mu_osu").topology, tmp_path, 6653),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.testbed
def test_the_campus_forwards_by_itself_and_nothing_leaks_onto_the_overlay(in_testbed):
    found = in_testbed(f"{EXPERIMENTS}:campus_rules_only")
    assert " 0% packet loss" in found["ping"]
    assert "10.1.0.1 " in found["trace"]
    assert "203.0.113.2 " in found["trace"]
    assert "cookie=0x0" in found["rules"]
    assert "priority=0 actions=NORMAL" in found["rules"]
    assert (found["transit_packets"], found["leaked"]) == (0, 0)
    assert "rate 60803Kbit" in found["rates"]
    assert "HTB" in found["emulated_by"]


@pytest.mark.testbed
def test_each_path_gives_one_stream_what_the_paper_measured(in_testbed):
    """Both directions.  The counters show which way the packets went.

    A machine that others use, too, may carry less, however often it is measured; how near the paper's rates
    an idle one comes is figure 18's business.
    """
    found = in_testbed(f"{EXPERIMENTS}:idle_rates")
    for path, rate in IDLE_MBPS.items():
        assert all(0.7 * rate < reached < 1.15 * rate for reached in found[path]), found
    assert found["transit packets after internet"] == 0
    assert found["transit packets after al2s"] > 10_000


@pytest.mark.testbed
def test_a_test_shares_the_overlay_with_the_transfers_on_it(in_testbed):
    """[ADON] 5.2: beside Neuroblastoma 600 Mbps (6 here) are missed by 5 %, beside one stream met."""
    found = in_testbed(f"{EXPERIMENTS}:beside_transfers")
    assert found[str(CONTENDING_STREAMS)]["test"] < 5.7
    assert found["1"]["test"] > 10
    for transfer in found.values():
        received = transfer["received"]
        assert received["event"] == "received"
        assert received["bytes"] == sum(received["per_second"]) == transfer["size"]
        assert transfer["sent"]["bytes"] == transfer["size"]


@pytest.mark.testbed
def test_measurement_points_answer_and_cross_traffic_arrives(in_testbed):
    found = in_testbed(f"{EXPERIMENTS}:points_and_cross_traffic")
    assert found == {"answers": {"mu": 200, "osu": 200}, "arrived": True}
