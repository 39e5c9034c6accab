"""Requests that are only tried, by REST and from the command line."""

from __future__ import annotations

import pytest

from tests.support.rest_answers import BAD_REQUESTS, audit_entries, problem_fields
from tests.support.web_world import WISH

SMALL = {**WISH, "size": "100 MB", "qspec": {"throughput": {"min": "6 Mbps"}}}


def test_a_preview_is_the_decision_and_what_follows_from_it(world):
    answer = world.ask("POST", "/flow-previews", "researcher", json=SMALL)
    assert answer.status_code == 200
    found = answer.json
    assert (found["outcome"], found["path"]) == ("admit", "al2s")
    assert found["decision"]["id"] == found["decision"]["flow"] == "preview"
    assert found["decision"]["path"] == "al2s"
    assert {one["path"] for one in found["decision"]["candidates"]} == {"al2s", "internet"}
    assert found["decision"]["tables"]
    rate, size = found["throughput"], found["transfer_size_bytes"] * 8
    assert rate["low_bps"] <= rate["expected_bps"] <= rate["high_bps"]
    assert rate["expected_bps"] * found["forecast"]["expected_seconds"] == pytest.approx(size)
    assert found["waits_for"] == []
    assert found["end"]["earliest"] <= found["end"]["expected"] <= found["end"]["latest"]
    assert (found["displaced"], found["moved"], found["waits_for"]) == (0, 0, [])
    assert world.ask("GET", "/flows").json["items"] == []
    assert (
        next(body for kind, body in world.controller.seen if kind == "flow.preview")["request"] == SMALL
    )  # as the user wrote it


def test_sliders_are_weights(world):
    one, other = (
        world.ask("POST", "/flow-previews", json={**SMALL, "weights": weights}).json["decision"]
        for weights in ({"throughput": 1}, {"throughput": 1, "loss": 3})
    )
    assert (one["weights"], other["weights"]) == ({"throughput": 1.0}, {"throughput": 0.25, "loss": 0.75})


def test_one_that_would_wait_says_for_what(world):
    wish = {**SMALL, "qspec": {"throughput": {"min": "60 Mbps"}}}
    found = world.ask("POST", "/flow-previews", json=wish).json
    assert (found["outcome"], found["path"]) == ("queue", None)
    assert any("al2s" in one for one in found["waits_for"])
    assert found["end"] is None


@pytest.mark.parametrize(("change", "status", "field"), BAD_REQUESTS)
def test_what_would_be_refused_is_refused_by_its_field(world, change, status, field):
    answer = world.ask("POST", "/flow-previews", json={**WISH, **change})
    assert answer.status_code == status
    assert any(name.startswith(field) for name in problem_fields(answer))


@pytest.mark.parametrize(("who", "status"), [("auditor", 403), (None, 401), ("researcher", 200)])
def test_who_may_ask_for_a_transfer_may_try_one(world, who, status):
    assert world.ask("POST", "/flow-previews", who, json=SMALL).status_code == status


@pytest.mark.parametrize(
    ("address", "wish"),
    [("/flow-previews", SMALL), ("/template-checks", {"text": "name: soykb"})],
)
def test_a_question_is_no_change_and_is_not_audited_but_its_refusal_is(world, address, wish):
    assert world.ask("POST", address, "admin", json=wish).status_code == 200
    assert audit_entries(world) == []
    refused = world.ask("POST", address, "auditor", json=wish).status_code == 403
    assert [line["object"] for line in audit_entries(world)] == [address] * refused
