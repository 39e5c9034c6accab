"""What Prometheus is told (R25): each name is there, and moves when it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adon.broker.events import UnannouncedPackets
from adon.config import fingerprint, load
from adon.config.policy import ReactiveEntry
from adon.errors import InvalidInput
from adon.store.lease import CONTROLLER
from apps.configuration_reload import Reloading
from apps.link import SUPERVISOR, LinkClient, LinkServer, Peer
from apps.rest.services import NAME
from tests.apps.edge import NETWORK, eventually
from tests.flowvisor.frames import frame
from tests.support.factories import make_features
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE

DPID = 'dpid="0000000000000a01"'


def figures(world: Any) -> dict[str, float]:
    """Every sample of the metrics, by its name with its labels."""
    lines = world.ask("GET", "/metrics").text.splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


def changed(world: Any, before: dict[str, float]) -> dict[str, float]:
    now = figures(world)
    return {name: value - before.get(name, 0.0) for name, value in now.items() if value != before.get(name)}


def test_the_network(world: Any) -> None:
    slices = {"genomics": make_slice(7, 5001, 5002, 5003, 5004, who="researcher")}
    world.start_controller(make_sliced_configuration(slices))
    stage, low = world.stage, {"throughput": {"min": "1 Mbps"}}
    stage.switches[MU_EDGE].features = make_features(most=2000)
    stage.disconnect(MU_EDGE)
    stage.connect(MU_EDGE)
    for _ in range(4):
        world.submit(slice="genomics", qspec=low)
    before = figures(world)
    stage.pass_time(30)
    stage.delete_by_hand(stage.rules_in(OSU_EDGE)[0], reported=False)
    stage.sync()
    stage.silence(MU_EDGE)
    stage.port_down(MU_EDGE, "mu-edge-al2s")
    stage.now += 0.2
    stage.answer_late()
    found = figures(world)
    reserved = 'adon_slice_reserved_bps{destination="osu",path="al2s",slice="genomics",source="mu"}'
    assert before[reserved] == 4e6
    expected = {
        f"adon_of_connected{{{DPID}}}": 1,
        f'adon_table_active{{{DPID},table="0"}}': 0,
        f'adon_table_max{{{DPID},table="0"}}': 2000,
        f"adon_switch_lacks{{{DPID}}}": 0,
        'adon_links{state="live"}': 0,
        f'adon_slice_rules{{{DPID},slice="genomics"}}': 12,
        'adon_failover_seconds_bucket{le="0.5"}': 1,
        "adon_failover_seconds_sum": pytest.approx(0.2),
        "adon_failover_seconds_count": 1,
        "adon_failovers_open": 0,
        "adon_reconcile_missing_total": 1,
        "adon_reconcile_extra_total": 0,
        "adon_reconcile_wrong_total": 0,
        "adon_reconcile_blocked_total": 0,
        'adon_maintenance_windows{stage="announced"}': 0,
    }
    assert {name: found.get(name) for name in expected} == expected


def test_messages_with_switches(world: Any) -> None:
    tally, before = world.controller.tally, figures(world)
    tally.count_sent(7)
    tally.count_refusal("OFPET_METER_MOD_FAILED(12) OFPMMFC_OUT_OF_METERS(10)")
    tally.packet_in("port_rate")
    tally.barrier(0.003)
    error = 'code="OFPMMFC_OUT_OF_METERS(10)",type="OFPET_METER_MOD_FAILED(12)"'
    moved = changed(world, before)
    assert moved["adon_of_flowmods_sent_total"] == 7
    assert moved[f"adon_of_errors_total{{{error}}}"] == 1
    assert moved['adon_of_packet_in_total{result="port_rate"}'] == 1
    assert moved["adon_of_barrier_seconds_count"] == 1
    assert moved["adon_of_barrier_seconds_sum"] == pytest.approx(0.003)


def test_unannounced_connections(world: Any) -> None:
    reactive = {"template": "soykb", "slice": "genomics", "flowspace": [{"ports": [5002]}]}
    slices = {"genomics": make_slice(7, 5001, who="reactive")}
    entry = ReactiveEntry.model_validate(reactive)
    world.start_controller(make_sliced_configuration(slices, reactive=(entry,)))
    before = figures(world)
    world.controller.tally.count_admitted(connections=3, packets=5)
    packets = tuple((1, frame(port, 5002)) for port in (40_001, 40_002))
    world.stage.feed(UnannouncedPackets(*world.stage.stamp(), MU_EDGE, packets))
    moved = changed(world, before)
    assert moved["adon_of_flowmods_sent_total"] == 3
    results = {"connection_admitted": 3, "packet_released": 5, "packet_refused": 2}
    assert {each: moved[f'adon_unannounced_total{{result="{each}"}}'] for each in results} == results


def test_rules_and_flows_by_state(world: Any) -> None:
    before = figures(world)
    world.submit()
    moved = changed(world, before)
    assert moved['adon_rules{state="installed"}'] == 6
    assert moved['adon_flows{state="active"}'] == 1
    assert moved["adon_flows_submitted_total"] == 1


def test_maintenance_windows_and_the_active_controller(world: Any) -> None:
    window = {
        "scope": "path",
        "name": "al2s",
        "begins": "2025-10-09T12:00:00Z",
        "ends": "2025-10-09T13:00:00Z",
    }
    assert world.ask("POST", "/maintenance", json=window).status_code == 201
    before = figures(world)
    assert before['adon_maintenance_windows{stage="announced"}'] == 1
    assert "adon_controller_generation" not in before
    lease = world.controller.store.take_lease(CONTROLLER, "edge-1", 0.0)
    now = figures(world)
    assert now["adon_controller_generation"] == lease.generation
    assert now['adon_controller_active{name="edge-1"}'] == 1
    world.stop_controller()
    assert figures(world)['adon_controller_active{name="edge-1"}'] == 0


def test_the_configuration_by_the_supervisor(world: Any, tmp_path: Path) -> None:
    assert not [name for name in figures(world) if name.startswith("adon_config")]
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK.read_text())
    reloading = Reloading(file, tmp_path, load(file), lambda: 1000.0)

    def answer(peer: Peer, kind: str, told: dict[str, Any]) -> None:
        if kind == "standing":
            peer.answer(told["command"], reloading.standing())

    server = LinkServer(tmp_path / SUPERVISOR, answer)
    link = LinkClient(tmp_path / SUPERVISOR, "web")
    try:
        eventually(lambda: link.connected)
        world.app.extensions[NAME] = replace(world.app.extensions[NAME], supervisor=link)
        before = figures(world)
        assert before[f'adon_config_hash_info{{hash="{fingerprint(load(file))}"}}'] == 1
        assert before["adon_config_last_success_timestamp_seconds"] == 1000.0
        file.write_text(file.read_text().replace("reserve_nodes: 1", "reserve_nodes: 2"))
        reloading.reload()
        running = load(file)
        file.write_text("network: [")
        with pytest.raises(InvalidInput):
            reloading.reload()
        moved = changed(world, before)
        assert moved == {
            f'adon_config_hash_info{{hash="{fingerprint(running)}"}}': 1,
            'adon_config_reloads_total{result="applied"}': 1,
            'adon_config_reloads_total{result="refused"}': 1,
        }
    finally:
        link.close()
        server.close()
