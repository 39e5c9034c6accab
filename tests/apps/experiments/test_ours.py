"""What ADON is asked and told over REST, and what news its answers make; ADON is a stand-in at its border."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adon.api.decisions import DecisionView
from adon.api.flows import FlowView
from adon.errors import Conflict, InvalidInput, Unavailable
from adon.timestamps import format_time
from adon.units import parse_rate
from apps.experiments.deciding import Decided, Given, Refused
from apps.experiments.ours import Ours
from mininet_topos.carrying import Delivered
from tests.apps.experiments.loopback import file, trials

NOW = 1_700_000_000.0
(TRIAL,) = trials(
    file(
        "[{flow: a, template: soykb, from: mu, to: osu, size: 100 MB, streams: 2,"
        " qspec: {throughput: {min: 700 Mbps, streams: 1}}, deadline: 9 s}]",
        policies="[ours]",
    )
)
(A,) = TRIAL.flows


class Client:
    """Answers as the API does, from a list of a flow's states."""

    def __init__(self) -> None:
        self.calls = []
        self.flow = None

    def submit(self, body, key):
        self.calls.append(("submit", body))
        self.states("requested", None)
        return self.flow

    def report(self, *words):
        self.calls.append(("report", *words))

    def cancel(self, number):
        if self.flow.final:
            raise Conflict("state", "it has ended")
        self.calls.append(("cancel", number))
        self.states("cancelled", None)

    def decisions(self, number):
        made = {"at": NOW, "flow": number, "outcome": "admit", "path": "al2s"}
        return [DecisionView.model_construct(**made, compute_site=None, candidates=[], reason="")]

    def add_maintenance(self, window):
        self.calls.append(("maintenance", window["name"]))

    def flows(self, limit):
        return [self.flow, FlowView.model_construct(id="f-1")]

    def states(self, state, path, reason=""):
        final = state in ("finished", "failed", "expired", "cancelled")
        known = {"id": "f-7", "state": state, "path": path, "final": final, "reason": reason}
        self.flow = FlowView.model_construct(**known, path_since=NOW + 1, state_since=NOW)


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def ours(client):
    sight = SimpleNamespace(now=NOW, began_at=NOW)
    return Ours(client, sight, lambda flow: flow.size, NOW + 100)


def test_a_flow_is_asked_for_as_the_plan_has_it(ours, client):
    ours.ask(A, 5001)
    ((_, body),) = client.calls
    assert body["size"] == "1000000 B"
    assert (body["ports"], body["streams"], body["label"]) == ([5001], 2, "a")
    assert parse_rate(body["qspec"]["throughput"]["min"]) == 7e6
    assert body["deadline"] == format_time(NOW + 9)


def test_news_are_told_once(ours, client):
    ours.ask(A, 5001)
    assert list(ours.look()) == []
    client.states("queued", None)
    assert list(ours.look()) == [Decided("a", "f-7", NOW)]
    assert list(ours.look()) == []
    client.states("active", "al2s")
    assert list(ours.look()) == [Given("a", "al2s", NOW + 1)]
    client.states("active", "internet")
    assert list(ours.look()) == [Given("a", "internet", NOW + 1)]
    ours.began("a")
    ours.ended("a", Delivered(received=1_000_000))
    client.states("finished", None)
    assert list(ours.look()) == []
    assert client.calls[1:] == [("report", "f-7", "started", 0), ("report", "f-7", "finished", 1_000_000, "")]


@pytest.mark.parametrize("state", ["failed", "expired"])
def test_a_flow_that_is_given_up_is_refused(ours, client, state):
    ours.ask(A, 5001)
    client.states(state, None, "unqualified")
    assert list(ours.look()) == [Decided("a", "f-7", NOW), Refused("a", "unqualified")]


@pytest.mark.parametrize("state", ["queued", "expired"])
def test_what_is_withdrawn_is_cancelled_unless_it_has_ended(ours, client, state):
    ours.ask(A, 5001)
    client.states(state, None)
    ours.withdrawn("a")
    assert client.calls[1:] == ([("cancel", "f-7")] if state == "queued" else [])


def test_while_adon_is_stopped_nothing_is_lost(ours, client):
    ours.client = None
    ours.ask(A, 5001)
    ours.began("a")
    ours.withdrawn("a")
    assert list(ours.look()) == []
    assert client.calls == []
    ours.client = client
    ours.look()
    assert [call[0] for call in client.calls] == ["submit", "report", "cancel"]


def test_a_deadline_counts_from_when_a_flow_was_asked_for_not_from_when_adon_was_there_again(ours, client):
    ours.client = None
    ours.ask(A, 5001)
    ours._sight.now += 5
    ours.client = client
    ours.look()
    assert client.calls[0][1]["deadline"] == format_time(NOW + 9)


def test_what_was_decided_before_adon_is_stopped_is_not_lost(ours, client):
    ours.ask(A, 5001)
    ours.leave()
    assert ours.client is None
    assert [(row.flow, row.outcome, row.path) for row in ours.decisions(1)] == [("a", "admit", "al2s")]
    ours.client = client  # started again: it knows what it has decided before
    assert len(ours.decisions(1)) == 1


def test_what_was_decided_before_adon_dies_is_not_lost_either(ours, client):
    ours.ask(A, 5001)
    client.states("active", "al2s")
    ours.look()

    def dead(_number):
        raise Unavailable("nobody listens")

    client.decisions = dead
    with pytest.raises(Unavailable):
        ours.decisions(1)
    assert [(row.flow, row.outcome) for row in ours.remembered(1)] == [("a", "admit")]


def test_a_move_by_hand_closes_the_path_that_the_flow_is_on(ours, client):
    ours.ask(A, 5001)
    assert ours.move("a", "internet")
    client.states("active", "al2s")
    ours.look()
    assert "al2s" in ours.move("a", "al2s")
    assert ours.move("a", "internet") == ""
    assert client.calls[-1] == ("maintenance", "al2s")


def test_a_request_that_adon_refuses_is_said_with_its_flow(ours, client):
    def refuse(body, key):
        raise InvalidInput.of("streams", "too many")

    client.submit = refuse
    with pytest.raises(Unavailable):
        ours.ask(A, 5001)
