"""Every recorded decision is made again from what it saw, after a round trip through text.

The stage checks that for every decision of every test that uses it (tests/support/laws.py); here is what
recomputation says when something is not as it was.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adon.broker.decision import Decision, Outcome
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, Encoder, parts_of
from adon.broker.recompute.differences import ABSENT, Difference, differences
from adon.broker.recompute.encoded import digest
from adon.broker.recompute.seen import Placed, Snapshot
from adon.config.policy import LadderPolicy
from measurement.model import Metric
from tests.support.factories import make_alarm
from tests.support.network_factories import make_configuration
from tests.support.scenes import cut_al2s, make_wide_configuration, submit_on_al2s
from tests.support.stage import MU_EDGE, Stage, know, make_stage


def steps(stage: Stage) -> list[str]:
    return [one.seen.step.kind for one in stage.snapshots]


def test_admission_and_queue() -> None:
    stage = make_stage()
    stage.submit()
    stage.submit(qspec={"throughput": {"min": "50 Mbps"}}, priority=1)
    assert steps(stage) == ["placed", "placed"]
    assert [one.outcome for one in stage.saved.decisions] == [Outcome.ADMIT, Outcome.QUEUE]


def test_one_in_the_place_of_another() -> None:
    stage = make_stage(al2s=10.0, internet=1.0)
    stage.submit(qspec={"throughput": {"min": "7 Mbps"}}, priority=100)
    stage.submit(qspec={"throughput": {"min": "7 Mbps"}}, priority=900)
    assert steps(stage)[1:] == ["displaced", "placed"]
    last = stage.saved.decisions[-1]
    assert (last.outcome, last.code) == (Outcome.ADMIT, "preempts")


def test_worker_nodes_that_others_hold_are_not_free() -> None:
    read = make_configuration()
    small = {name: site.model_copy(update={"worker_nodes": 3}) for name, site in read.compute.items()}
    stage = make_stage(read.model_copy(update={"compute": small}))
    names = [stage.submit(qspec={"throughput": {"min": "1 Mbps"}}).number for _ in range(6)]
    steps = [one.seen.step for one in stage.snapshots if isinstance(one.seen.step, Placed)]
    free = [[one.free.nodes for one in step.regarded.sites if one.free is not None] for step in steps]
    assert len(names) == len(free)
    assert sum(filter(None, free[0])) > sum(filter(None, free[-1]))
    assert {one.code for one in stage.saved.decisions if one.outcome is Outcome.QUEUE} == {"no-site"}


def test_those_who_flee_together() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    submit_on_al2s(stage, 4)
    know(stage, internet=20.0)
    before = len(stage.snapshots)
    cut_al2s(stage)
    assert steps(stage)[before:].count("expelled") == 4
    exoduses = {
        json.loads(one.text)["step"]["exodus"] for one in stage.encoded[before:] if "exodus" in one.text
    }
    assert len(exoduses) == 1, "what all of them saw is kept once"


def test_an_alarm_and_what_it_waives() -> None:
    stage = make_stage()
    stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    stage.alarm(make_alarm(stage.now, "a-1", "al2s", Metric.THROUGHPUT, critical=True))
    assert steps(stage)[-1] == "looked"
    assert stage.saved.decisions[-1].alarm == "a-1"


@pytest.mark.parametrize("mode", ["meters", "queues", "auto"])
def test_the_queue_ladder_grants_the_same_again(mode: str) -> None:
    stage = make_stage(make_configuration(ladder=LadderPolicy.model_validate({"mode": mode})))
    for _ in range(3):
        stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    assert stage.saved.decisions[0].granted is not None


def test_a_flow_with_rates_of_its_own() -> None:
    stage = make_stage()
    flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for _ in range(15):  # the counters are read every 5 s: the test lies between two readings
        stage.pass_time(1)
        stage.carry(flow, 600_000)
    stage.measure("al2s", 0.5)
    own = [one.seen.own for one in stage.snapshots if one.seen.own is not None]
    assert any(rates.during is not None and rates.latest is not None for rates in own)


# -- what is kept ---------------------------------------------------------------------------------------


def test_what_has_not_changed_is_kept_once() -> None:
    stage = make_stage()
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
        stage = make_stage()
        stage.submit()
        texts.append(stage.encoded[-1].text)
    assert texts[0] == texts[1]


def test_a_snapshot_is_of_the_moment_and_not_of_what_came_later() -> None:
    stage = make_stage()
    stage.submit()
    (snapshot,) = stage.snapshots
    text = Encoder().encode(snapshot).text
    stage.measure("al2s", 1.0)
    stage.submit()
    stage.change_port(MU_EDGE, "mu-edge-al2s", None)
    stage.pass_time(100)
    assert Encoder().encode(snapshot).text == text


# -- what differs ---------------------------------------------------------------------------------------


def admitted() -> tuple[Stage, Decision, Snapshot]:
    stage = make_stage()
    stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    return stage, stage.saved.decisions[-1], stage.snapshots[-1]


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
