"""Five sites and twenty real switches: paths are computed, flows installed, and each is followed hop by hop.

The packet is put to ``ofproto/trace`` of the first bridge, then, as it left there, to that of the bridge that
this test knows to be behind the port, and so on.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6
from adon.store.store import Store
from apps.link import LinkClient
from tests.apps.edge import TEMPLATE, end, eventually, free_port
from tests.apps.fabric import BRIDGES, CORE, DTN_PORT, EDGES, SITES, Fabric
from tests.support.datapath import Packet

pytestmark = pytest.mark.integration

PAIRS = tuple(combinations(range(SITES), 2))
PATIENCE_S = 180.0


@pytest.fixture(
    scope="module",
    params=["single", *(pytest.param(form, marks=pytest.mark.slow) for form in ("staged", "mixed"))],
)
def fabric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    """The network with one flow between each pair of sites; each test leaves it whole."""
    built = Fabric(tmp_path_factory.mktemp("fabric"), request.param)
    with built.running():
        eventually(
            lambda: built.controller.said("code=switch-connected") == len(BRIDGES),
            "not all connected",
            PATIENCE_S,
        )
        with built.controller.client() as link:
            link.call("template.add", {"template": TEMPLATE, "author": "eve"})
            for one, other in PAIRS:
                wish = {"source": f"dtn-{one}", "destination": f"dtn-{other}", "ports": [port(one, other)]}
                wish |= {"size": "10 MB", "template": "test-bulk"}
                link.call("flow.submit", {"request": wish, "requester": "ann"})
        eventually(lambda: states(built) == {"active"}, "not all flows are active", PATIENCE_S)
        yield built


def port(one: int, other: int) -> int:
    return 5000 + 10 * one + other


def flows(fabric: Fabric) -> list[Any]:
    with Store.open(fabric.controller.url, read_only=True) as store:
        return [store.flow(number) for number in range(1, len(PAIRS) + 1)]


def states(fabric: Fabric) -> set[str]:
    return {str(flow.state) for flow in flows(fabric)}


def questions() -> Iterator[dict[str, Any]]:
    """Each flow's packets: both ways, both versions of IP."""
    for one, other in PAIRS:
        for version in ("4", "6"):
            there = {"from": f"dtn-{one}", "to": f"dtn-{other}", "port": port(one, other)}
            back = {
                "from": f"dtn-{other}",
                "to": f"dtn-{one}",
                "port": 40_000,
                "source_port": port(one, other),
            }
            for ends in (there, back):
                yield {**ends, "protocol": "tcp", "version": version}


def site_of(dtn: str) -> int:
    return int(dtn.removeprefix("dtn-"))


def packet_of(question: Mapping[str, Any]) -> Packet:
    """The packet as the sending DTN addresses it: to its gateway."""
    one, other = site_of(question["from"]), site_of(question["to"])
    four = question["version"] == "4"
    sender, receiver = (f"10.{n + 1}.0.10" if four else f"2001:db8:{n + 1}::10" for n in (one, other))
    return Packet(
        f"02:00:00:00:{one:02x}:0a",
        f"02:00:00:00:{one:02x}:01",
        sender,
        receiver,
        tp_src=question.get("source_port", 49_152),
        tp_dst=question["port"],
        eth_type=ETH_TYPE_IPV4 if four else ETH_TYPE_IPV6,
    )


Way = list[tuple[str, int]]


def followed(fabric: Fabric, question: Mapping[str, Any]) -> Way:
    """Follow a packet through Open vSwitch to the receiving DTN; the switches and the ports it leaves by."""
    here, in_port, packet = EDGES[site_of(question["from"])], DTN_PORT, packet_of(question)
    way: Way = []
    while len(way) <= len(BRIDGES):
        outputs = fabric.ask(here, in_port, packet).outputs
        assert len(outputs) == 1, (here, packet)
        ((out, packet),) = outputs
        way.append((here, out))
        behind = fabric.plan.peer(here, out)
        if behind is None:
            break
        here, in_port = behind.switch, behind.number
    site = site_of(question["to"])
    assert way[-1] == (EDGES[site], DTN_PORT)
    gateway, dtn = f"02:00:00:00:{site:02x}:01", f"02:00:00:00:{site:02x}:0a"
    assert (packet.eth_src, packet.eth_dst, packet.vlan) == (gateway, dtn, None)
    return way


def every_way(fabric: Fabric, link: LinkClient) -> dict[tuple[Any, ...], Way]:
    """Every flow is delivered, over the switches of the circuit that it is on; which way each takes."""
    circuits = {one["name"]: one["switches"] for one in link.call("snapshot", {})["circuits"]}
    expected = {}
    for flow in flows(fabric):
        assert str(flow.path) in circuits, "the flow moved to a circuit made after the snapshot"
        expected[frozenset((flow.request.source, flow.request.destination))] = circuits[str(flow.path)]
    ways = {}
    for question in questions():
        way = ways[tuple(question.values())] = followed(fabric, question)
        circuit = expected[frozenset((question["from"], question["to"]))]
        assert [switch for switch, _ in way] in (circuit, circuit[::-1])
    return ways


def over(ways: Mapping[tuple[Any, ...], Way], switch: str, number: int) -> set[tuple[Any, ...]]:
    return {question for question, way in ways.items() if (switch, number) in way}


@contextmanager
def overheard(fabric: Fabric, folder: Path) -> Iterator[dict[str, Path]]:
    """Write down every OpenFlow message between all switches and their controllers."""
    found = {name: folder / f"{name}.snoop" for name in BRIDGES}
    with ExitStack() as stack:
        for name, path in found.items():
            output = stack.enter_context(path.open("wb"))
            target = f"unix:{fabric.switches.folder}/{name}.snoop"
            command = ["setpriv", "--pdeathsig", "KILL", "ovs-ofctl", "snoop", target]
            environment = fabric.switches.environment
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
            stack.callback(end, process)
        yield found


def heard(found: Mapping[str, Path], what: str) -> list[str]:
    return [name for name, path in found.items() if what in path.read_text(errors="replace")]


def test_links_are_found_and_every_flow_takes_its_circuit(fabric: Fabric) -> None:
    with fabric.controller.client() as link:
        eventually(
            lambda: (
                [found["state"] for found in link.call("snapshot", {})["links"]]
                == ["live"] * len(fabric.plan.links)
            ),
            "not all links were found",
            PATIENCE_S,
        )
        ways = every_way(fabric, link)
    assert len(ways) == 4 * len(PAIRS)
    assert max(len(way) for way in ways.values()) >= 4
    assert len({switch for way in ways.values() for switch, _ in way}) >= 12


def test_flows_leave_a_link_that_goes_down(fabric: Fabric) -> None:
    with fabric.controller.client() as link:
        before = every_way(fabric, link)
        ends = max(
            fabric.plan.links.values(), key=lambda ends: len(over(before, ends[0].switch, ends[0].number))
        )
        hit = {question for one in ends for question in over(before, one.switch, one.number)}
        assert len(hit) >= 4
        fabric.switches.ofctl("mod-port", ends[0].switch, ends[0].port, "down")
        try:
            eventually(lambda: _left(fabric, link, ends), "flows stayed on a dead link", PATIENCE_S)
            after = every_way(fabric, link)
            assert all(before[question] != after[question] for question in hit)
            assert states(fabric) == {"active"}
        finally:
            fabric.switches.ofctl("mod-port", ends[0].switch, ends[0].port, "up")
        eventually(lambda: _settled(fabric, link), "the flows did not settle")


def _settled(fabric: Fabric, link: LinkClient) -> dict[tuple[Any, ...], Way]:
    """Every flow's way; empty while a flow is between two circuits."""
    try:
        return every_way(fabric, link)
    except AssertionError:
        return {}


def _left(fabric: Fabric, link: LinkClient, ends: Any) -> bool:
    ways = _settled(fabric, link)
    return bool(ways) and not any(over(ways, one.switch, one.number) for one in ends)


def test_a_switch_that_loses_its_controller_forwards_on(fabric: Fabric) -> None:
    with fabric.controller.client() as link:
        before = every_way(fabric, link)
        busiest = max(CORE, key=lambda name: sum(name in dict(way) for way in before.values()))
        times = fabric.controller.said("code=switch-disconnected")
        # Open vSwitch empties a bridge that loses its last controller in the configuration: it keeps one.
        fabric.switches.connect(busiest, free_port())
        try:
            eventually(lambda: fabric.controller.said("code=switch-disconnected") > times, "nobody noticed")
            assert every_way(fabric, link) == before
            assert states(fabric) == {"active"}
        finally:
            connected = fabric.controller.said("code=switch-connected")
            fabric.switches.connect(busiest, fabric.controller.port)
        eventually(
            lambda: fabric.controller.said("code=switch-connected") > connected, "it did not come back"
        )
        assert every_way(fabric, link) == before


def test_a_restart_of_the_controller_sends_no_flow_mod(fabric: Fabric, tmp_path: Path) -> None:
    with fabric.controller.client() as link:
        before = every_way(fabric, link)
    fabric.controller.kill()
    connected = fabric.controller.said("code=switch-connected")
    with overheard(fabric, tmp_path) as found:
        fabric.controller.start()
        eventually(
            lambda: fabric.controller.said("code=switch-connected") == connected + len(BRIDGES),
            "not all came back",
            PATIENCE_S,
        )
        with fabric.controller.client() as link:
            assert every_way(fabric, link) == before
            eventually(lambda: len(heard(found, "OFPST_FLOW")) == len(BRIDGES), "not all were overheard")
        for message in ("OFPT_FLOW_MOD", "OFPT_GROUP_MOD", "OFPT_METER_MOD"):
            assert heard(found, message) == []
