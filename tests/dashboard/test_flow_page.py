"""What stands behind a flow, and what it left, on its page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dash import html

from adon.broker.effects import SendBatch
from adon.broker.triggers.record import Fired, Triggered
from adon.flowvisor.ladder import Granted
from adon.flowvisor.rule import Change, Op
from apps.dashboard.operation import rules
from apps.dashboard.transfers import account, behind, flow
from apps.dashboard.ui.blocks import Column
from apps.journal import Journal
from tests.apps.web import NOW, World, decision_for, rule_for
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import links, parts, text


def filled(world: World) -> str:
    """A flow with a share of a port and a trigger that has fired twice."""
    made = world.submit(ports=[5001])
    granted = Granted("mu-edge-al2s", 0.6, 20e6, 20e6, 5e6, 25e6, "meter", "the port has no queue 1", 40_961)
    fired = Fired("burst", NOW, 95e6, 2, text="trigger burst: flow.rate 95 Mbps above 90 Mbps")
    assert world.controller is not None
    more: dict[str, Any] = {"slice": "genomics", "granted": granted, "advised": True}
    found = replace(world.fill(made), **more, triggered=Triggered((fired,)))
    world.controller.store.save_flow(found, "e-2", NOW)
    return made


def test_a_flow_tells_its_slice_its_share_and_its_triggers(world: World, visiting: Visiting) -> None:
    said = text(flow.live(visiting("researcher", parts={"id": filled(world)})))
    for shown in (
        "genomics",
        "Asked for 20 Mbps, granted 20 Mbps",
        "and 5 Mbps lent on the 60 % share of port mu-edge-al2s; it may use 25 Mbps",
        "by meter 40961: the port has no queue 1",
        "nothing was sent to a switch",
        "Trigger burst: flow.rate 95 Mbps above 90 Mbps",
        ", 2 times , still so",
    ):
        assert shown in said, shown


def test_a_flow_that_moves_often_has_a_page_that_grows_no_longer(
    world: World, visiting: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = filled(world)
    assert world.controller is not None
    store = world.controller.store
    found = store.flow(int(made.removeprefix("f-")))
    for number in range(flow.STEPS + 5):
        found = replace(
            found, path=("al2s", "internet")[number % 2], path_since=NOW + number, reason=f"move {number}"
        )
        store.save_flow(found, f"e-{number}", NOW + number)
        store.save_decision(
            replace(decision_for(found), id=f"d-9{number}", at=NOW + number, reason=f"why {number}")
        )
    here = visiting("researcher", parts={"id": made})
    read: list[int] = []
    monkeypatch.setattr(type(store), "decisions", lambda *_: read.append(1))
    drawn = flow.live(here)
    said = text(drawn)
    (story,) = (one for one in parts(drawn) if isinstance(one, html.Ol))
    assert len(story.children) == flow.STEPS
    assert f"move {flow.STEPS + 4}" in said
    assert "move 4 " not in said
    assert f"adon flow show {made}" in said
    assert f"/decisions/d-9{flow.STEPS + 4}" in links(drawn)
    assert read == []


def test_the_paths_beside_its_own_say_if_they_are_down(world: World, visiting: Visiting) -> None:
    made = filled(world)
    assert world.controller is not None
    paths = world.controller.snapshot["paths"]
    paths.reverse()  # the other direction of its own path comes first
    for path in paths:
        if (path["path"], path["source"]) == ("internet", "mu"):
            path.update(usable=False, reason="maintenance m-1")
    shown = dict(behind.facts(visiting().client.flow(made), visiting()))
    assert text(shown["Other paths there"]) == "internet   down  maintenance m-1"


def test_without_the_controller_nothing_is_said_of_them(world: World, visiting: Visiting) -> None:
    made = filled(world)
    world.stop_controller()
    assert [name for name, _ in behind.facts(visiting().client.flow(made), visiting())] == ["Slice"]


def test_it_leads_to_rules_and_advice_and_for_staff_to_the_map(world: World, visiting: Visiting) -> None:
    made = filled(world)
    mine = links(flow.live(visiting("researcher", parts={"id": made})))
    assert {f"/rules?owner={made}", f"/advice?flow={made}"} <= set(mine)
    assert not any(one.startswith("/network") for one in mine)
    staff = links(flow.live(visiting("operator", parts={"id": made})))
    assert f"/network?flow={made}" in staff


def test_what_it_left_tells_paths_and_conditions(visiting: Visiting) -> None:
    stays = [
        {"path": name, "since": "2025-10-09T08:00:00Z", "until": "2025-10-09T08:01:00Z", "seconds": 60.0}
        for name in ("al2s", "internet")
    ]
    outcome: dict[str, Any] = {
        "admitted_at": "2025-10-09T08:00:00Z",
        "kept": False,
        "promised_bps": 90e6,
        "throughput_bps": 80e6,
        "waited_seconds": 1.0,
        "duration_seconds": 120.0,
        "forecast": None,
        "moves": 1,
        "quality_seconds": {},
        "measured_by": "counters",
        "conditions": [{"metric": "rtt", "value": 0.033, "unit": "s"}],
        "stays": stays,
    }
    said = text(account.result(outcome, visiting()))
    for shown in ("was below what was asked", "Round trip 33 ms", "internet", "60 s"):
        assert shown in said, shown
    never = text(account.result({**outcome, "admitted_at": None, "stays": []}, visiting()))
    assert "It never had a path" in never


def test_a_researcher_sees_the_rules_of_a_flow_of_their_own(world: World, visiting: Visiting) -> None:
    made = filled(world)
    said = text(rules.live(visiting("researcher", query={"owner": made})))
    assert "onto its path" in said
    assert "Sent" not in said
    assert "Difference" not in said


def folds(drawn: Any) -> list[tuple[str, bool]]:
    """What is there to open: its summary, and whether it is open."""
    found = (one for one in parts(drawn) if isinstance(one, html.Details))
    return [(" ".join(text(one.children[0]).split()), one.open) for one in found]


def test_rules_are_folded_by_whom_they_are_for(world: World, visiting: Visiting) -> None:
    made = filled(world)
    assert folds(rules.live(visiting("operator"))) == [(f"{made} 1 rule installed", True)]
    several = [
        {"owner": owner, "state": state}
        for owner, state in (("f-1", "installed"), ("path-0", "installed"), ("f-1", "failed"))
    ]
    assert folds(rules.by_owner([Column("State", lambda one: one["state"])], several)) == [
        ("f-1 2 rules 1 failed 1 installed", False),
        ("path-0 1 rule installed", False),
    ]


def test_an_event_leads_to_all_that_was_sent_because_of_it(world: World, visiting: Visiting) -> None:
    rule = rule_for(world.fill(world.submit()))
    journal = Journal(world.folder, clock=lambda: NOW)
    for cause, dpid in (("e-1", 0xA01), ("e-2", 0xA02)):
        change = Change(Op.ADD, replace(rule, dpid=dpid))
        journal.sent(SendBatch(cause, dpid, f"b-{cause}", (change,)))
    journal.close()
    everything = rules.live(visiting("operator"))
    assert "/rules?cause=e-2" in links(everything)
    assert {"e-1", "e-2"} <= set(text(everything).split())
    one = text(rules.live(visiting("operator", query={"cause": "e-2"})))
    assert "Sent because of e-2" in one
    assert "e-1" not in one.split()
