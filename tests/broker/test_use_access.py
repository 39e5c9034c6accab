"""Who may use what: at the door, among the candidates, and when it is decided again.

The stage makes every decision anew from what it saw, so each test here is one of recomputation too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from adon.broker.flow import Flow, FlowState
from adon.broker.use_access import Use, barred_compute, barred_path, barred_place, refusal
from adon.config.policy import UseGrant
from adon.errors import InvalidInput
from adon.flowvisor.rules.slices import Requester
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import Stage, make_stage, verdicts

USE = Use("soykb", ("mu", "osu"), 500)
ANN = Requester("ann", frozenset({"researcher"}), frozenset({"genomics"}))


def grants(*entries: dict[str, Any]) -> tuple[UseGrant, ...]:
    return tuple(UseGrant.model_validate(entry) for entry in entries)


def stage(*entries: dict[str, Any]) -> Stage:
    return make_stage(make_configuration(use_access=grants(*entries)))


@pytest.mark.parametrize(
    ("entries", "who", "refused"),
    [
        ([], ANN, False),
        ([{}], ANN, False),
        ([{"who": ["bob"]}], ANN, True),
        ([{"who": ["bob"]}], Requester("root", frozenset({"admin"})), False),
        ([{"roles": ["researcher"]}], ANN, False),
        ([{"roles": ["operator"]}], ANN, True),
        ([{"groups": ["genomics", "x"]}], ANN, False),
        ([{"who": ["ann"], "groups": ["x"]}], ANN, True),
        ([{"templates": ["soy*"]}], ANN, False),
        ([{"templates": ["soy"]}], ANN, True),
        ([{"templates": ["bulk"]}, {"who": ["bob"], "templates": ["soykb"]}], ANN, True),
        ([{"sites": ["mu"]}], ANN, True),
        ([{"sites": ["mu", "osu"]}], ANN, False),
        ([{"priority": 499}], ANN, True),
        ([{"priority": 500}], ANN, False),
        ([{"priority": 100}, {"templates": ["soykb"], "priority": 900}], ANN, False),
        ([{"sites": ["mu"]}, {"templates": ["bulk"]}], ANN, True),
    ],
)
def test_what_is_refused_at_the_door(entries: list[dict[str, Any]], who: Requester, refused: bool) -> None:
    assert bool(refusal(who, USE, grants(*entries))) is refused


def test_a_path_is_granted_with_the_rest_of_its_entry() -> None:
    entries = grants(
        {"paths": ["internet"]},
        {"groups": ["genomics"], "paths": ["al*"], "priority": 500},
        {"templates": ["bulk"], "paths": ["secret"]},
    )
    names = ("al2s", "internet", "secret")

    def open_to(who: Requester, use: Use) -> list[str]:
        return [path for path in names if not barred_path(who, use, entries, path)]

    assert open_to(ANN, USE) == ["al2s", "internet"]
    assert open_to(replace(ANN, groups=frozenset()), USE) == ["internet"]
    assert open_to(ANN, replace(USE, priority=501)) == ["internet"]
    assert open_to(ANN, replace(USE, template="bulk")) == ["al2s", "internet", "secret"]
    assert open_to(Requester("root", frozenset({"admin"})), USE) == list(names)


def test_compute_sites_and_places() -> None:
    entries = grants({"compute": ["mu-*"], "paths": ["internet"]}, {"who": ["bob"]})
    assert barred_compute(ANN, USE, entries, "mu-hpc") == ""
    assert "osu-hpc" in barred_compute(ANN, USE, entries, "osu-hpc")
    assert barred_place(ANN, entries, "internet", None) == ""
    assert "al2s" in barred_place(ANN, entries, "al2s", None)
    assert "osu-hpc" in barred_place(ANN, entries, None, "osu-hpc")
    assert barred_place(Requester("bob"), entries, "al2s", None) == ""


@pytest.mark.parametrize(
    "entry",
    [
        {"who": []},
        {"groups": []},
        {"templates": []},
        {"paths": ["a*b"]},
        {"priority": 1000},
        {"roles": ["x"]},
    ],
    ids=str,
)
def test_entries_that_mean_nothing(entry: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        UseGrant.model_validate(entry)


def test_a_forbidden_path_is_no_candidate_and_the_decision_says_why() -> None:
    here = stage({"paths": ["internet"]}, {"groups": ["genomics"]})
    slow = {"qspec": {"throughput": {"min": "1 Mbps"}}}
    theirs, ours = here.submit(**slow), here.submit(**slow, groups=["genomics"])
    assert (here.flow(theirs).path, here.flow(ours).path) == ("internet", "al2s")
    decision = here.decision(theirs)
    assert verdicts(decision)["al2s"] == "excluded"
    here.expect(theirs, why={"al2s": "not-permitted"})
    assert here.verdicts(ours)["al2s"] == "qualified"


def test_a_flow_waits_rather_than_take_a_forbidden_path_and_does_not_move_to_it() -> None:
    here = stage({"paths": ["internet"]})
    flow = here.submit(qspec={"throughput": {"min": "1 Mbps"}})
    assert here.flow(flow).path == "internet"
    here.measure("internet", 0.5)
    here.measure("internet", 0.5)
    here.measure("al2s", 58.0)
    here.pass_time(120)
    assert here.flow(flow).path in ("internet", None)
    waits = here.submit(qspec={"throughput": {"min": "20 Mbps"}})
    assert here.flow(waits).state is FlowState.QUEUED


def test_those_who_wait_are_not_refused_for_each_other() -> None:
    here = stage({"paths": ["internet"]}, {"groups": ["genomics"]})
    fast = {"qspec": {"throughput": {"min": "40 Mbps"}}}
    first = here.submit(**fast, groups=["genomics"])
    barred = [here.submit(**fast) for _ in range(3)]
    allowed = here.submit(**fast, groups=["genomics"])
    here.report(first)
    here.pass_time(1)
    assert here.flow(allowed).path == "al2s"
    assert {here.flow(one).state for one in barred} == {FlowState.QUEUED}


@pytest.mark.parametrize(
    ("entry", "wish"),
    [
        ({"templates": ["neuroblastoma"]}, {}),
        ({"sites": ["mu"]}, {}),
        ({"priority": 300}, {"priority": 301}),
        ({"paths": ["nowhere"]}, {}),
    ],
)
def test_a_forbidden_request_is_refused_and_nothing_is_kept(
    entry: dict[str, Any], wish: dict[str, Any]
) -> None:
    here = stage(entry)
    with refused("forbidden"):
        here.submit(**wish)
    assert here.saved.flows == {}
    assert isinstance(here.submit(**wish, roles=["admin"]), Flow)


def test_a_forbidden_compute_site_is_compared_as_none() -> None:
    here = stage({"compute": ["mu-hpc"]})
    flow = here.submit()
    costs = {one.site: one for one in here.decision(flow).compute}
    assert here.flow(flow).compute_site != "osu-hpc"
    assert costs["osu-hpc"].cost == float("inf")
    assert "osu-hpc" in costs["osu-hpc"].why


def test_a_forbidden_path_is_not_reserved_in_advance() -> None:
    here = stage({"paths": ["internet"]})
    wish = {"not_before": "1 h", "deadline": "2 h", "qspec": {"throughput": {"min": "1 Mbps"}}}
    flow = here.submit(**wish)
    booking = here.flow(flow).booking
    assert booking is not None
    assert booking.path == "internet"
    with pytest.raises(InvalidInput, match=r"not_before|deadline|reserved"):
        here.submit(**{**wish, "qspec": {"throughput": {"min": "30 Mbps"}}})


def test_what_a_flow_may_use_goes_by_what_its_requester_was() -> None:
    here = stage({"groups": ["genomics"]})
    flow = here.submit(groups=["genomics", "a"])
    assert (here.flow(flow).roles, here.flow(flow).groups) == (("researcher",), ("a", "genomics"))
