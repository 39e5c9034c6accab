from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adon.templates_catalog.model import Template
from adon.yamlfile import parse_model
from apps.rest.services import NAME
from apps.rest.snapshots import Snapshots
from tests.support.rest_answers import BAD_REQUESTS, problem_fields
from tests.support.web_world import COMPUTED, NOW, SOYKB, WISH

# -- flows ---------------------------------------------------------------------------------------------


def test_a_flow_is_accepted_at_once_with_its_address(world):
    answer = world.ask("POST", "/flows", "researcher", json=WISH)
    assert answer.status_code == 202
    assert answer.headers["Location"] == "/api/v1/flows/f-1"
    assert answer.json["state"] == "installing"
    assert answer.json["size_bytes"] == 25_000_000_000
    assert answer.json["requester"] == "researcher"
    assert world.controller.seen[-1][1]["request"] == WISH  # as the user wrote it
    shown = world.ask("GET", "/flows/f-1", "researcher").json
    assert {name for name, value in shown.items() if value != answer.json[name]} <= {"state"}


def test_what_a_flow_says_it_asked_for_can_be_asked_for_again(world):
    first = world.ask("GET", f"/flows/{world.submit()}").json
    world.ask("DELETE", f"/flows/{first['id']}")
    again = world.ask("POST", "/flows", json=first["request"])
    assert again.status_code == 202
    assert again.json["request"] == first["request"]


@pytest.mark.parametrize(("change", "status", "field"), BAD_REQUESTS, ids=lambda v: json.dumps(v)[:40])
def test_a_bad_request_is_refused_by_field_and_cause(world, change, status, field):
    answer = world.ask("POST", "/flows", json={**WISH, **change})
    assert answer.status_code == status
    found = problem_fields(answer)
    assert any(name.startswith(field) and cause for name, cause in found.items()), found
    assert world.ask("GET", "/flows").json["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"size": "25 Gb"}, "size"),
        ({"size": "25 mB"}, "size"),
        ({"qspec": {"throughput": {"min": "700 mbps"}}}, "qspec.throughput.min"),
    ],
    ids=str,
)
def test_ambiguous_unit_of_a_request_is_refused_with_its_code(world, change, field):
    answer = world.ask("POST", "/flows", json={**WISH, **change})
    assert (answer.status_code, answer.json["code"]) == (422, "invalid-input")
    assert [(one["field"], one["code"]) for one in answer.json["problems"]] == [(field, "ambiguous-unit")]


def test_every_problem_is_told_at_once(world):
    answer = world.ask("POST", "/flows", json={"source": "A B", "size": "no"})
    assert set(problem_fields(answer)) == {"source", "size", "destination"}


BAD_BODIES = [
    (b"{", "application/json", 400),
    (b"", "application/json", 400),
    (b"[]", "application/json", 400),
    (b'"{}"', "application/json", 400),
    (b'{"size": NaN}', "application/json", 400),
    (b'{"size": Infinity}', "application/json", 400),
    (b'{"size": "1 GB", "size": "2 GB"}', "application/json", 400),
    (b"[" * 100_000, "application/json", 400),
    (b"\xff\xfe{}", "application/json", 400),
    (b"size: 1 GB", "application/yaml", 415),
    (b"a=b", "application/x-www-form-urlencoded", 415),
    (b"{}", "", 415),
    (b'{"label": "' + b"x" * 1_000_000 + b'"}', "application/json", 413),
]


@pytest.mark.parametrize("address", ["/flows", "/templates", "/flows/f-1/reports"])
@pytest.mark.parametrize(("body", "kind", "status"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_a_body_that_is_no_json_object_is_refused(world, address, body, kind, status):
    world.submit()
    answer = world.ask("POST", address, data=body, content_type=kind)
    assert answer.status_code == status, answer.text
    assert "body" in problem_fields(answer)
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/flows/f-99", 404),
        ("GET", "/flows/99", 404),
        ("GET", "/flows/f-0", 404),
        ("GET", "/flows/f-99999999999999", 404),
        ("GET", "/flows/..%2f..%2fetc", 404),
        ("GET", "/decisions/none", 404),
        ("GET", "/templates/none", 404),
        ("GET", "/templates/soykb/versions/9", 404),
        ("GET", "/templates/soykb/versions/x", 422),
        ("GET", "/nothing", 404),
        ("PUT", "/flows", 405),
        ("GET", "/flows?limit=0", 422),
        ("GET", "/flows?limit=501", 422),
        ("GET", "/flows?state=asleep", 422),
        ("GET", "/flows?colour=blue", 422),
        ("GET", "/flows?before=x", 404),
        ("GET", "/measurements?since=yesterday", 422),
        ("GET", "/measurements?since=2026-01-01T00:00:00", 422),
        ("GET", "/measurements?metric=beauty", 422),
        ("GET", "/rules?dpid=1", 422),
    ],
)
def test_every_failure_is_a_problem_document(world, method, address, status):
    answer = world.ask(method, address)
    assert answer.status_code == status
    problem_fields(answer)


def test_a_wrong_query_names_its_field(world):
    assert set(problem_fields(world.ask("GET", "/flows?limit=0&colour=blue"))) == {"limit", "colour"}


def test_what_nobody_foresaw_is_a_bare_500(world, monkeypatch, caplog):
    monkeypatch.setattr(world.store, "templates", lambda: 1 / 0)
    answer = world.ask("GET", "/templates")
    assert answer.status_code == 500
    problem_fields(answer)
    assert "division" not in answer.text
    assert "ZeroDivisionError" in caplog.text


def test_the_same_idempotency_key_makes_one_flow(world):
    answers = [world.ask("POST", "/flows", json=WISH, headers={"Idempotency-Key": "k-1"}) for _ in range(2)]
    assert answers[0].json == answers[1].json
    assert len(world.ask("GET", "/flows").json["items"]) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "tab\there"])
def test_an_idempotency_key_that_cannot_be_kept_is_refused(world, key):
    answer = world.ask("POST", "/flows", json=WISH, headers={"Idempotency-Key": key})
    assert (answer.status_code, set(problem_fields(answer))) == (422, {"Idempotency-Key"})


def test_pages_follow_each_other_without_gap(world):
    ids = [world.submit() for _ in range(5)]
    seen, before = [], None
    while True:
        query = "?limit=2" + (f"&before={before}" if before else "")
        answer = world.ask("GET", "/flows" + query)
        seen += [flow["id"] for flow in answer.json["items"]]
        before = answer.json["next"]
        assert ("Link" in answer.headers) == (before is not None)
        if before is None:
            break
        assert answer.headers["Link"] == f'</api/v1/flows?limit=2&before={before}>; rel="next"'
    assert seen == ids[::-1]


def test_flows_are_filtered(world):
    first, second = world.submit(), world.submit("operator")
    world.ask("DELETE", f"/flows/{first}")

    def ids(query):
        return [flow["id"] for flow in world.ask("GET", "/flows" + query).json["items"]]

    assert ids("?state=cancelled") == [first]
    assert ids("?requester=operator") == [second]
    assert ids("?requester=nobody") == []


def test_a_researcher_sees_their_own_flows_only(world):
    world.stage.measure("al2s", 5.0)
    other, mine = world.submit("rival"), world.submit("researcher")
    assert [flow["id"] for flow in world.ask("GET", "/flows", "researcher").json["items"]] == [mine]
    assert world.ask("GET", "/flows?requester=rival", "researcher").json["items"] == []
    assert [flow["id"] for flow in world.ask("GET", "/queue", "researcher").json["items"]] == [mine]
    assert [flow["id"] for flow in world.ask("GET", "/queue", "operator").json["items"]] == [other, mine]


def test_a_waiting_flow_is_explained(world):
    world.stage.measure("al2s", 5.0)
    name = world.submit()
    told = world.ask("GET", f"/flows/{name}/waiting", "researcher").json
    assert (told["id"], told["phase"], told["before"]) == (name, "calm", 0)
    assert any("7 Mbps" in one for one in told["waits_for"])
    assert world.ask("GET", f"/flows/{name}/waiting", "rival").status_code == 404


def test_times_of_a_request_are_given_back_as_they_were_meant(world):
    at = "2025-11-21T06:00:00+01:00"
    name = world.submit(not_before="8 h", deadline=at)
    request = world.ask("GET", f"/flows/{name}").json["request"]
    assert (request["not_before"], request["deadline"]) == ("28800.0 s", "2025-11-21T05:00:00Z")
    answer = world.ask("POST", "/flows", json={**WISH, "deadline": "2025-11-21T06:00:00"})
    (problem,) = answer.json["problems"]
    assert (answer.status_code, problem["field"], problem["code"]) == (422, "deadline", "no-offset")


def test_the_queue_says_how_many_wait(world):
    world.stage.measure("al2s", 5.0)
    names = [world.submit() for _ in range(3)]
    answer = world.ask("GET", "/queue?limit=2").json
    assert ([one["id"] for one in answer["items"]], answer["waiting"]) == (names[:2], 3)


def test_a_flow_is_cancelled_once(world):
    name = world.submit()
    answer = world.ask("DELETE", f"/flows/{name}", "researcher")
    assert (answer.status_code, answer.json["state"], answer.json["final"]) == (200, "cancelled", True)
    again = world.ask("DELETE", f"/flows/{name}", "researcher")
    assert (again.status_code, set(problem_fields(again))) == (409, {"state"})


def test_a_flow_that_has_changed_is_not_cancelled_under_if_match(world):
    name = world.submit()
    tag = world.ask("GET", f"/flows/{name}").headers["ETag"]
    world.stage.report(world.flow(name), "started")
    stale = world.ask("DELETE", f"/flows/{name}", headers={"If-Match": tag})
    assert (stale.status_code, set(problem_fields(stale))) == (412, {"If-Match"})
    fresh = world.ask("GET", f"/flows/{name}").headers["ETag"]
    assert world.ask("DELETE", f"/flows/{name}", headers={"If-Match": fresh}).status_code == 200


def test_a_transfer_reports(world):
    name = world.submit()
    address = f"/flows/{name}/reports"
    answer = world.ask("POST", address, "researcher", json={"status": "progress", "bytes": 5})
    assert (answer.status_code, answer.json["bytes_reported"], answer.json["final"]) == (202, 5, False)
    answer = world.ask("POST", address, "researcher", json={"status": "finished", "bytes": "1.5 TB"})
    assert (answer.json["state"], answer.json["bytes_reported"]) == ("finished", 1_500_000_000_000)
    for body, field in (
        ({"status": "asleep", "bytes": 1}, "status"),
        ({"status": "failed", "bytes": -1}, "bytes"),
    ):
        assert set(problem_fields(world.ask("POST", address, json=body))) == {field}


def test_a_decision_explains_itself(world):
    world.ask("POST", "/templates", json=COMPUTED)
    world.stage.measure("al2s", loss=0.0)
    name = world.submit(template="computed", qspec={"loss": {"max": "0.1 %"}})
    decision = world.ask("GET", f"/flows/{name}/decisions").json["items"][0]
    assert decision == world.ask("GET", f"/decisions/{decision['id']}").json
    chosen, other = decision["candidates"]
    assert (chosen["q"], other["q"]) == (10.0, None)
    assert chosen["metrics"][0]["unit"] == "bps"
    assert chosen["metrics"][0]["observed_at"] == "2025-10-09T08:52:38.000Z"
    assert other["metrics"][2]["unknown"] == "never measured"
    assert decision["compute"][0]["total_seconds"] > 0.0
    assert decision["compute"][1]["total_seconds"] == "inf"


def test_a_flow_tells_its_history(world):
    name = world.submit()
    steps = world.ask("GET", f"/flows/{name}/history").json["items"]
    assert [step["state"] for step in steps] == ["requested", "installing", "active"]
    assert steps[1]["path"] == "al2s"
    for query, expected in (("last=1", steps[2:]), ("last=2", steps[1:]), ("last=2&limit=1", steps[2:])):
        told = world.ask("GET", f"/flows/{name}/history?{query}").json
        assert (told["items"], told["next"]) == (expected, None)
    assert world.ask("GET", f"/flows/{name}/history?last=1&after=1").status_code == 422
    assert world.ask("GET", f"/flows/{name}/history?last=0").status_code == 422


# -- templates -----------------------------------------------------------------------------------------


def test_a_template_is_saved_as_the_next_version(world):
    again = world.ask("POST", "/templates", json=SOYKB)
    assert (again.status_code, again.json["version"]) == (201, 1)  # nothing new in it
    answer = world.ask("POST", "/templates", json={**SOYKB, "priority": 600})
    assert answer.json["version"] == 2
    assert answer.headers["Location"] == "/api/v1/templates/soykb/versions/2"
    assert world.ask("GET", "/templates/soykb").json["priority"] == 600
    assert world.ask("GET", "/templates/soykb/versions/1").json["priority"] == 500
    assert [(one["name"], one["version"]) for one in world.ask("GET", "/templates").json["items"]] == [
        ("soykb", 2)
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "../../etc"}, "name"),
        ({"weights": {"throughput": 0}}, "weights"),
        ({"weights": {"beauty": 1}}, "weights"),
        ({"qspec": {"throughput": {"min": 700}}}, "qspec.throughput.min"),
        ({"rspec": {"bandwidth_ceiling": "1 Mbps"}}, "qspec.throughput.min"),
    ],
)
def test_a_bad_template_is_refused_by_field(world, change, field):
    answer = world.ask("POST", "/templates", json={**SOYKB, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in problem_fields(answer)), answer.text


def test_a_template_is_given_in_the_form_that_is_asked_for(world):
    def get(accept):
        return world.ask("GET", "/templates/soykb", headers={"Accept": accept})

    assert get("application/json").mimetype == "application/json"
    assert get("*/*").mimetype == "application/json"
    yaml = get("application/yaml")
    assert parse_model(yaml.text, Template) == Template.model_validate(SOYKB)
    assert "http://www.geni.net/resources/rspec/3" in get("application/xml").text
    refused = get("image/png")
    assert (refused.status_code, refused.json["code"]) == (406, "not-acceptable")
    problem_fields(refused)


# -- the network ----------------------------------------------------------------------------------------


def test_paths_are_told_with_values_and_ages(world):
    world.stage.disconnect(0xA02)
    answer = world.ask("GET", "/paths").json
    assert answer["at"] == "2025-10-09T08:53:20.000Z"
    first = answer["items"][0]
    assert (first["path"], first["capacity_bps"]) == ("al2s", 60.6e6)
    assert first["metrics"]["throughput"]["age_seconds"] == 42
    assert first["metrics"]["throughput"]["basis"] == "active test"
    assert [one["connected"] for one in answer["switches"]] == [True, False]


def test_one_snapshot_serves_many(world):
    shared = Snapshots(lambda: world.link.call("snapshot", {}), lambda: 0.0)
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], snapshots=shared)
    for _ in range(5):
        world.ask("GET", "/paths")
        world.ask("GET", "/queue")
    assert [kind for kind, _ in world.controller.seen].count("snapshot") == 1


def test_measurements_are_filtered_and_paged(world):
    assert len(world.ask("GET", "/measurements").json["items"]) == 12
    query = "/measurements?path=al2s&metric=throughput&source=mu&destination=osu"
    values = world.ask("GET", query).json
    assert [one["value"] for one in values["items"]] == [58e6] * 3
    assert values["next"] is None
    newest = world.ask("GET", query + "&limit=1").json
    older = world.ask("GET", f"{query}&limit=1&before={newest['next']}").json
    assert older["items"][0]["observed_at"] < newest["items"][0]["observed_at"]
    since = world.ask("GET", query + "&since=2025-10-09T10:52:50%2B02:00").json
    assert len(since["items"]) == 1


def test_without_an_archive_there_are_no_measurements(world):
    for file in world.folder.glob("measurements.db*"):
        file.unlink()
    assert world.ask("GET", "/measurements").json["items"] == []


def test_an_archive_that_is_none_is_a_503(world):
    for file in world.folder.glob("measurements.db*"):
        file.unlink()
    (world.folder / "measurements.db").write_text("not a database " * 100)
    answer = world.ask("GET", "/measurements")
    assert answer.status_code == 503
    problem_fields(answer)


def test_rules_are_told_as_ovs_ofctl_prints_them(world):
    name = world.submit()
    rule = world.ask("GET", f"/rules?flow={name}", "researcher").json["items"][0]
    assert rule["text"].startswith("cookie=0xad10000000000001, table=0, idle_timeout=60, priority=30500,tcp,")
    assert (rule["dpid"], rule["state"], rule["owner"]) == ("0000000000000a01", "installed", name)
    found = world.ask("GET", "/rules?dpid=0000000000000a02&limit=500", "auditor").json["items"]
    assert {one["dpid"] for one in found} == {"0000000000000a02"}
    refused = world.ask("GET", "/rules", "researcher")
    assert set(problem_fields(refused)) == {"flow"}


# -- conditional requests, times, health ----------------------------------------------------------------


def test_what_the_client_has_is_not_sent_again(world):
    first = world.ask("GET", "/templates").headers
    assert "Date" not in first, "the server adds it"
    tag = first["ETag"]
    assert world.ask("GET", "/templates", headers={"If-None-Match": tag}).status_code == 304
    world.ask("POST", "/templates", json={**SOYKB, "priority": 600})
    assert world.ask("GET", "/templates", headers={"If-None-Match": tag}).status_code == 200


def test_a_controller_that_is_away_is_a_503_that_says_so(world):
    name = world.submit()
    world.stop_controller()
    for method, address, body in (
        ("POST", "/flows", WISH),
        ("DELETE", f"/flows/{name}", None),
        ("GET", "/queue", None),
        ("GET", "/readyz", None),
    ):
        answer = world.ask(method, address, json=body)
        assert answer.status_code == 503
        assert "controller" in answer.json["detail"]
        assert answer.headers["Retry-After"]
        problem_fields(answer)
    assert world.ask("GET", "/healthz").status_code == 200
    assert world.ask("GET", f"/flows/{name}").json["id"] == name  # reading goes on
    assert "adon_controller_up 0.0" in world.ask("GET", "/metrics").text


def test_metrics_for_prometheus(world):
    world.submit()
    world.submit(qspec={"throughput": {"min": "60 Mbps"}})
    world.stage.pass_time(30)
    world.stage.delete_by_hand(world.stage.rules_in()[0], reported=False)
    world.stage.sync()
    text = world.ask("GET", "/metrics").text
    for line in (
        'adon_flows{state="active"} 1.0',
        'adon_flows{state="queued"} 1.0',
        "adon_flows_submitted_total 2.0",
        'adon_rules{state="installed"} 14.0',
        "adon_controller_up 1.0",
        'adon_of_connected{dpid="0000000000000a01"} 1.0',
        "adon_of_flowmods_sent_total 0.0",
        'adon_of_barrier_seconds_bucket{le="+Inf"} 0.0',
        "adon_reconcile_missing_total 1.0",
    ):
        assert line in text


def test_metrics_of_the_connections_of_switches(world):
    tally = world.controller.tally
    tally.count_refusal("OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)")
    tally.connection_refused("tls")
    tally.packet_in("port_rate")
    tally.count_malformed()
    tally.echo(0.003)
    text = world.ask("GET", "/metrics").text
    for line in (
        'adon_of_errors_total{code="OFPFMFC_TABLE_FULL(1)",type="OFPET_FLOW_MOD_FAILED(5)"} 1.0',
        'adon_of_connections_refused_total{reason="tls"} 1.0',
        'adon_of_packet_in_total{result="port_rate"} 1.0',
        "adon_of_malformed_total 1.0",
        'adon_of_echo_seconds_bucket{le="0.0025"} 0.0',
        'adon_of_echo_seconds_bucket{le="0.005"} 1.0',
        "adon_of_echo_seconds_sum 0.003",
    ):
        assert line in text


def test_the_description_is_complete(world):
    document = world.ask("GET", "/openapi.json", None).json
    assert document["openapi"].startswith("3.1")
    body = json.dumps(document)
    known = document["components"]["schemas"]
    assert all(part.split('"')[0] in known for part in body.split("#/components/schemas/")[1:])
    assert known["FlowBody"]["properties"]["size"]["type"] == "string"
    for path in document["paths"].values():
        for operation in path.values():
            assert any(status.startswith("2") for status in operation["responses"]), operation
            assert operation["summary"]


def test_nothing_secret_and_nothing_foreign_is_logged(world, caplog):
    caplog.set_level("DEBUG")
    world.ask("POST", "/flows", json=WISH)
    world.ask("GET", "/flows", "adon_wrong")
    assert world.tokens["admin"] not in caplog.text
    assert "adon_wrong" not in caplog.text


def test_times_are_rfc_3339(world):
    world.submit()
    assert world.ask("GET", "/flows/f-1").json["submitted_at"] == "2025-10-09T08:53:20.000Z"
    assert NOW == 1_760_000_000
