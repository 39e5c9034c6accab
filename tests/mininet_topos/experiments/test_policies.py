"""What ADON is asked over REST, and the updates that its answers make; ADON is a stand-in at its border."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adon.api.decisions import CandidateView, DecisionView
from adon.api.flows import FlowView
from adon.broker.flow import FlowState
from adon.errors import Conflict, InvalidInput, Unavailable
from adon.units import parse_rate
from mininet_topos.experiments.policies import (
    AdonPolicy,
    FlowUpdate,
    PinnedPolicy,
)
from mininet_topos.traffic.endpoint import Delivery
from tests.mininet_topos.experiments.loopback import loopback_topology, make_trial
from tests.support.refusals import refused

NOW = 1_800_000_000.0
QSPEC = "{throughput: {min: 700 Mbps, streams: 1}}"
TRIAL = make_trial(
    f"[{{flow: a, template: soykb, from: mu, to: osu, size: 100 MB, streams: 2, qspec: {QSPEC}}}]",
    policy="ours",
)
(A,) = TRIAL.flows


class Api:
    """Answers as the API does about one flow."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.flow = FlowView.model_construct()
        self.outcomes = ["admit"]
        self.is_running = True

    def submit(self, body: Any, key: str) -> FlowView:
        self.calls.append(("submit", body))
        self.become("requested", None)
        return self.flow

    def report(self, *words: Any) -> None:
        self.calls.append(("report", *words))

    def cancel(self, number: str) -> None:
        if self.flow.final:
            raise Conflict("state", "it has ended")
        self.calls.append(("cancel", number))

    def decisions(self, number: str) -> list[DecisionView]:
        candidate = CandidateView.model_construct(path="al2s", q=8.5)
        return [
            DecisionView.model_construct(
                at=NOW + second,
                flow=number,
                outcome=outcome,
                path="al2s",
                compute_site=None,
                candidates=[candidate],
                reason="free",
            )
            for second, outcome in enumerate(self.outcomes)
        ]

    def add_maintenance(self, window: Any) -> None:
        self.calls.append(("maintenance", window["name"]))

    def flows(self, limit: int) -> list[FlowView]:
        return [self.flow, FlowView.model_construct(id="f-1")]

    def become(self, state: str, path: str | None, reason: str = "") -> None:
        final = state in ("finished", "failed", "expired", "cancelled")
        self.flow = FlowView.model_construct(
            id="f-7",
            state=FlowState(state),
            path=path,
            final=final,
            reason=reason,
            transfer_size_bytes=100_000,
            path_since=NOW + 1,
            state_since=NOW,
        )


@pytest.fixture
def api() -> Api:
    return Api()


def submit(policy: AdonPolicy) -> None:
    """Request the flow and send the request."""
    policy.request(A, 5001)
    assert policy.poll() == []


@pytest.fixture
def policy(api: Any) -> AdonPolicy:
    return AdonPolicy(api, lambda: api.is_running)


def test_flow_is_requested_as_it_is_planned(policy, api):
    submit(policy)
    ((_, body),) = api.calls
    assert (body["size"], body["ports"], body["streams"], body["label"]) == ("1000000 B", [5001], 2, "a")
    assert parse_rate(body["qspec"]["throughput"]["min"]) == 7e6


def test_each_change_of_a_flow_is_one_update(policy, api):
    submit(policy)
    api.become("queued", None)
    queued = FlowUpdate("a", NOW, reason="free")
    assert (policy.poll(), policy.poll()) == ([queued], [])
    for path in ("al2s", "internet"):
        api.become("active", path)
        (update,) = policy.poll()
        assert (update.path, update.at) == (path, NOW + 1)
    policy.report_start("a")
    policy.report_end("a", Delivery(NOW, received=1_000_000))
    api.become("finished", None)
    assert policy.poll() == []
    assert api.calls[1:] == [
        ("report", "f-7", "started", 0),
        ("report", "f-7", "finished", 1_000_000, ""),
    ]


@pytest.mark.parametrize("state", ["failed", "expired"])
def test_flow_that_ends_without_a_path_is_rejected(policy, api, state):
    submit(policy)
    api.become(state, None, "unqualified")
    (update,) = policy.poll()
    assert (update.is_rejected, update.reason) == (True, "unqualified")


@pytest.mark.parametrize(("state", "calls"), [("queued", [("cancel", "f-7")]), ("expired", [])])
def test_withdrawn_flow_is_cancelled_unless_it_has_ended(policy, api, state, calls):
    submit(policy)
    api.become(state, None)
    policy.report_end("a", None)
    policy.poll()
    assert api.calls[1:] == calls


def test_flow_that_ends_after_it_was_preempted_is_cancelled(policy, api):
    def refuse(*_: Any) -> None:
        raise Conflict("state", "the flow is queued")

    submit(policy)
    api.become("queued", None)
    api.report = refuse
    policy.report_end("a", Delivery(NOW, received=1_000_000))
    policy.poll()
    assert api.calls[1:] == [("cancel", "f-7")]


def test_calls_wait_while_adon_does_not_run(policy, api):
    api.is_running = False
    policy.request(A, 5001)
    policy.report_start("a")
    policy.report_end("a", None)
    assert (policy.poll(), api.calls) == ([], [])
    api.is_running = True
    policy.poll()
    assert [call[0] for call in api.calls] == ["submit", "report", "cancel"]


def test_decisions_of_an_adon_that_ended_are_those_that_were_read_last(policy, api):
    submit(policy)
    policy.read_decisions()
    api.is_running, api.outcomes = False, []
    policy.read_decisions()
    (row,) = policy.decisions
    assert (row.flow, row.outcome, row.path, row.quality) == ("a", "admit", "al2s", 8.5)


def test_decisions_to_stay_are_left_out(policy, api):
    submit(policy)
    api.outcomes = ["queue", "queue", "admit", "stay", "move"]
    policy.read_decisions()
    assert [row.outcome for row in policy.decisions] == ["queue", "queue", "admit", "move"]


def test_ordered_move_closes_the_present_path(policy, api):
    submit(policy)
    assert policy.order_move("a", "internet")
    api.become("active", "al2s")
    policy.poll()
    assert "al2s" in policy.order_move("a", "al2s")
    assert policy.order_move("a", "internet") == ""
    assert api.calls[-1] == ("maintenance", "al2s")


def test_refused_request_names_its_flow(policy, api):
    def refuse(*_: Any) -> Any:
        raise InvalidInput.of("streams", "too many")

    api.submit = refuse
    with refused(Unavailable) as found:
        submit(policy)
    assert str(found.error).startswith("a cannot be requested")


def test_pinned_flow_has_rules_until_it_ends():
    rules: list[tuple[str, ...]] = []
    topo = loopback_topology()
    policy = PinnedPolicy(lambda *words: rules.append(words) or "", topo, "always al2s", lambda _path: 0.0)
    policy.request(A, 5001)
    (update,) = policy.poll()
    assert (update.flow, update.path) == ("a", "al2s")
    assert time.time() - 60 < update.at <= time.time()
    assert all("tp_dst=5001" in rule[-1] or "tp_src=5001" in rule[-1] for rule in rules)
    policy.order_move("a", "internet")
    assert [update.path for update in policy.poll()] == ["internet"]
    policy.report_end("a", None)
    assert {rule[1] for rule in rules if rule[0] == "del-flows"} == {"mu-edge", "osu-edge"}
    assert [(row.outcome, row.path, row.reason) for row in policy.decisions] == [
        ("admit", "al2s", "always al2s")
    ]
