"""The whole controller process in front of real Open vSwitch, and in front of switches that misbehave."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.broker.decision import Decision
from adon.code_version import code_version
from adon.errors import EXIT_DATABASE, NotFound
from adon.flowvisor.rules.pipeline import owner_of
from adon.store.store import Store
from apps.campus_edge.loop import EXIT_BUG
from apps.cli.recorded_decision import read_database, replay_record
from tests.apps.edge import (
    BRIDGES,
    LINKS,
    Controller,
    Switches,
    eventually,
    free_port,
    measured,
)
from tests.apps.openflow_standin import StandInSwitch
from tests.support.factories import make_template
from tests.support.switched_flows import (
    FLOW_COOKIE,
    MEASUREMENT_COOKIE,
    await_state,
    await_switches,
    durations,
    ingress_rule,
    prepare,
    record_messages,
    rules_with,
    stored_flow,
    submit_flow,
)

pytestmark = pytest.mark.integration


# -- the life of a flow on real switches -------------------------------------------------------------------


def test_a_flow_is_installed_moved_and_removed(controller: Controller, switches: Switches) -> None:
    with controller.client() as link:
        prepare(link)
        number = submit_flow(link)
        assert await_state(controller, number, "active").path == "al2s"
        assert len(rules_with(switches, FLOW_COOKIE)) == 6
        assert "output:2" in ingress_rule(switches)
        link.send("measurement", measured("al2s", 2))
        eventually(lambda: "output:3" in ingress_rule(switches), "the flow did not move")
        assert stored_flow(controller, number).path == "internet"
        answer = link.call("flow.report", {"flow": number, "status": "finished", "bytes": 10_000_000})
        assert answer["state"] == "finished"
        eventually(lambda: not rules_with(switches, FLOW_COOKIE), "its rules are still there")
    for bridge in BRIDGES:
        (foreign,) = [line for line in switches.rules(bridge, ours=False) if "cookie=0x0" in line]
        assert "priority=0 actions=NORMAL" in foreign
    assert len(rules_with(switches, MEASUREMENT_COOKIE)) == 8


def test_the_store_has_what_a_flow_left_behind_and_every_decision_can_be_replayed(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
        link.send("measurement", measured("al2s", 2))
        eventually(lambda: stored_flow(controller, number).path == "internet", "the flow did not move")
        link.call("flow.report", {"flow": number, "status": "finished", "bytes": 10_000_000})
    with Store.open(controller.url, read_only=True) as store:
        left, decisions = store.outcome(number), store.decisions(number)
        eventually(lambda: _snapshots(store, decisions) == len(decisions), "a snapshot is missing")
    assert [stay.path for stay in left.stays] == ["al2s", "internet"]
    assert left.decision == decisions[0].id
    assert len(decisions) >= 2
    for decision in decisions:
        again = replay_record(read_database(decision.id, None, controller.url))
        assert (again.differences, again.code) == ((), code_version())


def _snapshots(store: Store, decisions: Iterable[Decision]) -> int:
    """How many of these decisions have what they saw: it is saved when all else is done."""
    found = 0
    for decision in decisions:
        with suppress(NotFound):
            store.snapshot(decision.id)
            found += 1
    return found


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_restart_changes_nothing_in_the_switches(
    controller: Controller, switches: Switches, tmp_path: Path, how: str
) -> None:
    with controller.client() as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
    before = [switches.rules(bridge) for bridge in BRIDGES]
    if how == "killed":
        controller.kill()
    else:
        assert controller.process is not None
        controller.process.terminate()
        assert controller.process.wait(60) == 0
    assert [len(rules) for rules in before] == [len(switches.rules(bridge)) for bridge in BRIDGES]
    heard = tmp_path / "snoop"
    with record_messages(switches, "mu-edge", heard):
        controller.start()
        await_switches(controller, switches, times=4)
        with controller.client() as link:
            assert link.call("snapshot", {})["reconcile"] == {
                "missing": 0,
                "extra": 0,
                "wrong": 0,
                "blocked": 0,
            }
            time.sleep(1.5)  # over a consistency check
            assert link.call("snapshot", {})["reconcile"]["missing"] == 0
            eventually(lambda: "OFPST_FLOW" in heard.read_text(errors="replace"), "nothing was heard")
            assert "OFPT_FLOW_MOD" not in heard.read_text(errors="replace")
            for lines, bridge in zip(before, BRIDGES, strict=True):
                now = durations(switches.rules(bridge))
                assert all(new > old for new, old in zip(now, durations(lines), strict=True))
            # It goes on where it was: the flow moves, and ends.
            link.send("measurement", measured("internet", 5))
            link.send("measurement", measured("al2s", 2))
            eventually(lambda: "output:3" in ingress_rule(switches), "the flow did not move")
            link.call("flow.cancel", {"flow": number, "requester": "ann"})
            eventually(lambda: not rules_with(switches, FLOW_COOKIE), "its rules are still there")


def test_time_does_not_fall_when_the_saved_times_are_ahead_of_the_wall_clock(controller: Controller) -> None:
    ahead = time.time() + 7200
    with Store.open(controller.url) as store:
        store.save_template(make_template(name="later"), "ann", ahead)
    controller.start()
    with controller.client() as link:
        prepare(link)
        flow = stored_flow(controller, submit_flow(link))
    assert ahead <= flow.submitted_at < time.time() + 7200
    assert controller.said("event=clock.behind") == 1


def test_rules_deleted_by_hand_come_back(controller: Controller, switches: Switches) -> None:
    with controller.client() as link:
        prepare(link)
        await_state(controller, submit_flow(link), "active")
        time.sleep(2.1)  # the broker gives no verdict on what was changed just now
        switches.ofctl("del-flows", "mu-edge", "cookie=0xad10000000000000/0xfff0000000000000")
        eventually(lambda: len(rules_with(switches, FLOW_COOKIE)) == 6, "the flow's rules did not come back")
        switches.ofctl("del-flows", "osu-edge", "cookie=0xad01000000000000/0xffff000000000000")
        eventually(
            lambda: len(rules_with(switches, MEASUREMENT_COOKIE)) == 8,
            "the measurement rules did not come back",
        )
    eventually(lambda: controller.said("code=rules-changed"), "the change was not reported")


def test_a_rule_with_our_prefix_and_an_unknown_kind_is_removed(
    controller: Controller, switches: Switches
) -> None:
    stray = "cookie=0xad55000000000001,priority=7,in_port=3,actions=drop"
    switches.ofctl("add-flow", "mu-edge", stray)
    eventually(lambda: not rules_with(switches, "0xad55"), "the stray rule is still there")
    assert controller.alive


def test_a_switch_that_is_not_configured_is_refused(controller: Controller, switches: Switches) -> None:
    switches.add_bridge("stranger", "000000000000beef", controller.port, ("stranger-1",))
    eventually(lambda: controller.said("event=switch.refused dpid=000000000000beef"), "nothing was logged")
    time.sleep(1.5)  # it tries again
    assert controller.said("event=switch.refused") == 1
    assert switches.rules("stranger", ours=True) == []
    with controller.client() as link:
        assert {switch["connected"] for switch in link.call("snapshot", {})["switches"]} == {True}


def test_a_switch_that_goes_and_comes_back(controller: Controller, switches: Switches) -> None:
    with controller.client() as link:
        prepare(link)
        switches.vsctl("del-controller", "osu-edge")
        eventually(lambda: controller.said("code=switch-disconnected") == 1, "nobody noticed")
        number = submit_flow(link)
        assert stored_flow(controller, number).state == "queued"
        assert (
            "0000000000000a02" in stored_flow(controller, number).reason
            or "osu" in stored_flow(controller, number).reason
        )
        switches.connect("osu-edge", controller.port)
        await_state(controller, number, "active")
        # The daemon itself dies, and with it the data path and its rules.
        switches.stop_daemon()
        eventually(lambda: controller.said("code=switch-disconnected") == 3, "nobody noticed")
        switches.start_daemon()
        eventually(lambda: len(rules_with(switches, FLOW_COOKIE)) == 6, "the rules did not come back")
        eventually(lambda: len(rules_with(switches, MEASUREMENT_COOKIE)) == 8, "no measurement rules")


def test_the_first_packet_of_a_flow_without_ports_brings_its_own_rules(
    controller: Controller, switches: Switches
) -> None:
    packet = (
        "in_port(1),eth(src=02:00:00:00:0a:0a,dst=02:00:00:00:0a:01),eth_type(0x0800),"
        "ipv4(src=10.1.0.10,dst=10.2.0.10,proto=6,tos=0,ttl=64,frag=no),tcp(src=40000,dst=2811),tcp_flags(0x002)"
    )
    with controller.client() as link:
        prepare(link)
        number = submit_flow(link, ports=[])
        await_state(controller, number, "active")
        assert rules_with(switches, "0xad10") == []
        assert len(rules_with(switches, "0xad12")) == 2
        switches.appctl("netdev-dummy/receive", "mu-edge-dtn", packet)
        eventually(lambda: len(rules_with(switches, "0xad10")) == 2, "no rules of the connection's own")
        assert "tp_dst=2811" in ingress_rule(switches)
        (learnt,) = stored_flow(controller, number).tuples
        assert (learnt.protocol, learnt.destination_port) == (6, 2811)
        eventually(
            lambda: re.search("n_packets=[1-9]", "".join(rules_with(switches, "0xad12"))), "not counted"
        )


# -- switches that misbehave ---------------------------------------------------------------------------


@contextmanager
def standins(controller: Controller) -> Iterator[dict[str, StandInSwitch]]:
    """Both edges as stand-ins, connected, with their measurement rules."""
    controller.start()
    eventually(lambda: controller.said("event=ready"), "the controller did not start")
    with ExitStack() as stack:
        both = {
            name: stack.enter_context(
                StandInSwitch(int(dpid, 16), tuple(f"{name}-{link}" for link in LINKS), controller.port)
            )
            for name, dpid in BRIDGES.items()
        }
        eventually(lambda: controller.said("code=switch-connected") == 2, "the stand-ins did not connect")
        eventually(
            lambda: all(len(switch.flow_mods) == 4 for switch in both.values()), "no measurement rules"
        )
        yield both


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Controller]:
    """A controller that does not check the switches' rules meanwhile: the stand-ins report none."""
    built = Controller(tmp_path, consistency_period="1 h", counters_period="1 h")
    yield built
    built.stop()


def table_full(_: Any) -> tuple[int, int]:
    return ofp.OFPET_FLOW_MOD_FAILED, ofp.OFPFMFC_TABLE_FULL


def test_a_full_table_is_said_in_its_own_words_and_the_flow_waits(patient: Controller) -> None:
    with standins(patient) as both, patient.client() as link:
        prepare(link)
        both["osu-edge"].on_flow_mod = table_full
        number = submit_flow(link)
        waiting = await_state(patient, number, "queued")
        assert "OFPFMFC_TABLE_FULL" in waiting.reason
        assert not [m for m in both["mu-edge"].flow_mods[4:] if m.cookie >> 48 == 0xAD10], (
            "ingress before delivery"
        )
        link.call("flow.cancel", {"flow": number, "requester": "ann"})
        await_state(patient, number, "cancelled")
    assert patient.alive


def refused_for(number: int) -> Callable[[Any], tuple[int, int] | None]:
    """A switch that wants nothing of this flow."""

    def answer(message: Any) -> tuple[int, int] | None:
        of_flow = message.cookie >> 52 == 0xAD1 and message.cookie & 0xFFFF == number
        wanted = message.command != ofp.OFPFC_DELETE_STRICT and of_flow
        return (ofp.OFPET_FLOW_MOD_FAILED, ofp.OFPFMFC_EPERM) if wanted else None

    return answer


def test_what_is_refused_in_a_repair_costs_only_its_flow(patient: Controller) -> None:
    with standins(patient) as both, patient.client() as link:
        prepare(link)
        numbers = [submit_flow(link, ports=[port]) for port in (5001, 5002, 5003)]
        for number in numbers:
            await_state(patient, number, "active")
        both["osu-edge"].hang_up()
        eventually(lambda: patient.said("code=switch-disconnected") == 1, "nobody noticed")
        ports = tuple(f"osu-edge-{link}" for link in LINKS)
        # It restarted, holds nothing, and does not want the second flow any more.
        again = StandInSwitch(int(BRIDGES["osu-edge"], 16), ports, patient.port)
        again.on_flow_mod = refused_for(numbers[1])
        with again:
            eventually(lambda: patient.said("code=switch-connected") == 3, "it did not come back")
            eventually(lambda: patient.said("code=repair-refused"), "nothing was said")

            def states(number: int) -> set[tuple[str, bool]]:
                with Store.open(patient.url, read_only=True) as store:
                    saved = [
                        s for s in store.rules() if s.rule.dpid == 0xA02 and owner_of(s.rule) == f"f-{number}"
                    ]
                return {(str(one.state), "OFPFMFC_EPERM" in one.error) for one in saved}

            eventually(lambda: states(numbers[1]) == {("failed", True)}, "its rules are not marked")
            assert [states(number) for number in (numbers[0], numbers[2])] == [{("installed", False)}] * 2
            assert {stored_flow(patient, number).state for number in numbers} == {"active"}
            with Store.open(patient.url, read_only=True) as store:
                assert {str(one.state) for one in store.rules() if owner_of(one.rule) == "path-0"} == {
                    "installed"
                }


def test_a_barrier_that_is_never_answered_fails_the_install(patient: Controller) -> None:
    with standins(patient) as both, patient.client() as link:
        prepare(link)
        both["osu-edge"].answers_barriers = False
        number = submit_flow(link)
        waiting = await_state(patient, number, "queued")
        assert "barrier" in waiting.reason
        assert patient.alive


def test_a_switch_that_hangs_up_in_the_middle_of_an_install(patient: Controller) -> None:
    with standins(patient) as both, patient.client() as link:
        prepare(link)
        leaver = both["osu-edge"]

        def hang_up(_: Any) -> None:
            leaver.hang_up()

        leaver.on_flow_mod = hang_up
        number = submit_flow(link)
        waiting = await_state(patient, number, "queued")
        assert waiting.path is None
        with StandInSwitch(0xA02, tuple(f"osu-edge-{link}" for link in LINKS), patient.port):
            await_state(patient, number, "active")


def hello(body: bytes) -> bytes:
    return struct.pack("!BBHI", 4, 0, 8 + len(body), 1) + body


GARBAGE = {
    "no OpenFlow": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "length 0": struct.pack("!BBHI", 4, 0, 0, 1),
    "a HELLO element of length 0": hello(struct.pack("!HH", 1, 0) + bytes(4)),
    "half a HELLO element": hello(struct.pack("!HH", 1, 64)),
    "an unknown version": struct.pack("!BBHI", 0x77, 0, 8, 1),
    "an error whose text is not text": hello(b"")
    + struct.pack("!BBHIHH", 4, 1, 16, 2, 0, 0)
    + b"\xff\xfe\xfd\xfc",
    "silence, then half a message": struct.pack("!BBHI", 4, 0, 4000, 1) + b"x",
}


def test_bytes_that_are_no_openflow_end_that_connection_only(patient: Controller) -> None:
    with standins(patient) as both, patient.client() as link:
        for data in GARBAGE.values():
            with socket.create_connection(("127.0.0.1", patient.port)) as connection:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(60)
                while connection.recv(4096):
                    pass
        # From a switch that is known, after its handshake: an error with codes that do not exist, a report
        # that nobody asked for, a port with a name that is not text, a message of another version.
        known = both["mu-edge"]
        known.say(struct.pack("!BBHIHH", 4, 1, 20, 9, 777, 777) + bytes(8))
        known.say(struct.pack("!BBHIHH", 4, 1, 16, 9, 0xFFFF, 1) + bytes(4))
        known.say(struct.pack("!BBHIHH4x", 4, 19, 16, 9, 1, 0))
        known.say(struct.pack("!BBHIBB6x", 4, 12, 80, 9, 0, 0)[:16] + port_named(b"\xff" * 16))
        known.say(struct.pack("!BBHI", 4, 19, 16, 10) + b"\x00\x01\x00\x00" + bytes(4))
        with pytest.raises(AssertionError):
            eventually(lambda: known.dropped, patience=0.5)
        known.say(struct.pack("!BBHI", 1, 0x0A, 8, 11))
        eventually(lambda: known.dropped, "a message of another version was accepted")
        eventually(lambda: patient.said("code=switch-disconnected"), "the switch was not given up")
        assert link.call("snapshot", {})["network"] == "mu-osu"
    assert patient.alive


def port_named(name: bytes) -> bytes:
    return struct.pack("!I4x6s2x16s8I", 9, bytes(6), name, *[0] * 8)


def test_a_second_connection_of_a_switch_replaces_the_first(patient: Controller) -> None:
    again = (0xA01, tuple(f"mu-edge-{name}" for name in LINKS), patient.port)
    with standins(patient) as both, patient.client() as link, StandInSwitch(*again) as second:
        eventually(lambda: both["mu-edge"].dropped, "the first connection stayed")
        eventually(lambda: patient.said("code=switch-connected") == 3, "the second was not taken")
        prepare(link)
        await_state(patient, submit_flow(link), "active")
        assert [m for m in second.flow_mods if m.cookie >> 48 == 0xAD10]


# -- the process ---------------------------------------------------------------------------------------


BUGS = {
    "handler on_role": (
        "from adon.flowvisor.openflow import messages\n"
        "def broken(ports):\n    raise RuntimeError('a bug in a handler')\n"
        "messages.ports = broken\n"
    ),
    "the decision thread": (
        "from adon.broker.broker import Broker\n"
        "def broken(self, event):\n    raise RuntimeError('a bug in the core')\n"
        "Broker.handle = broken\n"
    ),
}

SAVING = (
    "from adon.store.store import Store\n"
    "from adon.errors import Unavailable\n"
    "def broken(self, *_):\n    raise Unavailable('the disk is full')\n"
    "Store.save_rules = broken\n"
)


def ended_with(controller: Controller, fault: str) -> tuple[int, int]:
    """How a controller with a fault ends once switches connect, and what they have been told."""
    runs = f"import sys\nsys.argv[0] = 'controller'\n{fault}"
    runs += "from apps.campus_edge.__main__ import main\nsys.exit(main())\n"
    process = controller.start(program=("-c", runs))
    eventually(lambda: controller.said("event=ready"), "the controller did not start")
    with ExitStack() as stack:
        switches = [
            stack.enter_context(
                StandInSwitch(int(dpid, 16), tuple(f"{name}-{link}" for link in LINKS), controller.port)
            )
            for name, dpid in BRIDGES.items()
        ]
        return process.wait(60), sum(len(switch.flow_mods) for switch in switches)


@pytest.mark.parametrize("where", BUGS)
def test_a_bug_ends_the_process_loudly(controller: Controller, where: str) -> None:
    assert ended_with(controller, BUGS[where]) == (EXIT_BUG, 0)
    assert controller.said(f"event=bug where={where}") == 1
    assert controller.said("Traceback")


def test_what_cannot_be_saved_ends_the_process_before_a_switch_is_told(controller: Controller) -> None:
    assert ended_with(controller, SAVING) == (EXIT_DATABASE, 0)
    assert controller.said("event=store.failed") == 1
    assert not controller.said("Traceback")


def test_a_port_that_is_taken_is_one_line_and_exit_status_1(controller: Controller) -> None:
    with socket.create_server(("127.0.0.1", controller.port)):
        assert controller.start().wait(60) == 1
    (line,) = controller.log.read_text().splitlines()
    assert line.startswith("controller.openflow_port: ")


def test_a_second_controller_on_the_same_data_is_refused(controller: Controller, tmp_path: Path) -> None:
    controller.start()
    eventually(lambda: controller.said("event=ready"), "the controller did not start")
    first, controller.log = controller.process, tmp_path / "second.log"
    document = controller.config.read_text().replace(str(controller.port), str(free_port()))
    controller.config.write_text(document)
    try:
        assert controller.start().wait(60) == 2
    finally:
        controller.process = first
    assert not controller.said("event=ready")


def test_the_idle_process_imports_no_statistics_and_no_web_framework(controller: Controller) -> None:
    runs = (
        "import sys, threading\nfrom apps.campus_edge.__main__ import main\nstatus = main()\n"
        "heavy = {'numpy', 'pandas', 'plotly', 'scipy', 'statsmodels', 'flask', 'dash', 'alembic'}\n"
        "print('imported:', sorted(heavy & set(sys.modules)), file=sys.stderr)\nsys.exit(status)\n"
    )
    process = controller.start(program=("-c", runs))
    eventually(lambda: controller.said("event=ready"), "the controller did not start")
    process.terminate()
    assert process.wait(60) == 0
    assert controller.said("imported: []") == 1
