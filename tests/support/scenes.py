"""Flows on the example network for several tests: what they need, where they are, what fails."""

from __future__ import annotations

from typing import Any

from adon.broker.flow import Flow
from adon.config import Configuration
from adon.flowvisor.topology.network_graph import PortState
from adon.values import FrozenMap
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, Stage, know, make_stage

SIX: dict[str, Any] = {"qspec": {"throughput": {"min": "6 Mbps"}}}
SEVEN: dict[str, Any] = {"qspec": {"throughput": {"min": "7 Mbps"}}}


def make_wide_configuration(mbps: float = 20.0, **policy: Any) -> Configuration:
    """Return the example network with an internet path of this capacity."""
    read = make_configuration(**policy)
    internet = read.paths["internet"].model_copy(update={"capacity": mbps * 1e6})
    return read.model_copy(update={"paths": FrozenMap({**read.paths, "internet": internet})})


def submit_on_al2s(stage: Stage, count: int, **fields: Any) -> list[Flow]:
    """Submit flows that all get the path al2s."""
    flows = [stage.submit(**{**SEVEN, **fields}) for _ in range(count)]
    assert {flow.path for flow in flows} == {"al2s"}
    return flows


def cut_al2s(stage: Stage, *, live: bool = False) -> None:
    """Take the carrier of al2s away, or give it back (``live``)."""
    stage.change_port(MU_EDGE, "mu-edge-al2s", PortState(2, live))


def current_paths(stage: Stage, flows: list[Flow]) -> list[str | None]:
    """Return where each flow is now."""
    return [stage.flow(flow).path for flow in flows]


def make_crowded_stage(**policy: Any) -> tuple[Stage, Any]:
    """Return a stage on which a low flow of many streams fills layer 2, and that flow."""
    stage = make_stage(make_configuration(**policy))
    low = stage.submit(priority=100, streams=12, qspec={"throughput": {"min": "6 Mbps"}})
    assert low.path == "al2s"
    stage.pass_time(20)
    know(stage, al2s=4.5, internet=6.5)
    return stage, low


def transfer(stage: Stage, flow: Flow, seconds: int, mbps: float) -> None:
    """Carry bytes of a flow at one rate for so many seconds."""
    for _ in range(seconds):
        stage.pass_time(1)
        stage.carry(flow, int(mbps * 1e6 / 8))
