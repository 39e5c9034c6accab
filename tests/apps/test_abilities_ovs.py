"""Meters, groups and queues of real Open vSwitch: found by asking, used, and refused one by one."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from adon.flowvisor.openflow import capabilities, encode
from adon.flowvisor.rules.pipeline import SINGLE
from adon.flowvisor.rules.rule_compiler import RuleInputs, Treatment, flow_rules
from adon.flowvisor.rules.switch_features import entry_needs, find_missing_features
from adon.flowvisor.topology.path import FiveTuple
from tests.apps.edge import SCHEMA, TEMPLATE, Switches, end, eventually
from tests.flowvisor.network import AL2S, MU, SOURCE, TARGET
from tests.support.private_switch import OpenFlowClient, PrivateSwitch
from tests.support.switched_flows import prepare, request_flow, run_edges

pytestmark = pytest.mark.integration

SENT, SIZE = 300, 1400
UDP = {**TEMPLATE, "protocol": "udp"}


@contextmanager
def running(folder: Path, change: Any = None, **policy: object) -> Iterator[Any]:
    """The controller before both edges, and a template over UDP."""
    with run_edges(folder, change, **policy) as (controller, switches), controller.client() as link:
        prepare(link, UDP)
        yield controller, switches, link


def send(switches: Switches, packets: int = SENT, port: int = 5001) -> None:
    """UDP of the flow arrives from the DTN."""
    packet = (
        "in_port(1),eth(src=02:00:00:00:0a:0a,dst=02:00:00:00:0a:01),eth_type(0x0800),"
        "ipv4(src=10.1.0.10,dst=10.2.0.10,proto=17,tos=0,ttl=64,frag=no),"
        f"udp(src=40000,dst={port})"
    )
    for _ in range(packets):
        switches.appctl("netdev-dummy/receive", "mu-edge-dtn", packet, "--len", str(SIZE))


def left(switches: Switches, port: str) -> int:
    """Packets that left by a port of the near edge."""
    told = switches.ofctl("dump-ports", "mu-edge", port)
    return int(re.findall(r"tx pkts=(\d+)", told)[0])


def slow(document: Any) -> Any:
    """Paths of 100 kbps: what a test can put in is more than a meter lets through."""
    for path in document["paths"].values():
        path["capacity"] = "100 kbps"
    return document


def test_a_flow_is_held_to_what_it_was_granted_by_a_real_meter(tmp_path: Path) -> None:
    with running(tmp_path, slow, ladder={"mode": "auto"}) as (_controller, switches, link):
        flow = request_flow(link, qspec={"throughput": {"min": "10 kbps"}})
        granted = flow["granted"]
        assert granted["by"] == "meter"
        rule = eventually(
            lambda: [line for line in switches.rules("mu-edge") if "meter:40960" in line], "no rule with it"
        )[0]
        assert "cookie=0xad10" in rule
        rate = int(re.findall(r"rate=(\d+)", switches.ofctl("dump-meters", "mu-edge"))[0])
        assert rate * 1000 <= max(1000, granted["ceiling"])
        before = left(switches, "mu-edge-al2s")
        send(switches)
        stats = switches.ofctl("meter-stats", "mu-edge")
        came, dropped = (int(found) for found in re.findall(r"packet(?:_in)?_count:(\d+)", stats)[:2])
        assert came == SENT
        assert dropped > SENT / 2, "what is above the rate is dropped"
        assert left(switches, "mu-edge-al2s") - before == SENT - dropped


def test_a_meter_that_somebody_made_first_is_made_ours(tmp_path: Path) -> None:
    with running(tmp_path, ladder={"mode": "meters"}) as (controller, switches, link):
        switches.ofctl("add-meter", "mu-edge", "meter=40960,kbps,band=type=drop,rate=17")
        assert request_flow(link)["state"] in ("installing", "active")
        eventually(lambda: link.call("snapshot", {})["paths"][0]["flows"] == ["f-1"])
        eventually(lambda: "rate=17" not in switches.ofctl("dump-meters", "mu-edge"), "it is as it was")
        eventually(lambda: [r for r in switches.rules("mu-edge") if "meter:40960" in r], "no rule with it")
        eventually(lambda: controller.said("event=of.error"), "the meter was not there")


def staged(document: Any) -> Any:
    for switch in document["switches"].values():
        switch["pipeline"] = "staged"
    return document


def test_a_real_group_takes_the_other_way_when_a_port_is_down_and_nobody_is_there(tmp_path: Path) -> None:
    with running(tmp_path, staged) as (controller, switches, link):
        request_flow(link)
        eventually(lambda: [r for r in switches.rules("mu-edge") if "cookie=0xad10" in r], "no flow")
        assert "type=ff" in switches.ofctl("dump-groups", "mu-edge")
        send(switches, 3)
        eventually(lambda: left(switches, "mu-edge-al2s") >= 3, "not by the first way")
        assert controller.process is not None
        os.kill(controller.process.pid, signal.SIGSTOP)
        try:
            switches.ofctl("mod-port", "mu-edge", "mu-edge-al2s", "down")
            gone, before = left(switches, "mu-edge-al2s"), left(switches, "mu-edge-rtr")
            send(switches, 5)
            eventually(lambda: left(switches, "mu-edge-rtr") == before + 5, "not by the second way")
            assert left(switches, "mu-edge-al2s") == gone
        finally:
            os.kill(controller.process.pid, signal.SIGCONT)


def test_what_a_real_switch_says_of_itself_is_shown(tmp_path: Path) -> None:
    with running(tmp_path, staged) as (_, _switches, link):
        mu = eventually(lambda: link.call("snapshot", {})["switches"][0])
        assert mu["lacks"] == []
        assert mu["tables"].keys() == {"0", "1", "2"}
        assert mu["tables"]["0"]["maximum"] == 1_000_000


# -- queues, which need a port that the kernel knows ---------------------------------------------------------


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@pytest.fixture
def queued(tmp_path: Path) -> Iterator[OpenFlowClient]:
    """A bridge of the userspace data path with a veth, on which OVSDB has made two queues."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a namespace of its own")
    space = f"adon-q-{uuid.uuid4().hex[:8]}"
    switches = Switches(tmp_path)
    inside = ("ip", "netns", "exec", space)
    subprocess.run(["ip", "netns", "add", space], check=True)
    with ExitStack() as stack:
        stack.callback(subprocess.run, ["ip", "netns", "del", space], check=True)
        for command in (
            "link add q-near type veth peer name q-far",
            "link set q-near up",
            "link set q-far up",
        ):
            subprocess.run([*inside, "ip", *command.split()], check=True)
        database = tmp_path / "db.sock"
        switches.run("ovsdb-tool", "create", str(tmp_path / "conf.db"), str(SCHEMA))
        server = switches.start(
            "ovsdb-server",
            str(tmp_path / "conf.db"),
            f"--remote=punix:{database}",
            f"--unixctl={tmp_path}/db.ctl",
        )
        stack.callback(end, server)
        eventually(lambda: listens(database), "the database did not start")
        switches.vsctl("--no-wait", "init")
        daemon = switches.start(*inside, "ovs-vswitchd", f"unix:{database}", f"--unixctl={tmp_path}/vs.ctl")
        stack.callback(end, daemon)
        eventually((tmp_path / "vs.ctl").exists, "ovs-vswitchd did not start")
        bridge = ["add-br", "br0", "--", "set", "Bridge", "br0", "datapath_type=netdev"]
        bridge += ["fail_mode=secure", "protocols=OpenFlow13", "--", "add-port", "br0", "q-near"]
        switches.vsctl(*bridge, "--", "set", "Interface", "q-near", f"ofport_request={AL2S.source_end.port}")
        qos = ["set", "port", "q-near", "qos=@qos", "--", "--id=@qos", "create", "qos", "type=linux-htb"]
        qos += ["other-config:max-rate=100000000", "queues:1=@high", "queues:2=@low"]
        qos += ["--", "--id=@high", "create", "queue", "other-config:min-rate=60000000"]
        qos += ["--", "--id=@low", "create", "queue", "other-config:min-rate=30000000"]
        switches.vsctl(*qos)
        with PrivateSwitch(tmp_path).client() as client:
            yield client


def test_queues_made_through_ovsdb_are_found(queued: OpenFlowClient) -> None:
    port = AL2S.source_end.port
    queued.tell(encode.encode_request("queues", queued.version))
    found = capabilities.read_features(queued.version, 254, [queued.receive().buf])
    assert found.queues is not None
    assert {queue.number for queue in found.queues[port]} == {0, 1, 2}
    for queue, lacks in ((1, ()), (2, ()), (7, (f"queue 7 of port {port}",))):
        steered = RuleInputs(1, SOURCE, TARGET, AL2S, (), Treatment(queues=((MU, queue),)))
        asked = entry_needs(
            rule for rule in flow_rules(steered, (FiveTuple(6, 5001),), 500, 60) if rule.dpid == MU
        )
        said = find_missing_features(SINGLE, found, asked)
        assert [part in reason for part, reason in zip(lacks, said, strict=True)] == [True] * len(lacks)
