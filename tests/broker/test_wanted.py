from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.wanted import Wanted
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.rule import Rule

WISHES = st.lists(
    st.tuples(st.integers(1, 3), st.none() | st.sets(st.tuples(st.integers(1, 2), st.integers(1, 4)))),
    max_size=15,
)


def rule(owner: int, dpid: int, port: int) -> Rule:
    return Rule(dpid, 1, Match(in_port=port), (), cookie(Kind.FLOW_INGRESS, owner))


@settings(max_examples=60, deadline=None)
@given(WISHES)
def test_it_is_found_by_owner_and_by_switch(wishes: list[tuple[int, set[tuple[int, int]] | None]]) -> None:
    wanted, expected = Wanted(), dict[int, set[Rule]]()
    for owner, places in wishes:
        if places is None:
            if expected.pop(owner, None) is not None:
                wanted.drop(f"f-{owner}")
            continue
        expected[owner] = {rule(owner, dpid, port) for dpid, port in places}
        wanted.put(f"f-{owner}", tuple(expected[owner]))
    assert set(wanted) == {f"f-{owner}" for owner in expected}
    for owner in (1, 2, 3):
        assert set(wanted.of(f"f-{owner}")) == expected.get(owner, set())
    for dpid in (1, 2):
        here = {one for rules in expected.values() for one in rules if one.dpid == dpid}
        assert set(wanted.at(dpid)) == here
        assert wanted.count(dpid) == len(here)


def test_an_earlier_runs_rules_belong_to_their_owners() -> None:
    rules = [rule(1, 1, 1), rule(2, 1, 2), rule(1, 2, 1)]
    assert Wanted(rules).of("f-1") == (rules[0], rules[2])
