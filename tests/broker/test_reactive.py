"""Unannounced connections: what is taken, what is refused and remembered, and what bounds both."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from adon import yamlfile
from adon.broker import reactive
from adon.broker.reactive import MAX_REMEMBERED, SETTLE_S, Packet, Reactive, Refused, Taken
from adon.config import Configuration
from adon.config.policy import Policy, ReactiveEntry
from adon.errors import InvalidInput
from adon.flowvisor.topology.path import FiveTuple
from adon.flowvisor.topology.topology import Topology
from tests.support.network_factories import NETWORK, make_slice, make_sliced_configuration
from tests.support.refusals import refused
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage

NOW = 1_000_000.0
ENTRY: dict[str, Any] = {"template": "soykb", "flowspace": [{"protocols": ["tcp"], "ports": ["5000-5999"]}]}


def entries(*fields: dict[str, Any]) -> tuple[ReactiveEntry, ...]:
    return tuple(ReactiveEntry.model_validate({**ENTRY, **one}) for one in fields or ({},))


def topology_of(stage: Stage) -> Topology:
    """Return the network of a stage with all switches connected."""
    topology = Topology(stage.configuration)
    for dpid, ports in stage.ports.items():
        topology = topology.switch_up(dpid, ports)
    return topology


class Door:
    """A stage with both switches connected, and the reactive part beside it."""

    def __init__(self, *fields: dict[str, Any], slices: dict[str, Any] | None = None) -> None:
        self.stage = Stage(make_sliced_configuration(slices, reactive=entries(*fields)))
        self.stage.connect()
        self.reactive = Reactive(self.stage.configuration)

    def knock(self, port: int = 5001, now: float = NOW, **fields: Any) -> Taken | Refused | None:
        values = {
            "dpid": MU_EDGE,
            "in_port": 1,
            "source": "10.1.0.10",
            "destination": "10.2.0.10",
            "tuple": FiveTuple(6, port, 40_000),
        }
        packet = Packet(**{**values, **fields})
        return self.reactive.decide(packet, topology_of(self.stage), self.stage.catalog, now)


def refusal(found: Taken | Refused | None) -> str:
    assert isinstance(found, Refused)
    return found.reason


def test_by_default_nothing_is_taken() -> None:
    """R18."""
    assert Policy().reactive == ()
    stage = Stage()
    stage.connect()
    door = Reactive(stage.configuration)
    packet = Packet(MU_EDGE, 1, "10.1.0.10", "10.2.0.10", FiveTuple(6, 5001, 40_000))
    found = door.decide(packet, topology_of(stage), stage.catalog, NOW)
    assert "no entry" in refusal(found)


def test_a_matching_connection_becomes_a_request_that_passes_as_any_other() -> None:
    door = Door({"size": "2 GB"})
    found = door.knock()
    assert isinstance(found, Taken)
    request = found.request
    assert (request.source, request.destination, request.ports) == ("mu-dtn", "osu-dtn", (5001,))
    assert (request.template, request.size, found.requester) == ("soykb@1", 2 * 10**9, "reactive")
    flow = door.stage.submit(by=found.requester, ports=list(request.ports))
    assert flow.requester == "reactive"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"port": 6000}, "no entry of policy.reactive"),
        ({"tuple": FiveTuple(17, 5001, 40_000)}, "no entry of policy.reactive"),
        ({"source": "192.0.2.1"}, "no host of this network"),
        ({"destination": "192.0.2.1"}, "no host of this network"),
        ({"in_port": 2}, "does not hang there"),
        ({"dpid": OSU_EDGE}, "does not hang there"),
    ],
)
def test_what_is_refused_is_refused_once_and_not_looked_at_again_for_a_while(
    fields: dict[str, Any], words: str
) -> None:
    door = Door()
    found = door.knock(**fields)
    assert words in refusal(found)
    assert isinstance(found, Refused)
    assert door.knock(**fields, now=found.until - 0.1) is None
    assert words in refusal(door.knock(**fields, now=found.until))


def test_the_next_packets_of_a_connection_that_was_taken_wait_for_its_rules() -> None:
    door = Door()
    assert isinstance(door.knock(), Taken)
    assert door.knock(now=NOW + SETTLE_S - 0.1) is None
    assert isinstance(door.knock(now=NOW + SETTLE_S), Taken)


def test_the_first_entry_that_has_it_decides() -> None:
    wide, narrow = {"flowspace": [{}], "requester": "wide"}, {"requester": "narrow"}
    found = Door(narrow, wide).knock(), Door(wide, narrow).knock()
    assert [one.requester for one in found if isinstance(one, Taken)] == ["narrow", "wide"]


@pytest.mark.parametrize(
    ("fields", "knock", "words"),
    [
        ({"template": "unheard-of"}, {}, "unheard-of"),
        ({"template": "rivvir"}, {}, "is for udp"),
        ({"flowspace": [{}]}, {"port": 0}, "0 is no port"),
    ],
)
def test_an_entry_that_cannot_serve_refuses(
    fields: dict[str, Any], knock: dict[str, Any], words: str
) -> None:
    assert words in refusal(Door(fields).knock(**knock))


def test_the_slice_is_asked_first() -> None:
    slices = {"genomics": make_slice(7, "5000-5499", who="reactive")}
    door = Door({"slice": "genomics"}, slices=slices)
    taken = door.knock(5001)
    assert isinstance(taken, Taken)
    assert taken.request.slice == "genomics"
    assert "'genomics'" in refusal(door.knock(5500))


def test_no_more_than_so_many_a_minute() -> None:
    door = Door({"per_minute": 2})
    kinds = [type(door.knock(5001 + n, now=NOW + n)) for n in range(3)]
    assert kinds == [Taken, Taken, Refused]
    assert door.knock(5003, now=NOW + 59) is None
    assert isinstance(door.knock(5003, now=NOW + 60), Taken)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reactive, "MAX_REMEMBERED", 8)
    door = Door()
    for number in range(30):
        door.knock(source=f"192.0.2.{number}")
    assert len(door.reactive) == 8 < MAX_REMEMBERED


def test_an_entry_for_a_slice_needs_a_member() -> None:
    body = yaml.safe_load(NETWORK.read_text())
    body["slices"] = {"genomics": make_slice(7, 5000).model_dump(mode="json", exclude_none=True)}
    for name, field in (("genomics", "requester"), ("x", "slice")):
        body["policy"]["reactive"] = [{**ENTRY, "slice": name}]
        with refused(InvalidInput, f"policy.reactive.0.{field}"):
            yamlfile.parse_model(yaml.safe_dump(body), Configuration, "net.yaml")
