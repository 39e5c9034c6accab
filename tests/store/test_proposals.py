from __future__ import annotations

import json

import pytest
import sqlalchemy
from pydantic import TypeAdapter
from sqlalchemy import text

from adon.broker.outcomes import FlowOutcome
from adon.errors import NotFound, Unavailable
from adon.store.store import Store
from adon.templates_catalog.proposal import ProposalState
from tests.templates_catalog.experience import a_finding, a_proposal, an_outcome


def test_a_proposal_is_kept_and_replaced_as_a_whole(store: Store) -> None:
    store.save_proposal(a_proposal())
    assert store.proposal(1) == a_proposal()
    decided = a_proposal().decided(ProposalState.REFUSED, "eve", "no", 5.0)
    store.save_proposal(decided)
    assert store.proposal(1) == decided
    with pytest.raises(NotFound):
        store.proposal(2)


def test_proposals_are_listed_the_newest_first(store: Store) -> None:
    assert (store.proposals(), store.last_proposal_number()) == ((), 0)
    other = a_proposal(2, finding=a_finding("rivvir@3"))
    refused = a_proposal(3).decided(ProposalState.REFUSED, "eve", "no", 5.0)
    for one in (a_proposal(), other, refused):
        store.save_proposal(one)
    assert [one.number for one in store.proposals()] == [3, 2, 1]
    assert [one.number for one in store.proposals(template="soykb")] == [3, 1]
    assert [one.number for one in store.proposals(state=ProposalState.OPEN)] == [2, 1]
    assert [one.number for one in store.proposals(limit=1)] == [3]
    assert store.last_proposal_number() == 3


def fill(url: str, *rows: tuple[int, str, float, object]) -> None:
    """Outcomes as they are written elsewhere."""
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        if not sqlalchemy.inspect(connection).has_table("outcomes"):
            connection.execute(
                text(
                    "CREATE TABLE outcomes (flow BIGINT PRIMARY KEY, template TEXT, ended_at FLOAT, "
                    "state TEXT, body JSON)"
                )
            )
        for flow, template, ended_at, body in rows:
            connection.execute(
                text("INSERT INTO outcomes VALUES (:flow, :template, :ended_at, 'finished', :body)"),
                {"flow": flow, "template": template, "ended_at": ended_at, "body": json.dumps(body)},
            )
    engine.dispose()


def test_experience_is_what_a_template_s_flows_left_behind(store: Store, url: str) -> None:
    bodies = {n: TypeAdapter(FlowOutcome).dump_python(an_outcome(n), mode="json") for n in (1, 2, 3, 4)}
    fill(
        url,
        (1, "soykb@1", 30.0, bodies[1]),
        (2, "soykb@2", 10.0, bodies[2]),
        (3, "soykb2@1", 20.0, bodies[3]),
        (4, "soyk_@1", 20.0, bodies[4]),
    )
    assert [one.flow for one in store.experience("soykb")] == [2, 1]
    assert [one.flow for one in store.experience("soykb", limit=1)] == [1]
    assert [one.flow for one in store.experience("soyk_")] == [4], "a wildcard of SQL is no wildcard here"
    assert store.experience("soykb")[1] == an_outcome(1)


def test_an_outcome_of_another_version_of_adon_is_named(store: Store, url: str) -> None:
    fill(url, (1, "soykb@1", 30.0, {"flow": "x"}))
    with pytest.raises(Unavailable, match="the outcome of flow f-1"):
        store.experience("soykb")
