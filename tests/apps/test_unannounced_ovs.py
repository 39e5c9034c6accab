"""Unannounced connections on real Open vSwitch, taken by the whole controller process (R18: opt-in)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.link import LinkClient
from tests.apps.edge import TEMPLATE, Controller, Switches, both_edges, eventually, measured
from tests.flowvisor.frames import frame
from tests.support.switched_flows import prepare

pytestmark = pytest.mark.integration

ENTRY = {
    "template": "test-bulk",
    "flowspace": [{"protocols": ["tcp"], "ports": [5001, 5002]}],
    "slice": "genomics",
    "per_minute": 100_000,
    "refuse_for": "60 s",
}
SLICE = {
    "number": 7,
    "members": {"who": ["reactive"]},
    "flowspace": [{"protocols": ["tcp"], "ports": [5001]}],
    "share": 0.5,
}
UNLIMITED = {"packet_ins_per_second": None, "packet_ins_per_port": None}
SHORT = {**TEMPLATE, "selection": {**TEMPLATE["selection"], "idle_timeout": "30 s"}}  # type: ignore[dict-item]
CONNECTION, REFUSED, REACTIVE = "cookie=0xad20007", "cookie=0xad06", "cookie=0xad05"


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    # No host answers at osu: without this the flow is moved, or refused, because its packets do not arrive.
    built = Controller(tmp_path, reactive=[ENTRY], evidence_after="1 h")
    document = yaml.safe_load(built.config.read_text())
    document["slices"] = {"genomics": SLICE}
    document["controller"]["connections"] = UNLIMITED
    built.config.write_text(yaml.safe_dump(document))
    yield built
    built.stop()


def begin(link: LinkClient, switches: Switches, template: dict[str, Any] = TEMPLATE) -> None:
    prepare(link, template)
    eventually(lambda: len(rules(switches, REACTIVE)) == 2, "no rule shows unannounced packets")


def rules(switches: Switches, cookie: str, bridge: str = "mu-edge") -> list[str]:
    return [line for line in switches.rules(bridge) if cookie in line]


def receive(switches: Switches, *frames: bytes) -> None:
    """Packets arrive at the port of the MU host."""
    switches.appctl("netdev-dummy/receive", "mu-edge-dtn", *(each.hex() for each in frames))


def sent(switches: Switches, port: int) -> int:
    """How many packets left by a port of the MU edge."""
    told = switches.ofctl("dump-ports", "mu-edge", str(port))
    return int(told.partition("tx pkts=")[2].partition(",")[0])


def test_the_first_packet_makes_a_flow_with_a_decision_and_is_delivered(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        begin(link, switches)
        receive(switches, frame(40_001))
        eventually(lambda: sent(switches, 2) == 1, "the packet was not sent on")
        eventually(lambda: controller.said("code=flow-admitted") == 1, "it was not announced")
        (rule,) = rules(switches, CONNECTION)
        for part in ("tp_src=40001", "tp_dst=5001", "idle_timeout=3600", "output:2"):
            assert part in rule
        receive(switches, frame(40_001), frame(40_002))
        eventually(lambda: sent(switches, 2) == 3, "the next packets were not sent on")
        assert controller.said("code=flow-admitted") == 1
        line = '"owner": "f-1"'
        journal = controller.folder / "openflow.jsonl"
        eventually(
            lambda: (
                sum(line in each and "tp_src=4000" in each for each in journal.read_text().splitlines()) == 2
            )
        )


def test_what_the_slice_does_not_have_is_dropped_for_a_while_and_said_once(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        begin(link, switches)
        receive(switches, *(frame(port, 5002) for port in range(40_000, 40_010)))
        eventually(lambda: rules(switches, REFUSED), "nothing drops what is refused")
        (rule,) = rules(switches, REFUSED)
        for part in ("hard_timeout=60", "tp_dst=5002", "actions=drop"):
            assert part in rule
        eventually(lambda: controller.said("code=connections-refused") == 1, "it was not announced")

        def counted() -> dict[str, Any] | None:
            counts: dict[str, Any] = link.call("tally", {})
            return counts if counts["unannounced_refused"] == counts["packet_ins"]["taken"] else None

        counts = eventually(counted, "not all packets were refused")
        before = counts["packet_ins"]["taken"]
        assert counts["connections_admitted"] == 0
        receive(switches, *(frame(port, 5002) for port in range(41_000, 41_010)))
        eventually(lambda: _packets(rules(switches, REFUSED)[0]) >= 10, "the switch does not drop them")
        assert link.call("tally", {})["packet_ins"]["taken"] == before
        assert (sent(switches, 2), sent(switches, 3)) == (0, 0)


def test_a_thousand_at_once_none_is_lost_and_nothing_is_left(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        begin(link, switches, SHORT)
        for start in range(20_000, 21_000, 50):
            # Open vSwitch keeps no more than 100 packets for its controller, and drops the others itself.
            receive(switches, *(frame(port) for port in range(start, start + 50)))
            eventually(partial(_have_left, switches, start + 50 - 20_000), "packets were lost")
        assert len(rules(switches, CONNECTION)) == 1000
        # What somebody changes by hand is put right for all of them by one message, when it is looked at.
        switches.ofctl("mod-flows", "mu-edge", f"{CONNECTION}000000001/-1,tcp,actions=drop")
        eventually(lambda: all("output:2" in rule for rule in rules(switches, CONNECTION)), "not healed")
        eventually(lambda: controller.said("code=flow-ended"), "it never ends")
        eventually(lambda: not rules(switches, CONNECTION), "connections are left")
        eventually(lambda: not rules(switches, "cookie=0xad11", "osu-edge"), "deliveries are left")
        receive(switches, frame(30_000))
        eventually(partial(_have_left, switches, 1001), "the next one is not taken")
        eventually(lambda: controller.said("code=flow-admitted") == 2, "it was not announced")


def test_a_restarted_controller_leaves_connections_alone_and_takes_the_next(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        begin(link, switches)
        receive(switches, *(frame(port) for port in range(40_000, 40_010)))
        eventually(lambda: len(rules(switches, CONNECTION)) == 10, "no rules")
    controller.kill()
    controller.start()
    eventually(lambda: controller.said("code=switch-connected") == 4, "the switches did not come back")
    with controller.client() as link:
        link.send("measurement", measured("al2s", 50))
        receive(switches, frame(50_000))
        eventually(lambda: sent(switches, 2) == 11, "the next one is not taken")
        assert controller.said("code=flow-admitted") == 1


def test_by_default_no_packet_comes_to_the_controller(tmp_path: Path) -> None:
    controller = Controller(tmp_path)
    with both_edges(tmp_path, controller.port) as switches:
        controller.start()
        try:
            eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")
            with controller.client() as link:
                receive(switches, frame(40_001))
                eventually(lambda: _normal(switches) == 1, "the campus does not forward it")
                counts: dict[str, Any] = link.call("tally", {})
                assert counts["packet_ins"] == {}
                assert rules(switches, REACTIVE) == []
        finally:
            controller.stop()


def _have_left(switches: Switches, number: int) -> bool:
    return sent(switches, 2) == number


def _normal(switches: Switches) -> int:
    (line,) = [each for each in switches.rules("mu-edge", ours=False) if "actions=NORMAL" in each]
    return _packets(line)


def _packets(line: str) -> int:
    return int(line.partition("n_packets=")[2].partition(",")[0])
