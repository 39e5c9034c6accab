from __future__ import annotations

from pathlib import Path

import pytest

import adon.config
from apps.collector import orders
from measurement.point.specs import parse_spec
from measurement.scheduling import Execution, overlaps
from mininet_topos.demo.stage import ROUND_TRIPS
from mininet_topos.mu_osu import CAMPUSES, MuOsu
from mininet_topos.network_config import DEFAULT_SCHEDULE, Schedule, network_config

PEM = Path("/somewhere/point.pem")
PEMS = {"mu": PEM, "osu": PEM}
CONTROLLER = (Path("/somewhere/controller.pem"), Path("/somewhere/controller.key"))


def load(tmp_path: Path, text: str) -> adon.config.Configuration:
    path = tmp_path / "network.yaml"
    path.write_text(text)
    return adon.config.load(path)


def test_the_configuration_is_accepted_and_names_ports_that_exist(tmp_path):
    topology = MuOsu().topology()
    configuration = load(
        tmp_path, network_config(MuOsu(), PEMS, CONTROLLER, openflow_port=7001, web_port=7002)
    )
    ports = {end.name for campus in CAMPUSES for end in topology.interfaces(campus.edge)}
    used = {end.port for path in configuration.paths.values() for end in path.ends.values()}
    used |= {host.port for site in configuration.sites.values() for host in site.hosts.values()}
    assert used == ports
    assert (configuration.controller.openflow_port, configuration.controller.web_port) == (7001, 7002)
    assert {s.dpid for s in configuration.switches.values()} == {
        switch.dpid for switch in topology.switches if switch.controlled
    }


def test_its_addresses_are_the_hosts_own(tmp_path):
    configuration = load(tmp_path, network_config(MuOsu(), PEMS, CONTROLLER))
    topology = MuOsu().topology()
    held = {a.ip for link in topology.links for end in link.ends for a in end.addresses}
    tested = {a for test in configuration.measurements.tests for a in (test.source, test.destination)}
    assert len(configuration.measurements.tests) == 4
    assert tested < held
    assert {p.verify for p in configuration.measurements.points.values()} == {str(PEM)}
    assert {p.client_certificate for p in configuration.measurements.points.values()} == {str(CONTROLLER[0])}
    assert configuration.measurements.points["mu"].url == "https://172.31.0.11:4443/pscheduler"


def test_capacity_follows_the_scale(tmp_path):
    configuration = load(tmp_path, network_config(MuOsu(50), PEMS, CONTROLLER))
    assert configuration.paths["al2s"].capacity == pytest.approx(MuOsu(50).overlay.rate, rel=1e-5)


def test_a_test_left_out_is_not_in_the_file(tmp_path):
    schedule = Schedule(throughput_period=None)
    configuration = load(tmp_path, network_config(MuOsu(), PEMS, CONTROLLER, schedule=schedule))
    assert {test.throughput_period for test in configuration.measurements.tests} == {None}


@pytest.mark.parametrize("schedule", [DEFAULT_SCHEDULE, ROUND_TRIPS], ids=["story", "alarm"])
def test_the_demo_s_plans_provably_fit_and_no_two_conflicting_tests_meet(tmp_path, schedule):
    text = network_config(MuOsu(), PEMS, CONTROLLER, schedule=schedule)
    plan = orders.plan(load(tmp_path, text)).schedule
    planned = [
        Execution(job.task, job.number, *(t / 1000 for t in (job.start, job.start, job.finish)), "planned")
        for job in plan.jobs
    ]
    assert overlaps(planned, plan.tasks.values()) == []
    assert {task.period for task in plan.tasks.values()} == {schedule.rtt_period}
    assert len(plan.jobs) == len(plan.tasks)  # a round holds each test once


def test_a_slot_is_as_long_as_the_point_s_own(tmp_path):
    """A point keeps two tests apart by its own slots: a plan with shorter ones would not be carried out."""
    configuration = load(tmp_path, network_config(MuOsu(), PEMS, CONTROLLER))
    plan = orders.plan(configuration)
    for name, test in plan.tests.items():
        request = test.request
        theirs = parse_spec(request.kind, dict(request.spec)).lasts
        assert plan.schedule.tasks[name].duration >= theirs, name


def test_a_plan_of_one_direction(tmp_path):
    text = network_config(MuOsu(), PEMS, CONTROLLER, schedule=Schedule(both_ways=False))
    assert {test.from_ for test in load(tmp_path, text).measurements.tests} == {"mu"}


def test_further_sections_are_taken_as_they_are(tmp_path):
    compute = {"mu-hpc": {"site": "mu", "worker_nodes": 4, "throughput_per_node": "8 Mbps"}}
    configuration = load(tmp_path, network_config(MuOsu(), PEMS, CONTROLLER, extra={"compute": compute}))
    assert configuration.compute["mu-hpc"].worker_nodes == 4
