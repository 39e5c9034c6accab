"""Policies of the simulator's told of real traffic by hand, and what becomes of their orders."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from adon.errors import Unavailable
from adon.moments import time_text
from adon.simulation.policy import (
    Finished,
    Measure,
    Measured,
    Pause,
    PortsSeen,
    Refuse,
    Submitted,
    Take,
    Woken,
)
from apps.experiments.deciding import Decided, Given, Refused
from apps.experiments.driving import Driven, PolicyFailed
from apps.experiments.kept import KeptPaths
from measurement.model import Metric, PathKey
from mininet_topos.carrying import Delivered
from tests.apps.experiments.loopback import file, network, trials

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
    wake: float | None = None
    happened_: list = field(default_factory=list)
    views: list = field(default_factory=list)

    def happened(self, what, view):
        self.happened_.append(what)
        self.views.append((view.now, [path.name for path in view.between("mu", "osu")], view.sent(1)))
        return self.answers.pop(0) if self.answers else ()


def driven(policy, measure=None):
    words = []
    kept = KeptPaths(lambda *told: words.append(told) or "", NETWORK, lambda: 77.0)
    return Driven(policy, NETWORK, kept, Sight(), lambda flow: flow.size, measure), words


def test_a_request_is_told_and_its_path_is_kept_by_rules():
    policy = Told([[Take(1, "internet")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    (asked,) = policy.happened_
    assert isinstance(asked, Submitted)
    transfer = asked.transfer
    assert (transfer.source, transfer.destination, transfer.size) == ("mu", "osu", 1_000_000)
    assert policy.views == [(10.0, ["al2s", "internet"], 500.0)]
    assert list(decider.look()) == [Given("a", "internet", 77.0), DECIDED]
    assert len(words) == 4
    assert all("tp_dst=5001" in word[-1] or "tp_src=5001" in word[-1] for word in words)
    assert list(decider.look()) == []


def test_one_without_a_path_yet_waits_and_is_given_one_later():
    policy = Told([(), [Take(1, "al2s")]], wake=11.0)
    decider, _ = driven(policy)
    decider.ask(A, 5001)
    assert list(decider.look()) == [DECIDED]
    decider._sight.now += 2
    policy.answers = [[Take(1, "al2s")]]
    assert list(decider.look()) == [Given("a", "al2s", 77.0)]
    assert isinstance(policy.happened_[-1], Woken)
    assert [(row.outcome, row.path) for row in decider.decisions(3)] == [("queue", None), ("admit", "al2s")]


def test_what_happens_is_told_in_the_policy_s_own_time():
    policy = Told([[Take(1, "al2s")], [Take(2, "internet")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    decider.ask(B, 5002)
    result = {
        "path": "al2s",
        "source": "mu",
        "destination": "osu",
        "metric": "rtt",
        "value": 0.01,
        "started_at": time_text(1_000_004.0),
        "observed_at": time_text(1_000_005.0),
        "origin": "x",
        "tool": "ping",
    }
    decider.measured([result, {**result, "metric": "host.memory"}])
    decider.ports(NETWORK.path("al2s"), live=False)
    decider.ended("a", Delivered(received=10))
    measured, ports, finished = policy.happened_[-3:]
    assert isinstance(measured, Measured)
    assert (measured.measurement.started_at, measured.measurement.observed_at) == (4.0, 5.0)
    assert isinstance(ports, PortsSeen)
    assert (ports.path.name, ports.live) == ("al2s", False)
    assert isinstance(finished, Finished)
    assert policy.happened_[1].transfer.deadline == 15.0
    assert policy.happened_[1].transfer.ceiling == 1e7
    assert [word[0] for word in words[-2:]] == ["del-flows", "del-flows"]


def test_a_path_that_it_takes_again_is_no_decision():
    policy = Told([[Take(1, "al2s"), Take(1, "al2s")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    assert len(words) == 4
    assert len(decider.decisions(1)) == 1


def test_a_flow_that_is_refused_is_never_carried():
    policy = Told([[Refuse(1, "too large")], [Take(1, "al2s")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    assert list(decider.look()) == [Refused("a", "too large"), DECIDED]
    decider.measured([])
    assert words == []
    assert [row.outcome for row in decider.decisions(1)] == ["reject"]


def test_what_is_withdrawn_is_over_to_the_policy_and_is_given_no_path_later():
    policy = Told([(), (), [Take(1, "al2s")]])
    decider, words = driven(policy)
    decider.ask(A, 5001)
    decider.withdrawn("a")
    assert isinstance(policy.happened_[-1], Finished)
    decider.ports(NETWORK.path("al2s"), live=True)
    assert list(decider.look()) == [DECIDED]
    assert words == []


def test_what_was_given_a_path_before_it_is_withdrawn_leaves_no_rules():
    decider, words = driven(Told([[Take(1, "al2s")]]))
    decider.ask(A, 5001)
    decider.withdrawn("a")
    assert [word[0] for word in words[-2:]] == ["del-flows", "del-flows"]


def test_what_it_refused_is_not_over_once_more_when_it_is_withdrawn():
    policy = Told([[Refuse(1, "too large")]])
    decider, _ = driven(policy)
    decider.ask(A, 5001)
    decider.withdrawn("a")
    assert len(policy.happened_) == 1


def test_a_test_that_it_wants_is_asked_for():
    asked = []
    policy = Told([[Measure(PathKey("al2s", "mu", "osu"), Metric.LOSS)]])
    decider, _ = driven(policy, lambda key, test: asked.append((key.path, test)))
    decider.ask(A, 5001)
    assert asked == [("al2s", "latency")]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([Take(1, "nowhere")], "policy told: 'nowhere' does not lead from mu to osu"),
        ([Take(9, "al2s")], "policy told: there is no transfer 9"),
        (["al2s"], "policy told: 'al2s' is no order"),
        (7, "policy told: TypeError"),
        ([Take([1], "al2s")], r"policy told: Take\(number=\[1\], path='al2s'\): unhashable type"),
        ([Take(1, ["al2s"])], "policy told: Take.*: unhashable type"),
        ([Refuse(1, None)], r"policy told: Refuse\(number=1, why=None\) does not say why in words"),
        ([Measure("al2s", Metric.LOSS)], "policy told: Measure.*: 'str' object has no attribute 'path'"),
    ],
)
def test_what_a_policy_gets_wrong_is_said_with_its_name(answer, said):
    decider, _ = driven(Told([answer]), lambda key, _test: key.path)
    with pytest.raises(PolicyFailed, match=said):
        decider.ask(A, 5001)


def test_a_policy_that_raises_is_named():
    class Broken(Told):
        def happened(self, what, view):
            raise ZeroDivisionError("division by zero")

    decider, _ = driven(Broken(name="mine"))
    with pytest.raises(PolicyFailed, match="policy mine: ZeroDivisionError: division by zero"):
        decider.ask(A, 5001)


def test_a_policy_that_names_no_time_to_be_woken_at_is_named():
    decider, _ = driven(Told(wake="12"))
    with pytest.raises(PolicyFailed, match="policy told: TypeError: '<=' not supported"):
        decider.look()


def test_what_the_network_cannot_do_is_not_the_policy_s():
    def dead(*_words):
        raise Unavailable("a switch cannot be told")

    kept = KeptPaths(dead, NETWORK, lambda: 77.0)
    decider = Driven(Told([[Take(1, "al2s")]]), NETWORK, kept, Sight(), lambda flow: flow.size, None)
    with pytest.raises(Unavailable, match=r"^a switch cannot be told$"):
        decider.ask(A, 5001)


def test_what_has_no_path_is_not_moved_by_hand():
    decider, words = driven(Told([[Take(1, "al2s")]]))
    assert decider.move("a", "internet") == "a has no path now"
    decider.ask(A, 5001)
    decider.ended("a", Delivered(received=1))
    before = list(words)
    assert decider.move("a", "internet") == "a has no path now"
    assert words == before


def test_what_sends_cannot_wait():
    policy = Told([[Take(1, "al2s")], [Pause(1)]])
    decider, _ = driven(policy)
    decider.ask(A, 5001)
    decider.began("a")
    with pytest.raises(PolicyFailed, match="a sends and cannot wait"):
        decider.ports(NETWORK.path("al2s"), live=False)
