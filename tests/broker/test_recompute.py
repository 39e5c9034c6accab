"""Every recorded decision is made again from what it saw, after a round trip through text.

The stage (tests/broker/stage.py) checks that for every decision of every test that uses it; here are random
histories on more paths, and what recomputation says when something is not as it was.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.decision import Decision, Outcome
from adon.broker.effects import Effect, SaveDecision, SaveSnapshot
from adon.broker.events import Event
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, Encoder, parts_of
from adon.broker.recompute.differences import ABSENT, Difference, differences
from adon.broker.recompute.encoded import digest
from adon.broker.recompute.seen import Placed, Snapshot
from adon.config import LadderPolicy
from measurement.model import Metric
from tests.broker import alarming
from tests.broker.scene import NAMES, TEMPLATES, Scene
from tests.broker.stage import MU_EDGE, Stage, configuration, know, ready
from tests.broker.test_fleeing import cut, on_al2s, wide
from tests.broker.test_watch import RATES, STEPS
from tests.depth import DEPTH


class Recording:
    """A broker whose decisions are made again as soon as they are recorded."""

    def __init__(self, *about: Any, **more: Any) -> None:
        self.one = self.other = Broker(*about, **more)
        self.parts: dict[str, str] = {}
        self.encoder, self.decoder = Encoder(), Decoder(self.parts.__getitem__)
        self.snapshots: list[tuple[Decision, Snapshot]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.one, name)

    def handle(self, event: Event) -> list[Effect]:
        effects = self.one.handle(event)
        made = {each.decision.id: each.decision for each in effects if isinstance(each, SaveDecision)}
        seen = {each.snapshot.decision: each.snapshot for each in effects if isinstance(each, SaveSnapshot)}
        assert list(made) == list(seen), "each decision has what it saw"
        for name, snapshot in seen.items():
            encoded = self.encoder.encode(snapshot)
            self.parts |= encoded.parts
            assert differences(made[name], decided_again(self.decoder.decode(encoded.text))) == ()
            self.snapshots.append((made[name], snapshot))
        return effects


@settings(max_examples=10 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), haste=st.sampled_from([0.3, 0.8, 1.0]))
def test_whatever_happened_each_decision_is_made_again(seed: int, haste: float, tmp_path: Path) -> None:
    """The histories of test_watch.py: results, flows, counters, refusals, ports, clocks that are set back."""
    chance = random.Random(seed)
    scene = Scene(tmp_path, Recording)
    scene.know({name: chance.choice(RATES) for name in NAMES})
    for kind in TEMPLATES * 2:
        scene.submit(kind.name)
        scene.settle()
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=100):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()
    assert scene.broker.snapshots


def steps(stage: Stage) -> list[str]:
    return [one.seen.step.kind for one in stage.snapshots]


def test_admission_and_queue() -> None:
    stage = ready()
    stage.submit()
    stage.submit(qspec={"throughput": {"min": "50 Mbps"}}, priority=1)
    assert steps(stage) == ["placed", "placed"]
    assert [one.outcome for one in stage.decisions] == [Outcome.ADMIT, Outcome.QUEUE]


def test_one_in_the_place_of_another() -> None:
    stage = ready(al2s=10.0, internet=1.0)
    stage.submit(qspec={"throughput": {"min": "7 Mbps"}}, priority=100)
    stage.submit(qspec={"throughput": {"min": "7 Mbps"}}, priority=900)
    assert steps(stage)[1:] == ["displaced", "placed"]
    assert stage.decisions[-1].outcome is Outcome.ADMIT
    assert "in the place of" in stage.decisions[-1].reason


def test_worker_nodes_that_others_hold_are_not_free() -> None:
    read = configuration()
    small = {name: site.model_copy(update={"worker_nodes": 3}) for name, site in read.compute.items()}
    stage = ready(read.model_copy(update={"compute": small}))
    names = [stage.submit(qspec={"throughput": {"min": "1 Mbps"}}).number for _ in range(6)]
    steps = [one.seen.step for one in stage.snapshots if isinstance(one.seen.step, Placed)]
    free = [[one.free.nodes for one in step.regarded.sites if one.free is not None] for step in steps]
    assert len(names) == len(free)
    assert sum(filter(None, free[0])) > sum(filter(None, free[-1]))
    waits = [one.reason for one in stage.decisions if one.outcome is Outcome.QUEUE]
    assert all("no compute site can take it" in reason for reason in waits)
    assert waits


def test_those_who_flee_together() -> None:
    stage = ready(wide(), internet=0)
    on_al2s(stage, 4)
    know(stage, internet=20.0)
    before = len(stage.snapshots)
    cut(stage)
    assert steps(stage)[before:].count("expelled") == 4
    exoduses = {
        json.loads(one.text)["step"]["exodus"] for one in stage.encoded[before:] if "exodus" in one.text
    }
    assert len(exoduses) == 1, "what all of them saw is kept once"


def test_an_alarm_and_what_it_waives() -> None:
    stage = ready()
    stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    stage.alarm(alarming.alarm(stage.now, "a-1", "al2s", Metric.THROUGHPUT, critical=True))
    assert steps(stage)[-1] == "looked"
    assert stage.decisions[-1].alarm == "a-1"


@pytest.mark.parametrize("mode", ["meters", "queues", "auto"])
def test_the_queue_ladder_grants_the_same_again(mode: str) -> None:
    stage = ready(configuration(ladder=LadderPolicy.model_validate({"mode": mode})))
    for _ in range(3):
        stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    assert stage.decisions[0].granted is not None


def test_a_flow_with_rates_of_its_own() -> None:
    stage = ready()
    flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for _ in range(15):  # the counters are read every 5 s: the test lies between two readings
        stage.pass_time(1)
        stage.carry(flow, 600_000)
    stage.measure("al2s", 0.5)
    own = [one.seen.own for one in stage.snapshots if one.seen.own is not None]
    assert any(rates.during is not None and rates.latest is not None for rates in own)


# -- what is kept ---------------------------------------------------------------------------------------


def test_what_has_not_changed_is_kept_once() -> None:
    stage = ready()
    stage.submit()
    first = stage.encoded[-1]
    assert len(first.parts) == 5, "two paths, template, topology, configuration"
    stage.submit()
    assert dict(stage.encoded[-1].parts) == {}
    stage.pass_time(1)
    stage.measure("al2s", 50.0)
    stage.submit()
    new = [name for one in stage.encoded[2:] for name in one.parts]
    assert len(new) == 1, "what is known of one path"
    assert parts_of(stage.encoded[-1].text) != parts_of(first.text)


def test_text_is_the_same_for_the_same_thing() -> None:
    texts = []
    for _ in range(2):
        stage = ready()
        stage.submit()
        texts.append(stage.encoded[-1].text)
    assert texts[0] == texts[1]


def test_a_snapshot_is_of_the_moment_and_not_of_what_came_later() -> None:
    stage = ready()
    stage.submit()
    (snapshot,) = stage.snapshots
    text = Encoder().encode(snapshot).text
    stage.measure("al2s", 1.0)
    stage.submit()
    stage.port(MU_EDGE, "mu-edge-al2s", None)
    stage.pass_time(100)
    assert Encoder().encode(snapshot).text == text


# -- what differs ---------------------------------------------------------------------------------------


def admitted() -> tuple[Stage, Decision, Snapshot]:
    stage = ready()
    stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    return stage, stage.decisions[-1], stage.snapshots[-1]


def test_another_input_makes_another_decision_and_the_field_is_named() -> None:
    _, recorded, snapshot = admitted()
    known = snapshot.seen.paths[0]
    slower = tuple(
        replace(result, value=1e6) if result.metric is Metric.THROUGHPUT else result
        for result in known.results
    )
    seen = replace(snapshot.seen, paths=(replace(known, results=slower), *snapshot.seen.paths[1:]))
    fields = {one.field: one for one in differences(recorded, decided_again(replace(snapshot, seen=seen)))}
    assert {"path", "reason", "candidates.0.verdict"} <= set(fields)
    assert (fields["path"].recorded, fields["path"].again) == ("al2s", "internet")
    value = next(one for one in fields.values() if one.field.startswith("candidates.0.metrics"))
    assert value.recorded != value.again


def test_a_part_that_was_tampered_with_is_refused() -> None:
    _, _, snapshot = admitted()
    encoded = Encoder().encode(snapshot)
    name = parts_of(encoded.text)[0]
    parts = {**encoded.parts, name: encoded.parts[name].replace("58000000", "59000000")}
    assert digest(parts[name]) != name
    with pytest.raises(ValueError, match=name[:12]):
        Decoder(parts.__getitem__).decode(encoded.text)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"decision": "d-1"}'])
def test_what_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the kind of error is the contract
        Decoder(lambda _: "").decode(text)


def test_what_only_one_of_two_records_has() -> None:
    _, recorded, _ = admitted()
    shorter = replace(recorded, candidates=recorded.candidates[:1], reason="another")
    found = differences(recorded, shorter)
    assert Difference("reason", recorded.reason, "another") in found
    assert [one.again for one in found if one.field == "candidates.1"] == [ABSENT]
    assert differences(recorded, recorded) == ()
