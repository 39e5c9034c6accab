from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mininet_topos.adon_configuration import DEFAULT_PERIODS, fit_periods_to
from mininet_topos.adon_server import LOG
from mininet_topos.experiments.plan import circuit_of
from mininet_topos.experiments.trial_setup import (
    TestLog,
    TrialSetup,
    needs_adon,
    prepare_trial,
)
from mininet_topos.openvswitch import open_vswitch
from mininet_topos.topology_catalog import load_topology
from tests.mininet_topos.experiments.loopback import Archive, LoopbackTestbed, make_trial
from tests.support.refusals import refused

MU_OSU = load_topology("mu_osu")
PINNED = "[{flow: a, template: soykb, from: mu, to: osu, size: 1 GB, path: al2s}]"
FREE = PINNED.replace(", path: al2s", "")
STOP = "[{event: stop, at: 1 s, controller: stop}]"


def test_tests_that_a_document_does_not_mention_fit_around_those_that_it_does():
    periods = fit_periods_to(MU_OSU, {"throughput": None, "rtt": 4.0, "latency": None})
    assert (periods.throughput, periods.rtt, periods.latency) == (None, 4.0, None)
    periods = fit_periods_to(MU_OSU, {"rtt": 10.0})
    assert periods.rtt == 10.0
    assert periods.throughput is not None
    assert periods.throughput >= (DEFAULT_PERIODS.throughput or 0.0)


def test_tests_that_do_not_fit_are_refused():
    with refused("out-of-range", "measurements.tests.0.throughput_period"):
        fit_periods_to(MU_OSU, dict.fromkeys(("throughput", "rtt", "latency"), 4.0))


@pytest.mark.parametrize(
    ("workload", "events", "policy", "rest", "needed"),
    [
        (FREE, "[]", "ours", "measuring: {throughput: null, rtt: null, latency: null}", True),
        (FREE, "[]", "always al2s", "measuring: {throughput: null, rtt: null, latency: null}", False),
        (FREE, "[]", "always al2s", "measuring: {throughput: null, latency: null}", True),
        (PINNED, "[]", "always al2s", "measuring: {throughput: null, rtt: null, latency: null}", False),
        (PINNED, STOP, "always al2s", "measuring: {throughput: null, rtt: null, latency: null}", True),
    ],
)
def test_trial_needs_adon_for_decisions_and_tests(workload, events, policy, rest, needed):
    assert needs_adon(make_trial(workload, events, policy, rest=rest)) == needed


def test_results_are_those_that_arrived_last():
    archive = Archive()
    archive.add("al2s", 100.0, 5e6)
    log = TestLog(archive, 0.0)  # type: ignore[arg-type]
    log.read()
    archive.add("al2s", 200.0, 3e6)
    log.read()
    log.read()
    assert [one.value for one in log.found] == [5e6, 3e6]
    assert log.last_throughput("al2s") == 3e6
    assert log.last_throughput("internet") == float("inf")


def test_paths_are_tested_when_the_last_has_a_test_that_started_later():
    archive: Any = Archive()
    for path, started in (("al2s", 100.0), ("internet", 90.0), ("internet", 120.0), ("internet", 130.0)):
        archive.add(path, started)
    log = TestLog(archive, 0.0)
    log.read()
    assert log.tested_at(95.0, ["al2s", "internet"]) == pytest.approx(120.1)
    assert log.tested_at(110.0, ["al2s", "internet"]) is None


def test_path_stands_for_its_narrowest_circuit():
    assert circuit_of(MU_OSU, "internet") == "routed"
    assert circuit_of(MU_OSU, "line") == "line"


def test_flow_that_lasts_a_time_requests_what_it_can_send_in_it():
    lasting = "[{flow: a, template: soykb, from: mu, to: osu, lasts: 10 s, rate: 800 Mbps}]"
    (flow,) = make_trial(lasting).flows
    assert flow.requested == 10_000_000


@pytest.mark.integration
def test_rules_are_restored_when_a_trial_has_ended(tmp_path):
    trial = make_trial(PINNED)
    with open_vswitch(tmp_path / "ovs", dummy=True) as switches:
        for edge in ("mu-edge", "osu-edge"):
            switches.vsctl(
                "add-br", edge, "--", "set", "bridge", edge, "protocols=OpenFlow13", "datapath_type=dummy"
            )
            switches.ofctl("add-flow", edge, "cookie=0x7,priority=5,ip,actions=NORMAL")
        before = switches.ofctl("--no-stats", "dump-flows", "mu-edge")
        testbed: Any = SimpleNamespace(
            topo=MU_OSU, folder=tmp_path, switches=switches, restore_links=lambda: None
        )
        with prepare_trial(testbed, None, trial, print):
            switches.ofctl("add-flow", "mu-edge", "cookie=0xad00000000000001,table=2,tcp,actions=drop")
            switches.ofctl("del-flows", "mu-edge", "cookie=0x7/-1")
            assert switches.ofctl("--no-stats", "dump-flows", "mu-edge") != before
        assert switches.ofctl("--no-stats", "dump-flows", "mu-edge") == before


class Server:
    """Stands in for ``adon serve``: a log and what it was told."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls, self.process = folder, list[str](), object()
        self.die("controller")

    def die(self, part: str) -> None:
        with (self.folder / LOG).open("a") as log:
            log.write(f"event=died part={part} status=-9 again_in_s=1\n")

    def require_running(self) -> None:
        self.calls.append("look")

    def start(self) -> None:
        self.calls.append("start")

    def wait_ready(self) -> None:
        self.process = object()
        self.die("controller")

    def stop(self) -> None:
        self.process = None

    kill = stop


@pytest.fixture
def setup(tmp_path) -> TrialSetup:
    testbed: Any = LoopbackTestbed()
    server: Any = Server(tmp_path)
    return TrialSetup(testbed, testbed.topo, make_trial(PINNED), TestLog(None, 0.0), server)


def test_part_that_ends_after_adon_was_ready_ends_the_trial(setup):
    setup.check_health()
    setup.server.die("collector")
    with refused("not-running") as found:
        setup.check_health()
    assert "part=collector" in str(found.error)


@pytest.mark.parametrize("what", ["stop", "kill"])
def test_adon_that_an_event_ended_is_no_fault_until_it_runs_again(setup, what):
    setup.control(what)
    assert setup.is_down
    setup.check_health()
    assert setup.server.calls == []
    setup.control("start")
    setup.check_health()
    assert setup.server.calls == ["start", "look"]
