"""Alarms, the schedule, executed runs, plots and subscriptions over the REST API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.errors import Unavailable
from apps.rest import measurement_access
from measurement.anomaly.model import Severity
from measurement.model import Observation, PathKey, Series
from tests.support.fake_collector import FELL, NOW, OVER, ROSE, alarm
from tests.support.rest_answers import problem_fields

RUN = {"path": "al2s", "source": "mu", "destination": "osu", "test": "throughput"}
MAIL = {"channel": "mail", "target": "ann@example.edu"}
OF_AL2S = {"may": "read", "who": ["researcher"], "metrics": ["throughput"], "from": ["mu"]}
"""The researcher reads throughput from mu, and nothing else; nobody else (but administrators) reads."""


def ids(answer):
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json["items"]]


# -- alarms --------------------------------------------------------------------------------------------


def test_alarms_are_told_with_their_evidence(world):
    assert ids(world.ask("GET", "/alarms")) == [FELL.id, ROSE.id, OVER.id]
    assert ids(world.ask("GET", "/alarms?open=true")) == [FELL.id, ROSE.id]
    one = world.ask("GET", f"/alarms/{FELL.id}").json
    assert (one["severity"], one["bad"], one["cleared_at"]) == ("critical", True, None)
    assert one["series"] == {"path": "al2s", "source": "mu", "destination": "osu", "metric": "throughput"}
    assert one["raised_at"] == "2025-10-09T08:48:20.000Z"
    assert one["before"]["mean"] == 58e6
    assert one["after"]["samples"] == [["2025-10-09T08:48:20.000Z", 12e6]]
    assert world.ask("GET", f"/alarms/{OVER.id}").json["cleared_at"] is not None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("path=internet", [ROSE]),
        ("metric=rtt", [ROSE, OVER]),
        ("metric=rtt&open=true", [ROSE]),
        ("since=2025-10-09T08:45:00Z", [FELL]),
        ("until=2025-10-09T08:00:00Z", [OVER]),
        ("limit=1", [FELL]),
        ("path=al2s&metric=rtt&limit=1", [OVER]),  # the first two are not counted
    ],
)
def test_alarms_are_narrowed(world, query, found):
    assert ids(world.ask("GET", f"/alarms?{query}")) == [one.id for one in found]


def test_many_alarms_that_one_may_not_see_do_not_hide_those_that_one_may(world):
    hidden = Series("internet", "osu", "mu", "rtt")
    world.put(*(alarm(hidden, age, "x") for age in range(1, 60)))
    world.grant(OF_AL2S)
    assert ids(world.ask("GET", "/alarms?limit=2", "researcher")) == [FELL.id]


def test_an_alarm_is_acknowledged_once_and_only_while_it_is_in_force(world):
    answer = world.ask("POST", f"/alarms/{FELL.id}/acknowledge", "operator", json={})
    assert (answer.status_code, answer.json["acknowledged_by"]) == (200, "operator")
    again = world.ask("POST", f"/alarms/{FELL.id}/acknowledge", "admin", json={})
    assert again.json["acknowledged_by"] == "operator"
    over = world.ask("POST", f"/alarms/{OVER.id}/acknowledge", "admin", json={})
    assert (over.status_code, set(problem_fields(over))) == (409, {"alarm"})
    assert world.ask("POST", "/alarms/none/acknowledge", "admin", json={}).status_code == 404
    assert [payload for kind, payload in world.collector.seen if kind == "alarm.acknowledge"] == [
        {"id": FELL.id, "who": "operator"},
        {"id": FELL.id, "who": "admin"},
    ]


def test_an_alarm_is_as_readable_as_its_series(world):
    world.grant(OF_AL2S)
    assert ids(world.ask("GET", "/alarms", "researcher")) == [FELL.id]
    assert world.ask("GET", f"/alarms/{FELL.id}", "researcher").status_code == 200
    assert world.ask("GET", f"/alarms/{ROSE.id}", "researcher").status_code == 404
    assert ids(world.ask("GET", "/alarms", "operator")) == []
    refused = world.ask("POST", f"/alarms/{FELL.id}/acknowledge", "operator", json={})
    assert refused.status_code == 404
    assert len(ids(world.ask("GET", "/alarms", "admin"))) == 3


# -- subscriptions -------------------------------------------------------------------------------------


def test_a_subscription_is_kept_with_who_will_read(world):
    wanted = {**MAIL, "filter": {"path": "al2s", "least": "critical"}}
    answer = world.ask("POST", "/subscriptions", "researcher", json=wanted)
    assert answer.status_code == 201
    assert (answer.json["owner"], answer.json["filter"]["path"]) == ("researcher", "al2s")
    _, payload = world.collector.seen[-1]
    assert payload["subscription"]["reader"] == {"roles": ["researcher"], "groups": []}
    assert world.ask("GET", "/subscriptions", "researcher").json["items"] == [answer.json]


def test_everybody_sees_and_ends_their_own_subscriptions_an_administrator_all(world):
    mine = world.ask("POST", "/subscriptions", "researcher", json=MAIL).json["id"]
    other = world.ask("POST", "/subscriptions", "rival", json=MAIL).json["id"]
    assert ids(world.ask("GET", "/subscriptions", "researcher")) == [mine]
    assert sorted(ids(world.ask("GET", "/subscriptions"))) == sorted([mine, other])
    assert world.ask("DELETE", f"/subscriptions/{other}", "researcher").status_code == 404
    assert world.ask("DELETE", f"/subscriptions/{mine}", "researcher").json == {"id": mine}
    assert world.ask("DELETE", f"/subscriptions/{mine}", "researcher").status_code == 404
    assert world.ask("DELETE", f"/subscriptions/{other}", "admin").status_code == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"channel": "pigeon"}, "channel"),
        ({"filter": {"colour": "blue"}}, "filter.colour"),
        ({"filter": {"least": "fatal"}}, "filter.least"),
        ({"reader": {"roles": ["admin"]}}, "reader"),
        ({"owner": "admin"}, "owner"),
        ({"target": "x" * 501}, "target"),
    ],
)
def test_a_subscription_that_is_none_is_refused_by_field(world, change, field):
    answer = world.ask("POST", "/subscriptions", json={**MAIL, **change})
    assert (answer.status_code, set(problem_fields(answer))) == (422, {field})


@pytest.mark.parametrize(
    ("narrowed", "allowed"),
    [
        ({}, True),
        ({"path": "al2s"}, True),
        ({"metric": "throughput"}, True),
        ({"source": "mu", "destination": "osu", "metric": "throughput"}, True),
        ({"metric": "rtt"}, False),
        ({"source": "osu"}, False),
        ({"path": "al2s", "source": "osu", "metric": "throughput"}, False),
        ({"metric": "host.cpu"}, False),
    ],
)
def test_nobody_subscribes_to_what_they_cannot_read(world, narrowed, allowed):
    world.grant(OF_AL2S)
    answer = world.ask("POST", "/subscriptions", "researcher", json={**MAIL, "filter": narrowed})
    assert answer.status_code == (201 if allowed else 403), answer.text
    assert (
        world.ask("POST", "/subscriptions", "operator", json={**MAIL, "filter": narrowed}).status_code == 403
    )


def test_a_pattern_of_metrics_can_be_subscribed_to(world):
    world.grant({"may": "read", "metrics": ["host.*"]})
    for metric, status in (("host.cpu", 201), (None, 201), ("rtt", 403)):
        answer = world.ask("POST", "/subscriptions", "rival", json={**MAIL, "filter": {"metric": metric}})
        assert answer.status_code == status


# -- the plan and its runs -----------------------------------------------------------------------------


def test_the_schedule_is_told_with_what_it_spends(world):
    answer = world.ask("GET", "/schedule").json
    assert (answer["measures"], answer["round_seconds"], len(answer["tasks"])) == (True, 240, 12)
    assert answer["upcoming"][0]["start"] == "2025-10-09T08:53:40.000Z"
    assert answer["spend"]["al2s"]["allowed_bps"] == 60.6e6


def test_the_picture_of_the_plan_has_a_policy_of_its_own(world):
    answer = world.ask("GET", "/schedule/gantt")
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert "style-src 'unsafe-inline'" in answer.headers["Content-Security-Policy"]
    assert "script" not in answer.headers["Content-Security-Policy"]
    assert "'self'" in world.ask("GET", "/schedule").headers["Content-Security-Policy"]


def test_runs_are_told_with_plan_and_truth(world):
    found = world.ask("GET", "/executions").json["items"]
    assert [one["task"] for one in found][-1] == "al2s:osu>mu/rtt"
    newest, quiet = found[0], found[1]
    assert ("503" in newest["outcome"], newest["started"]) == (True, "2025-10-09T08:53:00.125Z")
    assert (quiet["started"], quiet["ended"]) == (None, None)
    assert len(world.ask("GET", "/executions?since=2025-10-09T08:52:30Z").json["items"]) == 3
    assert len(world.ask("GET", "/executions?limit=2").json["items"]) == 2


def test_the_plan_shows_the_tests_that_one_may_read_or_start(world):
    world.grant(OF_AL2S, {"may": "start", "who": ["rival"], "from": ["osu"], "metrics": ["rtt"]})
    assert {task["task"] for task in world.ask("GET", "/schedule", "researcher").json["tasks"]} == {
        "al2s:mu>osu/throughput",
        "internet:mu>osu/throughput",
    }
    runs = world.ask("GET", "/executions", "rival").json["items"]
    assert [one["task"] for one in runs] == ["internet:osu>mu/rtt", "al2s:osu>mu/rtt"]
    assert (
        world.ask("GET", "/executions?limit=1", "researcher").json["items"][0]["task"].startswith("internet")
    )
    assert world.ask("GET", "/schedule/gantt", "researcher").status_code == 403
    assert world.ask("GET", "/schedule/gantt", "admin").status_code == 200


def test_a_test_is_done_now(world):
    answer = world.ask("POST", "/measurements", "operator", json=RUN)
    assert (answer.status_code, answer.json["task"]) == (202, "al2s:mu>osu/throughput/on demand 1")
    kind, payload = world.collector.seen[-1]
    assert (kind, payload["who"], payload["test"]) == ("measure", "operator", "throughput")
    assert payload["key"] == {"path": "al2s", "source": "mu", "destination": "osu"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"test": "guess"}, 422),
        ({"path": "nowhere"}, 404),
        ({"colour": "blue"}, 422),
        ({"path": "x" * 101}, 422),
    ],
)
def test_a_test_that_there_is_not_is_refused(world, change, status):
    answer = world.ask("POST", "/measurements", json={**RUN, **change})
    assert answer.status_code == status
    problem_fields(answer)


def test_who_may_start_is_said_by_the_configuration_whatever_the_role(world):
    assert world.ask("POST", "/measurements", "researcher", json=RUN).status_code == 403
    world.grant({"may": "start", "who": ["researcher"], "from": ["mu"], "metrics": ["throughput"]})
    assert world.ask("POST", "/measurements", "researcher", json=RUN).status_code == 202
    for change in ({"source": "osu", "destination": "mu"}, {"test": "rtt"}):
        assert world.ask("POST", "/measurements", "researcher", json={**RUN, **change}).status_code == 403
    assert world.ask("POST", "/measurements", "operator", json=RUN).status_code == 403
    assert world.ask("POST", "/measurements", "admin", json=RUN).status_code == 202


def test_points_are_listed(world):
    assert world.ask("GET", "/points").json["items"][0] == {
        "name": "mu",
        "url": "https://10.1.0.10/pscheduler",
        "ignored": {"intervals": 3},
    }
    assert world.ask("GET", "/points").json["items"][1]["ignored"] == {}
    world.stop_collector()
    assert world.ask("GET", "/points").json["items"][0]["ignored"] is None


def test_a_collector_that_is_away_is_a_503_that_says_so(world):
    world.stop_collector()
    for method, address, body in (
        ("GET", "/schedule", None),
        ("POST", "/measurements", RUN),
        ("POST", "/subscriptions", MAIL),
        ("POST", f"/alarms/{FELL.id}/acknowledge", {}),
    ):
        answer = world.ask(method, address, json=body)
        assert (answer.status_code, answer.json["code"]) == (503, "not-running"), address
    assert len(ids(world.ask("GET", "/alarms"))) == 3  # reading goes on
    ready = world.ask("GET", "/readyz")
    assert (ready.status_code, ready.json["checks"]["collector"][:11]) == (200, "not running")


def test_readiness_without_identity_names_the_part_and_not_the_reason(world, monkeypatch):
    def fail(**_):
        raise Unavailable("connection to server at 10.0.0.5, port 5432 failed: FATAL: no such role adon")

    monkeypatch.setattr(world.store, "flows", fail)
    answer = world.app.test_client().get("/api/v1/readyz")
    assert (answer.status_code, answer.json["code"]) == (503, "not-ready")
    assert "store" in answer.json["detail"]
    assert "10.0.0.5" not in answer.text


# -- values --------------------------------------------------------------------------------------------

PLOT = "/measurements/plot?path=al2s&source=mu&destination=osu&metric=throughput"
DAY = "&since=2025-10-08T08:53:20Z&until=2025-10-09T08:53:21Z"


def test_a_series_is_told_for_a_picture(world):
    answer = world.ask("GET", PLOT + DAY).json
    assert answer["series"]["metric"] == "throughput"
    assert [(one["count"], one["mean"]) for one in answer["items"]] == [(1, 58e6)] * 3
    assert answer["items"][0]["quantiles"]["0.95"] == 58e6
    assert len(world.ask("GET", PLOT + DAY + "&points=1").json["items"]) == 1
    assert world.ask("GET", PLOT.replace("al2s", "none") + DAY).json["items"] == []
    assert set(problem_fields(world.ask("GET", PLOT))) == {"since", "until"}


def test_values_obey_the_configuration(world):
    world.stage.alarm(FELL)
    world.grant(OF_AL2S)
    assert world.ask("GET", PLOT + DAY, "researcher").status_code == 200
    for change in (("throughput", "rtt"), ("source=mu", "source=osu")):
        assert world.ask("GET", PLOT.replace(*change) + DAY, "researcher").status_code == 403
    found = world.ask("GET", "/measurements", "researcher").json["items"]
    assert {(one["metric"], one["source"]) for one in found} == {("throughput", "mu")}
    assert len(found) == 6
    first = world.ask("GET", "/paths", "researcher").json["items"][0]
    assert set(first["metrics"]) == {"throughput"}
    assert [one["metric"] for one in first["alarms"]] == ["throughput"]
    assert world.ask("GET", "/paths", "operator").json["items"][0]["alarms"] == []


def test_paths_are_told_with_alarms_and_the_quality_of_estimates(world):
    stage = world.stage
    for megabytes in (50, 100, 145):
        flow = world.flow(world.submit())
        stage.report(flow, "started", 0)
        stage.pass_time(20)
        stage.report(flow, "finished", megabytes * 1_000_000)
    stage.alarm(FELL)
    answer = world.ask("GET", "/paths").json
    (found,) = answer["items"][0]["alarms"]
    assert (found["id"], found["severity"], found["acted_on"]) == (FELL.id, "critical", True)
    assert answer["items"][1]["alarms"] == []
    assert answer["estimates"] == [
        {
            "path": "al2s", "source": "mu", "destination": "osu",
            "basis": "active test", "count": 3, "median": 0.45, "spread": pytest.approx(0.95),
        }
    ]  # fmt: skip
    world.grant(OF_AL2S)
    assert world.ask("GET", "/paths", "researcher").json["estimates"] == []


def test_a_decision_names_the_alarm_that_led_to_it(world):
    world.submit()
    (found,) = world.stage.alarm(FELL)
    assert world.ask("GET", f"/decisions/{found.id}").json["alarm"] == FELL.id


# -- Prometheus ----------------------------------------------------------------------------------------


def test_metrics_of_measuring(world):
    world.put(replace(FELL, id="another", severity=Severity.WARNING))
    text = world.ask("GET", "/metrics").text
    for line in (
        "adon_collector_up 1.0",
        'adon_alarms{severity="critical"} 1.0',
        'adon_alarms{severity="warning"} 2.0',
        'adon_measurement_runs{outcome="measured"} 2.0',
        'adon_measurement_runs{outcome="failed"} 1.0',
        'adon_measurement_runs{outcome="left_out"} 1.0',
        'adon_measurement_runs_lost{reason="quiet"} 1.0',
        'adon_measurement_runs_lost{reason="posted_late"} 0.0',
        'adon_measurement_runs_lost{reason="failed"} 1.0',
        "adon_measurement_overlaps 0.0",
        'adon_measurement_age_seconds{destination="osu",metric="rtt",path="al2s",source="mu"} 10.0',
    ):
        assert line in text, line


def test_an_overlap_is_counted_for_who_may_see_both_runs(world):
    world.overlap("al2s:mu>osu/throughput", "internet:osu>mu/rtt/on demand 4")
    assert "adon_measurement_overlaps 1.0" in world.ask("GET", "/metrics").text
    world.grant({"may": "read", "who": ["operator"], "metrics": ["rtt"]}, {"may": "start", "who": ["nobody"]})
    assert "adon_measurement_overlaps 0.0" in world.ask("GET", "/metrics", as_="operator").text


def test_metrics_go_on_without_collector_and_controller(world):
    world.stop_collector()
    world.stop_controller()
    text = world.ask("GET", "/metrics").text
    assert "adon_collector_up 0.0" in text
    assert 'adon_alarms{severity="critical"} 1.0' in text


def test_a_task_that_nobody_can_read_is_of_no_series_that_is_granted():
    assert measurement_access.series_of("al2s:mu>osu/latency/on demand 7") == tuple(
        Series("al2s", "mu", "osu", metric) for metric in ("one_way_delay", "jitter", "loss")
    )
    for name in ("", "nonsense", "a:b>c/guess", "a:b>c/rtt/other"):
        assert measurement_access.series_of(name) == (Series("", "", "", name),)


def test_a_host_s_metric_is_plotted_without_a_path(world):
    world.append(Observation(PathKey("", "mu-dtn", ""), "host.cpu", 30.0, NOW - 5, "x"))
    answer = world.ask("GET", "/measurements/plot?source=mu-dtn&metric=host.cpu" + DAY)
    assert [one["mean"] for one in answer.json["items"]] == [30.0]


def test_runs_that_met_are_listed_for_who_may_see_both(world):
    assert world.ask("GET", "/overlaps").json["items"] == []
    world.overlap("al2s:mu>osu/throughput", "internet:mu>osu/throughput")
    (met,) = world.ask("GET", "/overlaps").json["items"]
    assert met["first"]["task"] == "al2s:mu>osu/throughput"
    assert met["second"]["outcome"] == "measured"
    assert world.ask("GET", "/overlaps?since=2030-01-01T00:00:00Z").json["items"] == []
    world.grant({"may": "read", "who": ["researcher"], "metrics": ["rtt"]})
    assert world.ask("GET", "/overlaps", "researcher").json["items"] == []
