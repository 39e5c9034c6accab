"""``adon path trace``: what the switches hold, told as a packet's way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adon.broker.question import Question
from adon.broker.tracing import traced
from adon.errors import InvalidInput, NotFound, Unavailable
from adon.flowvisor.match import Match
from adon.flowvisor.rule import Rule
from tests.broker.stage import MU_EDGE, Stage, ready
from tests.flowvisor.fake_switch import Held

ASKED = Question("mu-dtn", "osu-dtn", port=5001)


def trace(stage: Stage, question: Question = ASKED) -> Any:
    return json.loads(json.dumps(traced(stage.broker.world, question), allow_nan=False))


def test_a_flow_is_followed_and_each_rule_says_why_it_is_there() -> None:
    stage = ready()
    flow = stage.submit(ports=[5001])
    found = trace(stage)
    assert [end["text"] for end in found["ends"]] == ["delivered: to osu-dtn"]
    assert found["paths"] == [flow.path]
    steps = [step for leg in found["legs"] for step in leg["steps"]]
    assert [step["owner"] for step in steps] == [flow.id, flow.id]
    assert steps[0]["why"].startswith(f"flow {flow.id} of ")
    back = trace(stage, Question("osu-dtn", "mu-dtn", port=40_000, source_port=5001))
    assert back["paths"] == [flow.path]


def test_what_is_nobody_s_is_dropped_and_what_is_somebody_else_s_is_said() -> None:
    stage = ready()
    assert [end["fate"] for end in trace(stage)["ends"]] == ["dropped"]
    alien = Rule(MU_EDGE, 50_000, Match(in_port=1), (), 0x5ADC15C0)
    stage.switches[MU_EDGE].table[alien.slot] = Held(alien)
    stage.sync()
    (end,) = trace(stage)["ends"]
    assert end["fate"] == "foreign"
    (step,) = trace(stage)["legs"][0]["steps"]
    assert (step["owner"], step["rule"]) == (None, "table=0, priority=50000,in_port=1")


def test_a_port_that_went_down_is_where_the_packet_stops() -> None:
    stage = ready()
    flow = stage.submit(ports=[5001])
    topology = stage.broker.world.network.topology
    ports = dict(topology.ports[MU_EDGE])
    out = stage.output_of(flow)
    name = next(name for name, port in ports.items() if port.number == out)
    stage.broker.world.network.topology = topology.port_changed(
        MU_EDGE, name, replace(ports[name], live=False)
    )
    assert [end["fate"] for end in trace(stage)["ends"]] == ["unreachable"]


@pytest.mark.parametrize(
    ("question", "error"),
    [
        (replace(ASKED, source="nobody"), NotFound),
        (replace(ASKED, version=6), InvalidInput),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(question: Question, error: type[Exception]) -> None:
    with pytest.raises(error):
        trace(ready(), question)


def test_before_a_switch_told_its_ports_nothing_can_be_said() -> None:
    with pytest.raises(Unavailable):
        trace(Stage())
