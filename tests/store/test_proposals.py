from __future__ import annotations

import pytest

from adon.errors import NotFound
from adon.store.store import Store
from adon.templates_catalog.proposal import ProposalState
from tests.store.values import a_flow
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


def test_experience_is_what_a_template_s_flows_left_behind(store: Store) -> None:
    ended = {1: ("soykb@1", 30.0), 2: ("soykb@2", 10.0), 3: ("soykb2@1", 20.0), 4: ("soyk_@1", 20.0)}
    left = {
        number: an_outcome(number, template=template, ended_at=at) for number, (template, at) in ended.items()
    }
    for number, outcome in left.items():
        store.save_flow(a_flow(number), "e-1")
        store.save_outcome(outcome)
    assert [one.flow for one in store.experience("soykb")] == [2, 1]
    assert [one.flow for one in store.experience("soykb", limit=1)] == [1]
    assert [one.flow for one in store.experience("soyk_")] == [4], "a wildcard of SQL is no wildcard here"
    assert store.experience("soykb")[1] == left[1]
