from __future__ import annotations

import pytest
import yaml

from adon.config import Configuration
from adon.yamlfile import parse_model
from mininet_topos.adon_configuration import MeasurementPeriods, configuration_text, fit_periods_to
from mininet_topos.topologies.choreo_tree import ChoreoTree
from mininet_topos.topologies.five_sites import FiveSites
from mininet_topos.topologies.mu_osu import MuOsu
from mininet_topos.topologies.two_campuses import TwoCampuses
from mininet_topos.topologies.two_ports import TwoPorts
from tests.mininet_topos.topologies.declarations import pair, topo_of
from tests.support.refusals import refused


@pytest.mark.parametrize("cls", [ChoreoTree, FiveSites, MuOsu, TwoCampuses, TwoPorts])
def test_adon_accepts_the_configuration_of_each_topology(cls):
    topo = cls()
    found = parse_model(configuration_text(topo, name="net", periods=fit_periods_to(topo)), Configuration)
    assert set(found.sites) == set(topo.campuses)
    assert {name: path.vlan for name, path in found.paths.items()} == {
        name: path.vlan for name, path in topo.paths.items()
    }


def test_configuration_of_mu_osu():
    found = yaml.safe_load(configuration_text(MuOsu(), extra={"policy": {"dry_run": True}}))
    assert found["switches"] == {
        "mu-edge": {"dpid": "0000000000000a01"},
        "osu-edge": {"dpid": "0000000000000a02"},
    }
    assert found["paths"]["internet"]["ends"] == {
        "mu": {"port": "mu-edge-rtr", "next_hop_mac": "02:00:00:00:0a:01"},
        "osu": {"port": "osu-edge-rtr", "next_hop_mac": "02:00:00:00:0b:01"},
    }
    assert found["measurements"]["points"]["mu"]["node"] == "172.31.0.11:4443"
    assert found["policy"] == {"dry_run": True}


def test_tests_that_are_left_out_have_no_period():
    periods = MeasurementPeriods(throughput=None, latency=None)
    tests = yaml.safe_load(configuration_text(MuOsu(), periods=periods))["measurements"]["tests"]
    assert [(test["path"], test["from"]) for test in tests] == [
        ("al2s", "mu"),
        ("al2s", "osu"),
        ("internet", "mu"),
        ("internet", "osu"),
    ]
    assert all({"rtt_period"} == {key for key in test if key.endswith("_period")} for test in tests)


def test_without_measurement_points_nothing_is_measured():
    text = configuration_text(MuOsu(), measured=False)
    assert "measurements" not in yaml.safe_load(text)
    assert parse_model(text, Configuration).paths.keys() == MuOsu().paths.keys()


def test_circuits_that_paths_share_are_named():
    def more(topo):
        topo.transit_path("second", 2, ["one", "tr1", "tr2", "two"])

    found = yaml.safe_load(configuration_text(topo_of(pair(more=more))))
    assert {name: path.get("links", []) for name, path in found["paths"].items()} == {
        "second": ["line"],
        "al2s": ["line"],
        "internet": [],
    }


def test_throughput_is_measured_from_where_a_path_begins():
    tests = yaml.safe_load(configuration_text(MuOsu()))["measurements"]["tests"]
    assert [(test["path"], test["from"]) for test in tests if "throughput_period" in test] == [
        ("al2s", "mu"),
        ("internet", "mu"),
    ]


def test_a_round_is_the_shortest_in_which_all_tests_fit():
    topo = TwoCampuses()
    assert fit_periods_to(topo).throughput == 35.0
    with refused("invalid-input"):
        fit_periods_to(topo, {"throughput_duration": 2000.0})
