"""What switches say that they can do, and what the broker makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.flow import FlowState
from adon.config import Configuration
from adon.config.policy import LadderPolicy
from adon.flowvisor.rules.pipeline import Pipeline
from adon.flowvisor.rules.rule import GroupEntry, MeterEntry
from adon.flowvisor.rules.switch_features import (
    PortQueue,
    SwitchFeatures,
    TableCapacity,
    find_missing_features,
    merge_features,
    pipeline_needs,
)
from adon.values import FrozenMap
from tests.support.factories import ALL_GROUPS, FIELDS, make_features
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know


def staged(**policy: Any) -> Configuration:
    read = make_configuration(**policy)
    switches = {n: s.model_copy(update={"pipeline": "staged"}) for n, s in read.switches.items()}
    return read.model_copy(update={"switches": FrozenMap(switches)})


def stage(read: Configuration, mu: SwitchFeatures | None, osu: SwitchFeatures | None = None) -> Stage:
    made = Stage(read)
    made.switches[MU_EDGE].features, made.switches[OSU_EDGE].features = mu, osu
    made.connect()
    know(made, al2s=58.0, internet=6.5)
    return made


def lacking_of(made: Stage, dpid: int) -> Any:
    """Return what a switch is shown to lack."""
    return next(one["lacks"] for one in made.snapshot()["switches"] if int(one["dpid"], 16) == dpid)


STAGED = Pipeline(staged=True, table_offset=1)


@pytest.mark.parametrize(
    ("pipeline", "features", "missing"),
    [
        (Pipeline(), make_features(1), []),
        (STAGED, make_features(4), []),
        (STAGED, make_features(3), ["table_offset"]),
        (Pipeline(staged=True), make_features(2), ["pipeline"]),
        (Pipeline(), make_features(1, fields=FIELDS - {"metadata"}), []),
        (Pipeline(staged=True), make_features(3, fields=FIELDS - {"metadata"}), ["table 1", "table 2"]),
        (Pipeline(), make_features(1, fields=FIELDS - {"tp_dst"}), ["table 0"]),
        (STAGED, SwitchFeatures(4, 254), []),
    ],
)
def test_pipeline_requires_tables_and_their_match_fields(
    pipeline: Pipeline, features: SwitchFeatures, missing: list[str]
) -> None:
    reasons = find_missing_features(pipeline, features, pipeline_needs(pipeline))
    assert [reason.partition(": ")[0] for reason in reasons] == missing


def test_what_was_not_asked_again_is_as_it_was() -> None:
    known = make_features(2, queues=FrozenMap({2: (PortQueue(1),)}))
    again = SwitchFeatures(4, 2, FrozenMap({0: TableCapacity(17)}), queues=FrozenMap())
    found = merge_features(known, again)
    assert found.tables == {0: TableCapacity(17, 1_000_000, FIELDS), 1: TableCapacity(0, 1_000_000, FIELDS)}
    assert (found.groups, found.meters, found.queues) == (ALL_GROUPS, 1000, {})


@pytest.mark.parametrize("lacking", [make_features(2), make_features(3, fields=FIELDS - {"metadata"})])
def test_a_switch_that_cannot_hold_our_rules_gets_no_new_flow_and_says_why(lacking: SwitchFeatures) -> None:
    made = stage(staged(), make_features(), lacking)
    flow = made.submit()
    made.expect(flow, state="queued", why=dict.fromkeys(("al2s", "internet"), "switch-unfit"))
    lacks = lacking_of(made, OSU_EDGE)
    assert len(made.announcements("switch-limited")) == len(lacks) > 0
    made.pass_time(200.0)  # it is asked again, and nothing is said twice
    assert len(made.announcements("switch-limited")) == len(lacks)


def test_rules_that_are_there_stay_and_a_flow_waits_until_the_switch_can() -> None:
    made = stage(staged(), make_features(), make_features())
    first = made.submit()
    held = made.installed(OSU_EDGE)
    made.switches[OSU_EDGE].features = make_features(2)
    made.disconnect(OSU_EDGE)
    made.connect(OSU_EDGE)
    assert made.flow(first).state is FlowState.ACTIVE
    assert made.installed(OSU_EDGE) == held
    second = made.submit()
    assert second.state is FlowState.QUEUED
    made.switches[OSU_EDGE].features = make_features()  # another mode, after a restart of the switch
    made.disconnect(OSU_EDGE)
    made.connect(OSU_EDGE)
    assert made.flow(second).state is FlowState.ACTIVE


def test_groups_only_where_the_switch_has_fast_failover() -> None:
    made = stage(staged(), make_features(groups=FrozenMap({"all": 8})), make_features())
    groups = {entry.dpid for entry in made.installed() if isinstance(entry, GroupEntry)}
    assert groups == {OSU_EDGE}
    assert made.submit().state is FlowState.ACTIVE


def test_a_switch_that_does_not_answer_is_believed_to_have_groups() -> None:
    made = stage(staged(), None)
    assert {entry.dpid for entry in made.installed() if isinstance(entry, GroupEntry)} == {MU_EDGE, OSU_EDGE}


@pytest.mark.parametrize(
    ("features", "by"),
    [
        (make_features(queues=FrozenMap({2: (PortQueue(1), PortQueue(2), PortQueue(3))})), "queue"),
        (make_features(queues=FrozenMap({3: (PortQueue(1),)})), "meter"),
        (make_features(), "meter"),
        (make_features(meters=0), "nothing"),
        (None, "nothing"),
    ],
)
def test_the_ladder_uses_what_the_switch_has(features: SwitchFeatures | None, by: str) -> None:
    made = stage(make_configuration(ladder=LadderPolicy(mode="auto")), features)
    flow = made.submit()
    assert flow.granted is not None
    assert flow.granted.by == by
    held = [entry for entry in made.installed(MU_EDGE) if isinstance(entry, MeterEntry)]
    assert len(held) == (by == "meter")


def test_queues_that_the_operator_has_not_made_are_named() -> None:
    made = stage(make_configuration(ladder=LadderPolicy(mode="queues")), make_features(queues=FrozenMap()))
    made.submit()
    made.pass_time(61.0)
    (line,) = lacking_of(made, MU_EDGE)
    assert line.startswith("queues: ")
    made.switches[MU_EDGE].features = make_features(queues=FrozenMap({2: (PortQueue(1),)}))
    made.pass_time(61.0)
    assert lacking_of(made, MU_EDGE) == []


def test_a_table_that_says_how_much_it_holds_is_a_limit() -> None:
    made = stage(make_configuration(), make_features(most=8))
    states = [made.submit().state for _ in range(3)]
    assert states == [FlowState.ACTIVE, FlowState.QUEUED, FlowState.QUEUED]
    assert {one.code for one in made.saved.decisions[-1].candidates} == {"no-rule-space"}
