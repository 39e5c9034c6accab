"""Policies of the simulator's told of real traffic by hand, and what becomes of their orders."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from adon.errors import Unavailable
from adon.simulation.policies import RejectTransfer, RunTest, TransferSubmitted, UsePath, WakeUp
from apps.experiments.deciding import Decided, Given, Refused
from apps.experiments.driving import Driven
from apps.experiments.kept import KeptPaths
from measurement.model import Metric
from tests.apps.experiments.loopback import file, network, trials
from tests.support.refusals import refused

(TRIAL,) = trials(
    file(
        "[{flow: a, template: soykb, from: mu, to: osu, size: 100 MB}, "
        "{flow: b, template: soykb, from: osu, to: mu, size: 100 MB, rate: 1 Gbps, deadline: 5 s}]"
    )
)
A, B = TRIAL.flows
NETWORK = network()
DECIDED = Decided("a", at=1_000_010.0)


@dataclass
class Sight:
    now: float = 1_000_010.0
    began_at: float = 1_000_000.0

    def received(self, flow):
        return {"a": 500, "b": 7}[flow]

    def stalled(self, flow):
        return 1.5


@dataclass
class Told:
    """A policy that does what it is told to do, and notes what happened."""

    answers: list = field(default_factory=list)
    name: str = "told"
    quiet: frozenset = frozenset()
    wake_at: float | None = None
    happened_: list = field(default_factory=list)
    views: list = field(default_factory=list)

    def decide(self, what, view):
        self.happened_.append(what)
        self.views.append((view.now, [path.name for path in view.between("mu", "osu")], view.sent(1)))
        return self.answers.pop(0) if self.answers else ()


def driven(policy, measure=None):
    words = []
    kept = KeptPaths(lambda *told: words.append(told) or "", NETWORK, lambda: 77.0)
    return Driven(policy, NETWORK, kept, Sight(), lambda flow: flow.size, measure), words


def test_a_request_is_told_and_its_path_is_kept_by_rules():
    policy = Told([[UsePath(1, "internet")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    (asked,) = policy.happened_
    assert isinstance(asked, TransferSubmitted)
    transfer = asked.transfer
    assert (transfer.source, transfer.destination, transfer.size) == ("mu", "osu", 1_000_000)
    assert policy.views == [(10.0, ["al2s", "internet"], 500.0)]
    assert list(decider.look()) == [Given("a", "internet", 77.0), DECIDED]
    assert len(words) == 4
    assert all("tp_dst=5001" in word[-1] or "tp_src=5001" in word[-1] for word in words)
    assert list(decider.look()) == []


def test_one_without_a_path_yet_waits_and_is_given_one_later():
    policy = Told([(), [UsePath(1, "al2s")]], wake_at=11.0)
    decider, _ = driven(policy)
    decider.ask(A, 5001)
    assert list(decider.look()) == [DECIDED]
    decider._sight.now += 2
    policy.answers = [[UsePath(1, "al2s")]]
    assert list(decider.look()) == [Given("a", "al2s", 77.0)]
    assert isinstance(policy.happened_[-1], WakeUp)
    assert [(row.outcome, row.path) for row in decider.decisions(3)] == [("queue", None), ("admit", "al2s")]


def test_a_flow_that_is_refused_is_never_carried():
    policy = Told([[RejectTransfer(1, "too large")], [UsePath(1, "al2s")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    assert list(decider.look()) == [Refused("a", "too large"), DECIDED]
    decider.measured([])
    assert words == []
    assert [row.outcome for row in decider.decisions(1)] == ["reject"]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ([UsePath(1, "nowhere")], "nowhere"),
        ([UsePath(9, "al2s")], "9"),
        (["al2s"], "al2s"),
        (7, "TypeError"),
        ([UsePath([1], "al2s")], "number=[1]"),
        ([UsePath(1, ["al2s"])], "path=['al2s']"),
        ([RejectTransfer(1, None)], "reason=None"),
        ([RunTest("al2s", Metric.LOSS)], "RunTest"),
    ],
)
def test_what_a_policy_gets_wrong_is_said_with_its_name(answer, shown):
    decider, _ = driven(Told([answer]), lambda key, _test: key.path)
    with refused("policy-failed") as caught:
        decider.ask(A, 5001)
    assert "told: " in str(caught.error)
    assert shown in str(caught.error)


def test_what_the_network_cannot_do_is_not_the_policy_s():
    def dead(*_words):
        raise Unavailable("a switch cannot be told")

    kept = KeptPaths(dead, NETWORK, lambda: 77.0)
    decider = Driven(Told([[UsePath(1, "al2s")]]), NETWORK, kept, Sight(), lambda flow: flow.size, None)
    with pytest.raises(Unavailable):
        decider.ask(A, 5001)
