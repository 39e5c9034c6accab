"""What is declared wrongly is refused with its name; what is right gives what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mininet_topos.topologies.campus_topo import CampusTopo, Circuit
from tests.mininet_topos.topologies.declarations import Declare, pair, topo_of
from tests.mininet_topos.topologies.forwarding import Walk

RATED: dict[str, Any] = {"switches": ["lab"], "dtns": {"d1": None, "d2": "lab"}}


def rated(topo: CampusTopo) -> None:
    topo.circuit("nic", "d1", "one-edge", rate=20, delay=0.001)
    topo.circuit("up", "one-edge", "lab")
    topo.circuit("patch", "lab", "d2", port_names=("desk", "eth"))


def circuit(*arguments: Any, **options: Any) -> Declare:
    return lambda topo: topo.circuit(*arguments, **options) and None


def path(*arguments: Any, **options: Any) -> Declare:
    return lambda topo: topo.transit_path(*arguments, **options) and None


def loop(topo: CampusTopo) -> None:
    for name, one, other in (("l1", "one-edge", "o-a"), ("l2", "o-a", "o-b"), ("l3", "o-b", "one-edge")):
        topo.circuit(name, one, other)


REFUSED = [
    # Ranges of what is built.
    ("circuits.line.rate", pair(line={"rate": 0.09})),
    ("circuits.line.rate", pair(line={"rate": 1001})),
    ("circuits.line.rate", pair(line={"goodput": 1000})),
    ("circuits.line.rate", pair(line={"rate": float("nan")})),
    ("circuits.line.delay", pair(line={"rate": 1, "delay": 1.1})),
    ("circuits.line.loss", pair(line={"rate": 1, "loss": 1.0})),
    ("circuits.line.queue", pair(line={"rate": 1, "queue": 0})),
    ("circuits.line", pair(line={"rate": 1, "goodput": 1})),
    # Names.
    ("an-edge-of-mine", pair(one={"edge": "an-edge-of-mine"})),
    ("x", pair(more=lambda topo: topo.router("x"))),
    ("lo", pair(more=lambda topo: topo.router("lo"))),
    ("all", pair(one={"edge": "all"})),
    ("tr1", pair(more=lambda topo: topo.router("tr1"))),
    ("line", pair(more=lambda topo: topo.router("line"))),
    ("two-dtn", pair(one={"dtns": ["two-dtn"]})),
    ("o-lab", pair(one={"switches": ["o-lab", "o-lab"]})),
    ("circuits.line.port_names", pair(line={"rate": 1, "port_names": ("a-longer-name", None)})),
    # Circuits.
    ("circuits.line", pair(ends=("tr1", "tr3"))),
    ("circuits.line", pair(ends=("tr1", "core"))),
    ("circuits.line", pair(ends=("one-dtn", "tr2"))),
    ("circuits.second", pair(more=circuit("second", "tr2", "tr1"))),
    ("circuits.loop", pair(more=circuit("loop", "one-edge", "one-edge"))),
    ("circuits.spare", pair(more=circuit("spare", "one-edge", "tr2"))),
    ("circuits.one-tr", pair(overlay=())),
    # Campuses.
    ("campuses.one.dtns", pair(one={"dtns": []})),
    ("campuses.one.dtns.d1", pair(one={"dtns": {"d1": "tr1"}})),
    ("campuses.one", pair(one={"switches": ["o-lab"]})),
    ("circuits.l3", pair(one={"switches": ["o-a", "o-b"]}, more=loop)),
    ("campuses.one", pair(one={"dtns": [f"d{number:03}" for number in range(244)]})),
    # Paths.
    ("paths.al2s", pair(overlay=("one", "tr1", "tr9", "two"))),
    ("paths.al2s", pair(overlay=("one", "tr1", "tr2"))),
    ("paths.al2s", pair(overlay=("one", "tr1", "tr2", "one"))),
    ("paths.al2s", pair(overlay=("one", "tr2", "two"))),
    ("paths.al2s", pair(overlay=("one", "tr1", "tr2", "tr1", "tr2", "two"))),
    ("paths.al2s", pair(overlay=("one", "core", "two"))),
    ("paths.al2s", pair(line={})),
    ("paths.internet", pair(routed=("one", "tr1", "two"))),
    ("paths.other.layer", pair(more=path("other", 4, ["one", "core", "two"]))),
    ("paths.al2s", pair(more=path("al2s", 2, ["one", "tr1", "tr2", "two"]))),
]


@pytest.mark.parametrize(("field", "declare"), REFUSED)
def test_what_cannot_be_built_is_refused_with_its_name(field: str, declare: Declare) -> None:
    with pytest.raises(ValueError, match=rf"^{field}:"):
        topo_of(declare)


def test_a_router_with_two_ways_to_a_campus_is_refused() -> None:
    def declare(topo: CampusTopo) -> None:
        topo.campus("one")
        topo.campus("two", routers=["two-rtr", "two-rtr2"])
        topo.router("core", "west", "east")
        for name, one, other in (
            ("one-co", "one-rtr", "core"),
            ("co-we", "core", "west"),
            ("co-ea", "core", "east"),
            ("we-two", "west", "two-rtr"),
            ("ea-two", "east", "two-rtr2"),
        ):
            topo.circuit(name, one, other, rate=1)
        topo.transit_path("over-west", 3, ["one", "core", "west", "two"])
        topo.transit_path("over-east", 3, ["one", "core", "east", "two"])

    with pytest.raises(ValueError, match=r"^paths\.over-east:"):
        topo_of(declare)


def test_each_path_of_layer_2_has_its_own_vlan() -> None:
    def more(topo: CampusTopo) -> None:
        topo.transit_path("a", 2, ["one", "tr1", "tr2", "two"])

    vlans = {name: one.vlan for name, one in topo_of(pair(more=more)).paths.items()}
    assert vlans == {"a": 1701, "al2s": 1702, "internet": None}


def test_what_a_path_gives_follows_from_its_circuits() -> None:
    paths = topo_of(pair()).paths
    overlay, routed = paths["al2s"], paths["internet"]
    assert (overlay.capacity, overlay.delay, overlay.loss) == (100e6, 0.005, 0)
    assert overlay.goodput == pytest.approx(100e6 * 1448 / 1518)
    assert (routed.goodput, routed.delay) == pytest.approx((8e6, 0.001))
    assert routed.capacity == pytest.approx(8e6 * 1514 / 1448)
    assert routed.loss == pytest.approx(1 - 0.99 * 0.98)


def test_a_scale_divides_rates_and_nothing_else() -> None:
    small, full = topo_of(pair(), 10), topo_of(pair())
    assert small.scale == 10
    for one, other in zip(small.circuits.values(), full.circuits.values(), strict=True):
        if one.shape is None:
            assert other.shape is None
            continue
        assert one.shape.rate == pytest.approx(other.shape.rate / 10)
        assert replace(one.shape, rate=other.shape.rate) == other.shape


def test_ports_lead_to_dtns_behind_several_switches() -> None:
    """The circuit that is nearer to the edge is declared last."""

    def more(topo: CampusTopo) -> None:
        topo.circuit("low", "o-low", "o-mid")
        topo.circuit("mid", "o-mid", "one-edge")

    one = {"switches": ["o-low", "o-mid"], "dtns": {"d1": None, "d2": "o-low"}}
    assert topo_of(pair(one=one, more=more)).campuses["one"].ports == {
        "d1": "one-edge-d1",
        "d2": "one-edge-o-mid",
        "one-rtr": "one-edge-rtr",
        "o-low": "one-edge-o-mid",
        "o-mid": "one-edge-o-mid",
    }


def names(its: Circuit) -> list[str]:
    """Return the names of its interfaces, in the order of declaration."""
    return [end.name for end in its.interfaces.values()]


def test_circuits_to_dtns() -> None:
    topo = topo_of(pair(one=RATED, more=rated))
    nic, patch = topo.circuits["nic"], topo.circuits["patch"]
    assert (nic.shape.rate, nic.shape.delay, names(nic)) == (20e6, 0.001, ["d1-data", "one-edge-d1"])
    assert [end.name for end in nic.shaped] == ["nic-one-edge", "nic-d1"]
    assert (names(patch), patch.shape) == (["lab-desk", "d2-eth"], None)
    ports = topo.campuses["one"].ports
    assert (ports["d1"], ports["d2"]) == ("one-edge-d1", "one-edge-lab")


def test_path_has_the_port_that_a_later_circuit_names() -> None:
    class Named(CampusTopo):
        def describe(self) -> None:
            pair()(self)
            self.circuit("lan", "one-edge", "one-rtr", port_names=("exit", None))

    assert Named(scale=1.0).paths["internet"].edge_ports["one"] == "one-edge-exit"


def test_paths_deliver_to_every_dtn() -> None:
    topo = topo_of(pair(one=RATED, more=rated))
    walk = Walk(topo)
    for each in topo.paths:
        for near in ("d1", "d2"):
            there = walk.passed(each, near, "two-dtn")
            assert there == walk.passed(each, "two-dtn", near)[::-1]


@pytest.mark.parametrize(
    ("dtns", "paths", "last"),
    [
        (2, 2, "10.1.0.20"),
        (9, 23, "10.1.0.110"),  # 30 for the first
        (24, 2, "10.1.0.240"),
        (26, 2, "10.1.0.37"),  # no room for multiples of 10
        (243, 2, "10.1.0.254"),
        (1, 244, "10.1.0.10"),
    ],
)
def test_as_many_dtns_and_measured_paths_as_there_are_addresses(dtns: int, paths: int, last: str) -> None:
    def more(topo: CampusTopo) -> None:
        for number in range(paths - 2):
            topo.transit_path(f"p{number}", 2, ["one", "tr1", "tr2", "two"])

    one = {"dtns": [f"d{number:03}" for number in range(dtns)]}
    topo = topo_of(pair(one=one, more=more))
    held = [dtn.address for dtn in topo.campuses["one"].dtns.values()]
    assert held[-1] == last
    every = [*held, *(path.addresses["one"] for path in topo.paths.values())]
    assert len(set(every)) == dtns + paths
    assert all(10 <= int(address.rpartition(".")[2]) <= 254 for address in every)
