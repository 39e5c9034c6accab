"""A preview is what a request that follows at once is decided to be, and nothing comes of it."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.decision import Decision
from adon.broker.effects import Answer, Effect, SaveDecision
from adon.broker.events import Event, FlowSubmitted, PreviewAsked
from adon.broker.flow import FlowState
from adon.config.policy import LadderPolicy
from adon.errors import AdonError, InvalidInput
from measurement.model import from_json, to_json
from tests.broker.queueing.scenes import EIGHT, full, why
from tests.depth import DEPTH
from tests.support.factories import make_request
from tests.support.histories import NAMES, RATES, STEPS, TEMPLATES, Scene
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, make_stage

WISH = {"source": "mu-dtn", "destination": "osu-dtn", "size": "100 MB", "template": "soykb", "ports": [9000]}


def preview(stage: Stage, by: str = "ann", **fields: Any) -> Any:
    return stage.command(PreviewAsked, make_request(**{**WISH, **fields}), by)


def _without_names(decision: Decision) -> Decision:
    return dataclasses.replace(decision, id="", flow="", cause="")


# -- it is what is decided ------------------------------------------------------------------------------


class Foreseeing:
    """A broker that tries each request before it takes it, beside one that does not."""

    def __init__(self, *about: Any, **more: Any) -> None:
        self.one, self.other = Broker(*about, **more), Broker(*about, **more)
        self.previews = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.one, name)

    @property
    def both(self) -> tuple[Broker, Broker]:
        return self.one, self.other

    def handle(self, event: Event) -> list[Effect]:
        foreseen = self.foreseen(event) if isinstance(event, FlowSubmitted) else None
        effects, expected = self.one.handle(event), self.other.handle(event)
        assert [_said(one) for one in effects] == [_said(one) for one in expected], "it left something behind"
        if foreseen is not None:
            self.compare(foreseen, effects)
        return effects

    def foreseen(self, event: FlowSubmitted) -> Any:
        asked = PreviewAsked(f"p-{event.id}", event.at, "p", event.request, event.requester)
        (answer,) = self.one.handle(asked)
        assert isinstance(answer, Answer)
        return answer.value

    def compare(self, foreseen: Any, effects: list[Effect]) -> None:
        (answer,) = (one.value for one in effects if isinstance(one, Answer))
        if isinstance(answer, AdonError):
            assert str(foreseen) == str(answer)
            return
        self.previews += 1
        told = from_json(Decision, foreseen["decision"])
        mine = [one.decision for one in effects if isinstance(one, SaveDecision)]
        made = next(one for one in mine if one.flow == answer.id)  # type: ignore[union-attr]
        assert _without_names(told) == _without_names(from_json(Decision, to_json(made)))
        others = {one.flow: one.path for one in mine if one.flow != answer.id}  # type: ignore[union-attr]
        assert {one["flow"]: one["to"] for one in foreseen["pushed"]} == others


def _said(effect: Effect) -> object:
    refused = isinstance(effect, Answer) and isinstance(effect.value, AdonError)
    return (effect.cause, str(effect.value)) if refused else effect  # type: ignore[attr-defined]


# A history that follows from a number does not become simpler with a smaller one: nothing is shrunk.
@settings(
    max_examples=10 * DEPTH,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(seed=st.integers(0, 10**9), haste=st.sampled_from([0.3, 0.8, 1.0]))
def test_a_request_that_follows_at_once_is_decided_as_foreseen(seed: int, haste: float) -> None:
    """The histories of test_watch.py, with requests of all sorts in between."""
    chance = random.Random(seed)
    scene = Scene(Foreseeing)
    scene.know({name: chance.choice(RATES) for name in NAMES})
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=60):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()
        if chance.random() < 0.4:
            scene.ask(chance.choice(TEMPLATES).name, **_wishes(chance))
    assert scene.broker.previews


def _wishes(chance: random.Random) -> dict[str, Any]:
    wishes: dict[str, Any] = {
        "priority": chance.choice([1, 400, 900]),
        "weights": {"throughput": chance.random() + 0.1, "rtt": chance.random()},
        "size": chance.choice(["1 GB", "1 TB", "30 TB"]),
        "deadline": chance.choice(["2 s", "1 h", "20 h"]),
        "not_before": "10 min",
        "qspec": {"throughput": {"min": chance.choice(["1 Gbps", "20 Gbps", "80 Gbps"])}},
        "template": chance.choice(["nobody", "far"]),
    }
    return {name: value for name, value in wishes.items() if chance.random() < 0.25}


# -- nothing comes of it --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"priority": 999, "qspec": EIGHT},
        {"qspec": EIGHT},
        {"not_before": "1 h", "deadline": "3 h", "size": "1 GB"},
        {"not_before": "1 h", "deadline": "61 min", "size": "90 GB"},
        {"weights": {"loss": 1}},
        {"source": "nowhere"},
    ],
)
def test_a_preview_has_no_effect_but_its_answer(fields: dict[str, Any]) -> None:
    graded = make_stage(make_configuration(ladder=LadderPolicy.model_validate({"mode": "meters"})))
    graded.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for stage in (full()[0], graded):
        preview(stage, "bob", label="fills what is only there to be quick")
        request = make_request(**{**WISH, **fields})
        before = stage.snapshot()
        for _ in range(2):
            effects = stage.feed(PreviewAsked(*stage.stamp(), "c", request, "ann"))
            assert [type(effect) for effect in effects] == [Answer]
        assert stage.snapshot() == before


# -- what it tells --------------------------------------------------------------------------------------


def test_one_that_gets_a_path() -> None:
    stage = make_stage()
    told = preview(stage, qspec={"throughput": {"min": "6 Mbps"}})
    assert (told["decision"]["outcome"], told["decision"]["path"]) == ("admit", "al2s")
    assert told["waits_for"] == []
    assert told["forecast"]["low"] <= told["forecast"]["expected"] <= told["forecast"]["high"]
    assert told["pushed"] == told["replaced"] == []


def test_one_that_waits_is_told_what_it_is_told_when_it_does() -> None:
    stage, _, _ = full()
    told = preview(stage, qspec=EIGHT)
    waiting = stage.submit(ports=[9000], qspec=EIGHT)
    assert waiting.state is FlowState.QUEUED
    later = why(stage, waiting)
    assert told["waits_for"] == later["waits_for"] != []


def test_whose_place_it_would_take() -> None:
    stage = make_stage(al2s=10.0, internet=1.0)
    first = stage.submit(qspec={"throughput": {"min": "7 Mbps"}}, priority=100)
    told = preview(stage, qspec={"throughput": {"min": "7 Mbps"}}, priority=900)
    assert told["decision"]["outcome"] == "admit"
    (pushed,) = told["pushed"]
    assert (pushed["flow"], pushed["path"], pushed["to"]) == (first.id, "al2s", None)
    assert stage.flow(first).path == "al2s"


def test_one_that_reserves() -> None:
    stage = make_stage()
    told = preview(stage, not_before="1 h", qspec={"throughput": {"min": "10 Mbps"}}, size="1 GB")
    later = stage.submit(
        ports=[9000], not_before="1 h", qspec={"throughput": {"min": "10 Mbps"}}, size="1 GB"
    )
    assert later.booking is not None
    assert told["booking"] == {
        "path": later.booking.path,
        "rate": later.booking.rate,
        "begins": later.booking.begins,
        "ends": later.booking.ends,
    }
    assert told["waits_for"] == [f"reserved: {later.booking.words}"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"source": "nowhere"}, "source"), ({"template": "nobody"}, "template"), ({"ports": [5001]}, "ports")],
)
def test_what_would_be_refused_is_refused(fields: dict[str, Any], field: str) -> None:
    stage = make_stage()
    stage.submit(ports=[5001])
    with pytest.raises(AdonError) as told:
        preview(stage, **fields)
    with pytest.raises(AdonError) as refused:
        stage.submit(**{"ports": [9000], **fields})
    assert str(told.value) == str(refused.value)
    assert field in str(told.value.problems if isinstance(told.value, InvalidInput) else told.value)


def test_weights_decide_as_in_a_request() -> None:
    """Sliders: the same two paths, one better by throughput and the other by delay."""
    stage = make_stage(internet=40.0)
    for path, rtt in (("al2s", 0.09), ("internet", 0.002)):
        stage.measure(path, rtt=rtt)
    found = [
        preview(
            stage,
            qspec={"throughput": {"min": "1 Mbps"}, "rtt": {"max": "100 ms"}},
            weights={"throughput": 1.0, "rtt": weight},
        )["decision"]
        for weight in (0.001, 100.0)
    ]
    assert [one["path"] for one in found] == ["al2s", "internet"]
