from __future__ import annotations

from pathlib import Path

import pytest

import adon.config
from adon.errors import InvalidInput
from adon.measurement_plan import plan_measurements
from measurement.point.specs import parse_spec
from measurement.scheduling import Execution, overlaps
from mininet_topos.demo.stage import ROUND_TRIPS
from mininet_topos.networks import Network, named, names
from mininet_topos.networks.configuration import DEFAULT_SCHEDULE, Schedule, configuration, fitting
from mininet_topos.old_platforms.bed import PointContact
from mininet_topos.topologies.campus_topo import CampusTopo
from tests.mininet_topos.topologies.declarations import network_of

PEM = Path("/somewhere/point.pem")
CONTROLLER = Path("/somewhere/controller.token")
MU_OSU = named("mu_osu")


def star(topo: CampusTopo) -> None:
    """Three campuses around one router, and an overlay between two of them."""
    for campus in ("one", "two", "three"):
        topo.campus(campus)
    topo.provider_switch("hub")
    topo.router("core")
    topo.circuit("one-hub", "one-edge", "hub", rate=80, port_names=("hub", "one"))
    topo.circuit("two-hub", "two-edge", "hub", rate=60, port_names=("hub", "two"))
    topo.circuit("one-core", "one-rtr", "core", rate=20)
    topo.circuit("two-core", "two-rtr", "core", rate=10)
    topo.circuit("thr-core", "three-rtr", "core", rate=30)
    topo.transit_path("overlay", 2, ["one", "hub", "two"])
    topo.transit_path("one-two", 3, ["one", "core", "two"])
    topo.transit_path("one-three", 3, ["one", "core", "three"])
    topo.transit_path("two-three", 3, ["two", "core", "three"], measured=False)


def text_of(network: Network, **options) -> str:
    contacts = {
        site.measuring.host: PointContact(f"https://{site.name}/pscheduler", f"{site.name}:4443", PEM)
        for site in network.sites
    }
    return configuration(network, contacts, CONTROLLER, **options)


def load(tmp_path: Path, text: str) -> adon.config.Configuration:
    path = tmp_path / "network.yaml"
    path.write_text(text)
    return adon.config.load(path)


@pytest.mark.parametrize("name", names())
def test_adon_accepts_that_of_every_built_in_network_and_its_tests_provably_fit(tmp_path, name):
    network = named(name)
    read = load(tmp_path, text_of(network, schedule=fitting(network)))
    plan = plan_measurements(read).schedule
    assert len(plan.jobs) == len(plan.tasks) > 0
    assert set(read.paths) == {path.name for path in network.paths}
    ports = {end.name for site in network.sites for end in network.topology.interfaces(site.edge)}
    used = {end.port for path in read.paths.values() for end in path.ends.values()}
    used |= {host.port for site in read.sites.values() for host in site.hosts.values()}
    assert used <= ports
    assert {s.dpid for s in read.switches.values()} == {
        switch.dpid for switch in network.topology.switches if switch.controlled
    }
    held = {a.ip for link in network.topology.links for end in link.ends for a in end.addresses}
    tested = {a for test in read.measurements.tests for a in (test.source, test.destination)}
    assert tested < held
    hosts = {host for site in read.sites.values() for host in site.hosts}
    assert hosts == {dtn.host for dtn in network.dtns}


def test_points_and_ports_are_taken_as_they_are_said(tmp_path):
    read = load(tmp_path, text_of(MU_OSU, openflow_port=7001, web_port=7002))
    assert (read.controller.openflow_port, read.controller.web_port) == (7001, 7002)
    point = read.measurements.points["mu"]
    assert (point.url, point.node) == ("https://mu/pscheduler", "mu:4443")
    assert (point.verify, point.token_file) == (str(PEM), str(CONTROLLER))


def test_capacity_follows_the_scale(tmp_path):
    read = load(tmp_path, text_of(named("mu_osu", 50)))
    assert read.paths["al2s"].capacity == pytest.approx(named("mu_osu", 50).path("al2s").capacity, rel=1e-5)


def test_a_test_left_out_is_not_in_the_file(tmp_path):
    read = load(tmp_path, text_of(MU_OSU, schedule=Schedule(throughput_period=None)))
    assert {test.throughput_period for test in read.measurements.tests} == {None}


def test_throughput_is_measured_from_where_a_path_begins(tmp_path):
    read = load(tmp_path, text_of(MU_OSU))
    assert {test.from_: test.throughput_period for test in read.measurements.tests} == {"mu": 20, "osu": None}


@pytest.mark.parametrize("schedule", [DEFAULT_SCHEDULE, ROUND_TRIPS], ids=["story", "alarm"])
def test_the_demo_s_plans_provably_fit_and_no_two_conflicting_tests_meet(tmp_path, schedule):
    plan = plan_measurements(load(tmp_path, text_of(MU_OSU, schedule=schedule))).schedule
    planned = [
        Execution(job.task, job.number, *(t / 1000 for t in (job.start, job.start, job.finish)), "planned")
        for job in plan.jobs
    ]
    assert overlaps(planned, plan.tasks.values()) == []
    assert {task.period for task in plan.tasks.values()} == {schedule.rtt_period}
    assert len(plan.jobs) == len(plan.tasks)  # a round holds each test once


def test_the_round_is_as_short_as_can_be():
    """Two paths: 5 s for all light tests and 7 s for each of two that load; four paths: 33 s."""
    assert fitting(MU_OSU) == DEFAULT_SCHEDULE
    assert fitting(named("two_campuses")).throughput_period == 35


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(throughput_duration=2000.0),
        Schedule(throughput_period=None, rtt_period=None, latency_period=None),
    ],
    ids=["too long", "nothing to do"],
)
def test_what_has_no_place_within_an_hour_is_refused(schedule):
    with pytest.raises(InvalidInput, match="measurements"):
        fitting(MU_OSU, schedule)


def test_a_slot_is_as_long_as_the_point_s_own(tmp_path):
    """A point keeps two tests apart by its own slots: a plan with shorter ones would not be carried out."""
    plan = plan_measurements(load(tmp_path, text_of(MU_OSU)))
    for name, test in plan.tests.items():
        request = test.request
        theirs = parse_spec(request.kind, dict(request.spec)).lasts
        assert plan.schedule.tasks[name].duration >= theirs, name


def test_a_plan_of_one_direction(tmp_path):
    text = text_of(MU_OSU, schedule=Schedule(both_ways=False))
    assert {test.from_ for test in load(tmp_path, text).measurements.tests} == {"mu"}


def test_further_sections_are_taken_as_they_are(tmp_path):
    compute = {"mu-hpc": {"site": "mu", "worker_nodes": 4, "throughput_per_node": "8 Mbps"}}
    read = load(tmp_path, text_of(MU_OSU, extra={"compute": compute}))
    assert read.compute["mu-hpc"].worker_nodes == 4


def test_links_that_paths_share_are_named_and_paths_that_are_not_measured_have_no_tests(tmp_path):
    network = network_of(star)
    read = load(tmp_path, text_of(network, schedule=fitting(network)))
    assert {name: path.links for name, path in read.paths.items()} == {
        "overlay": (),
        "one-two": ("one-core", "two-core"),
        "one-three": ("one-core", "thr-core"),
        "two-three": ("two-core", "thr-core"),
    }
    assert {test.path for test in read.measurements.tests} == {"overlay", "one-two", "one-three"}


def test_without_points_nothing_is_measured(tmp_path):
    read = load(tmp_path, configuration(MU_OSU))
    assert (read.measurements.points, read.measurements.tests) == ({}, ())
    assert set(read.paths) == {"al2s", "internet"}
