"""What triggers did is shown where people look at a flow: API and terminal."""

from __future__ import annotations

from tests.support.web_world import SOYKB


def test_the_api_has_them(world):
    name = world.submit_triggered()
    found = world.ask("GET", f"/flows/{name}").json
    first = world.ask("GET", f"/flows/{name}/decisions").json["items"][0]
    assert [(one["name"], one["count"], one["on"]) for one in found["triggers"]] == [("low", 2, True)]
    assert "9 Mbps" in found["triggers"][0]["text"]
    assert "9 Mbps" in world.ask("GET", f"/decisions/{found['decision']}").json["trigger"]
    assert first["trigger"] is None


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
