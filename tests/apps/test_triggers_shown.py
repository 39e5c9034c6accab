"""What triggers did is shown where people look at a flow: API and terminal."""

from __future__ import annotations

from dataclasses import replace

from adon.broker.triggers.record import Fired, Triggered
from tests.support.web_world import DECISION, NOW, SOYKB

BURST = "trigger burst: flow.rate 95 Mbps above 90 Mbps for 30 s: 72 Mbps are asked for on al2s"
LOOK = "trigger low (throughput 3 Mbps below 10 Mbps)"


def filled(world):
    """A flow whose triggers have fired, and a decision by one of them."""
    flow = world.flow(world.submit("researcher"))
    store = world.controller.store
    fired = (
        Fired("low", NOW - 60, 3e6, on=False, text="trigger low: x"),
        Fired("burst", NOW, 95e6, 2, text=BURST),
    )
    decision = world.stage.saved.decisions[-1]
    store.save_decision(replace(decision, id="d-2", at=NOW + 1, trigger=LOOK))
    store.save_flow(replace(flow, triggered=Triggered(fired), decision="d-2"), "e-2", NOW)
    return flow.id


def test_the_api_has_them(world):
    found = world.ask("GET", f"/flows/{filled(world)}").json["triggers"]
    assert [(one["name"], one["count"], one["on"]) for one in found] == [
        ("low", 1, False),
        ("burst", 2, True),
    ]
    assert found[1]["text"] == BURST
    assert world.ask("GET", "/decisions/d-2").json["trigger"] == LOOK
    assert world.ask("GET", f"/decisions/{DECISION}").json["trigger"] is None


def test_a_template_s_triggers_travel_as_they_are_written(world):
    trigger = {
        "name": "burst",
        "when": {"metric": "flow.rate", "above": "90 Mbps", "clear": "80 Mbps"},
        "for": "30 s",
        "do": {"action": "capacity", "more": "20 %"},
    }
    body = {**SOYKB, "name": "bursty", "triggers": [trigger], "monitoring": [{"of": "source"}]}
    saved = world.ask("POST", "/templates", json=body)
    assert saved.status_code == 201, saved.text
    assert saved.json["triggers"][0]["for"] == "30.0 s"
    again = world.ask("POST", "/templates", json={name: saved.json[name] for name in body})
    assert again.json["version"] == 1, "what is answered can be sent again, and is the same"
    wrong = {**body, "triggers": [{**trigger, "do": {"action": "explode"}}]}
    answer = world.ask("POST", "/templates", json=wrong)
    assert answer.status_code == 422
    assert [problem["field"] for problem in answer.json["problems"]] == ["triggers.0.do"]
