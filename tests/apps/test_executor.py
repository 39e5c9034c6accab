from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest

from adon.broker.decision import Outcome
from adon.broker.effects import (
    Announce,
    Answer,
    Effect,
    EstimateScored,
    MonitoringChanged,
    OrderJob,
    QuietPaths,
    ReadRules,
    RequestMeasurement,
    RuleState,
    SaveDecision,
    SaveFlow,
    SaveJob,
    SaveOutcome,
    SaveRules,
    SaveSnapshot,
    SaveTemplate,
    SendBatch,
    SendFirefly,
    SendPacket,
    ShapesChanged,
    WakeAt,
    Watching,
)
from adon.broker.events import SnapshotAsked
from adon.broker.flow import FlowState
from adon.broker.recompute.seen import Seen, Snapshot
from adon.errors import Unavailable
from apps.campus_edge.executor import Executor
from measurement.model import Metric, Observation, PathKey, from_json
from measurement.sites import codec as sites_codec
from measurement.sites.model import JobOrder, Shape
from tests.broker.sites.values import job
from tests.store.values import an_outcome
from tests.support.factories import make_decision, make_flow

EVENT = SnapshotAsked("e-1", 1000.0, "c-1")
TEMPLATE: Any = object()
FLOW, DECISION = make_flow(state=FlowState.ACTIVE), make_decision(outcome=Outcome.MOVE)
SAVE = SaveFlow("e-1", FLOW)
RULES = SaveRules("e-1", (), RuleState.PENDING)
SEND = SendBatch("e-1", 0xA01, "f-1/1", ())
SAY = Announce("e-1", "info", "flow-active", "something happened", "f-1")
ANSWER = Answer("e-1", "c-1", {"a": 1})


class World:
    """A store, switches and peers that write down what happened, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.told: list[tuple[str, dict[str, object], str | None]] = []
        self.breaks_on = ""
        self.durable: list[bool] = []

    def note(self, what: str) -> None:
        if what == self.breaks_on:
            raise Unavailable("the disk is full")
        self.log.append(what)

    # the store
    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        self.durable.append(durable)
        self.note("begin")
        yield
        self.note("commit")

    def save_flow(self, *_: object) -> None:
        self.note("flow")

    def save_decision(self, *_: object) -> None:
        self.note("decision")

    def save_job(self, _: object) -> None:
        self.note("job")

    def save_outcome(self, *_: object) -> None:
        self.note("outcome")

    def save_rules(self, *_: object) -> None:
        self.note("rules")

    def save_template(self, _template: object, author: str, _at: float) -> None:
        self.note(f"template by {author}")

    # the switches
    def send_batch(self, _: object) -> None:
        self.note("send")

    def read_rules(self, _: object) -> None:
        self.note("read")

    def send_packet(self, effect: SendPacket) -> None:
        self.note(f"packet {effect.data!r}")

    def read_counters(self, _: object) -> None:
        self.note("read counters")

    # the commands
    def author(self, _: str) -> str:
        return "eve"

    def remember(self, *_: object) -> None:
        self.note("remember")

    def answer(self, _: object) -> None:
        self.note("answer")

    def tell(self, kind: str, body: dict[str, object], role: str | None) -> None:
        if kind != "changed":  # tested on its own
            self.note(f"tell {kind}")
        self.told.append((kind, body, role))


def carry_out(world: World, *effects: Effect) -> None:
    anything: Any = world
    Executor(anything, anything, anything, world.tell, lambda _: None).carry_out(EVENT, effects)


CASES: dict[str, tuple[list[Effect], list[str]]] = {
    "saves are one transaction": (
        [SAVE, RULES, SaveDecision("e-1", DECISION)],
        ["begin", "flow", "rules", "decision", "commit"],
    ),
    "a switch is told after the commit": ([SAVE, RULES, SEND], ["begin", "flow", "rules", "commit", "send"]),
    "all saves of an event are one transaction, before all messages": (
        [SAVE, SEND, RULES, SEND],
        ["begin", "flow", "rules", "commit", "send", "send"],
    ),
    "announcements wait for the commit": (
        [SAY, SAVE, SAY],
        ["begin", "flow", "commit", "tell announce", "tell announce"],
    ),
    "announcements come last": (
        [SAY, SAVE, SEND, SAY, RULES],
        ["begin", "flow", "rules", "commit", "send", "tell announce", "tell announce"],
    ),
    "an announcement alone needs no commit": ([SAY], ["tell announce"]),
    "an answer is kept with the saves, and given after them": (
        [SAVE, ANSWER],
        ["begin", "flow", "remember", "commit", "answer"],
    ),
    "an answer alone is not kept": ([ANSWER], ["answer"]),
    "a template is saved with its author": (
        [SaveTemplate("e-1", TEMPLATE)],
        ["begin", "template by eve", "commit"],
    ),
    "the order is the order of the effects": (
        [ReadRules("e-1", 1), SEND, QuietPaths("e-1", frozenset({"b", "a"})), WakeAt("e-1", 5.0)],
        ["read", "send", "tell quiet"],
    ),
    "a packet": ([SendPacket("e-1", 1, 2, b"frame"), SAY], ["packet b'frame'", "tell announce"]),
}


@pytest.mark.parametrize("case", CASES)
def test_order(case: str) -> None:
    effects, expected = CASES[case]
    world = World()
    carry_out(world, *effects)
    assert world.log == expected


DURABLE: dict[str, tuple[list[Effect], bool]] = {
    "a running flow moved": ([SAVE, SaveDecision("e-1", DECISION), RULES, SEND], False),
    "how far rules came": ([RULES], False),
    "somebody is told": ([SAVE, ANSWER], True),
    "a flow begins": ([SaveFlow("e-1", make_flow(state=FlowState.INSTALLING)), RULES], True),
    "a flow ends": ([SaveFlow("e-1", make_flow(state=FlowState.FINISHED)), RULES], True),
    "a flow is admitted": ([SAVE, SaveDecision("e-1", make_decision())], True),
    "one moves for another that begins": (
        [SAVE, SaveFlow("e-1", make_flow(number=2, state=FlowState.INSTALLING))],
        True,
    ),
    "a template": ([SaveTemplate("e-1", TEMPLATE)], True),
}


@pytest.mark.parametrize("case", DURABLE)
def test_what_a_power_failure_may_take_back(case: str) -> None:
    effects, durable = DURABLE[case]
    world = World()
    carry_out(world, *effects)
    assert world.durable == [durable]


@pytest.mark.parametrize("breaks_on", ["begin", "flow", "rules", "commit"])
def test_nobody_hears_of_what_could_not_be_saved(breaks_on: str) -> None:
    world = World()
    world.breaks_on = breaks_on
    with pytest.raises(Unavailable):
        carry_out(world, SAVE, SAY, RULES, SEND, ANSWER)
    assert not {"send", "answer", "tell announce"} & set(world.log)


def test_an_unknown_effect_is_a_bug() -> None:
    @dataclass(frozen=True, slots=True)
    class Dance(Effect):
        """Nobody taught the executor this one."""

    with pytest.raises(TypeError, match="Dance"):
        carry_out(World(), Dance("e-1"))


def test_the_collector_is_told_what_to_watch() -> None:
    world = World()
    watches = (Watching("mu", "host", 5.0),)
    carry_out(world, MonitoringChanged("e-1", watches, frozenset({("mu", "host.load_1m")})))
    assert world.told == [
        (
            "monitor",
            {
                "watches": [{"site": "mu", "metric": "host", "period": 5.0}],
                "series": [["mu", "host.load_1m"]],
            },
            "collector",
        )
    ]


def test_who_is_told_what() -> None:
    world = World()
    carry_out(world, SAY, QuietPaths("e-1", frozenset({"b", "a"})))
    quiet, announce = world.told
    assert announce == (
        "announce",
        {
            "at": 1000.0,
            "cause": "e-1",
            "level": "info",
            "code": "flow-active",
            "text": "something happened",
            "flow": "f-1",
        },
        "web",
    )
    assert quiet == ("quiet", {"paths": ["a", "b"]}, "collector")


def test_what_the_collector_is_asked_and_told() -> None:
    world = World()
    key = PathKey("al2s", "mu", "osu")
    scored = Observation(
        key, "estimate.throughput_error", 0.2, 1000.0, "decision:d-1", "adon", {"flow": "f-1"}
    )
    carry_out(world, RequestMeasurement("e-1", key, Metric.LOSS, "alarm a-1"), EstimateScored("e-1", scored))
    (measure, asked, asked_of), (observation, told, told_to) = world.told
    assert (measure, asked_of, observation, told_to) == ("measure", "collector", "observation", "collector")
    assert asked == {
        "key": {"path": "al2s", "source": "mu", "destination": "osu"},
        "metric": "loss",
        "reason": "alarm a-1",
        "cause": "e-1",
    }
    assert from_json(Observation, told) == scored


def test_a_name_cannot_forge_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        carry_out(
            World(), Announce("e-1", "warning", "flow-ended", "cancelled by ann\n2026 INFO event=all-is-well")
        )
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert record.levelname == "WARNING"


def test_a_firefly_goes_to_the_collector_that_is_configured() -> None:
    world, sent = World(), list[bytes]()
    anything: Any = world
    executor = Executor(anything, anything, anything, world.tell, lambda _: None)
    executor.firefly = sent.append
    executor.carry_out(EVENT, [SAVE, SendFirefly("e-1", b"<134>1")])
    assert (world.log, sent) == (["begin", "flow", "commit"], [b"<134>1"])


def test_a_job_is_saved_before_the_collector_hears_of_it() -> None:
    world, asked = World(), job(3, arguments=("chr1",))
    shapes = (Shape(2, 8),)
    order = OrderJob("e-1", asked.order())
    carry_out(world, ShapesChanged("e-1", shapes), order, SaveJob("e-1", asked))
    assert world.log == ["begin", "job", "commit", "tell shapes", "tell job"]
    (_, told_shapes, _), (_, told_order, role) = world.told
    assert sites_codec.shapes_from_json(told_shapes) == shapes
    assert from_json(JobOrder, told_order) == asked.order()
    assert role == "collector"


def test_what_decisions_saw_is_kept_when_all_else_is_done() -> None:
    world, snapshot = World(), Snapshot("d-1", cast(Seen, None))
    anything: Any = world
    executor = Executor(anything, anything, anything, world.tell, lambda _: None)
    executor.remember = lambda snapshots: world.note(f"remember {[one.decision for one in snapshots]}")
    executor.carry_out(EVENT, [SAVE, SaveSnapshot("e-1", snapshot), RULES, SEND, SAY, ANSWER])
    assert world.log[-1] == "remember ['d-1']"
    assert world.log.index("send") < world.log.index("tell announce")


def test_an_outcome_is_saved_with_the_flow_that_left_it() -> None:
    world = World()
    carry_out(world, SAVE, SaveOutcome("e-1", an_outcome()), SEND)
    assert world.log == ["begin", "flow", "outcome", "commit", "send"]
    assert world.durable == [True]
