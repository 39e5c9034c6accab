"""The whole network at a glance: the mesh, boxes, workflows, slices, the policy, health; templates' texts."""

from __future__ import annotations

import pytest

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.yamlfile import parse_model
from apps.rest.workflows import STALE_S
from measurement.model import Metric, Observation, PathKey
from tests.support.factories import make_measurement
from tests.support.fake_collector import NETWORK, NOW
from tests.support.web_world import SOYKB


def test_the_mesh_has_every_direction_of_every_path(world):
    found = world.ask("GET", "/measurements/mesh?metric=throughput").json
    pairs = {(one["source"], one["destination"]): one for one in found["items"]}
    assert set(pairs) == {("mu", "osu"), ("osu", "mu")}
    there, back = pairs["mu", "osu"], pairs["osu", "mu"]
    assert [(one["path"], one["verdict"]) for one in there["paths"]] == [
        ("al2s", "good"),
        ("internet", "critical"),
    ]
    assert there["verdict"] == "good"
    assert {one["verdict"] for one in back["paths"]} == {"no_data"}
    assert back["paths"][0]["value"] is None
    only = world.ask("GET", "/measurements/mesh?metric=throughput&path=internet").json
    assert [one["verdict"] for one in only["items"]] == ["critical", "no_data"]


def test_the_mesh_hides_what_one_may_not_read(world):
    world.grant({"may": "read", "who": ["rival"], "metrics": ["rtt"]})
    assert world.ask("GET", "/measurements/mesh?metric=throughput", "rival").json["items"] == []
    assert world.ask("GET", "/measurements/mesh?metric=rtt", "rival").json["items"]
    for path in (
        "/measurements/series",
        "/measurements/boxes?since=2025-10-09T00:00:00Z&until=2025-10-09T12:00:00Z",
    ):
        items = world.ask("GET", path, "rival").json["items"]
        assert {one.get("series", one)["metric"] for one in items} == {"rtt"}


# -- policy.thresholds ----------------------------------------------------------------------------------


def configured(thresholds: str) -> Configuration:
    text = NETWORK.read_text().replace("policy:\n", f"policy:\n  thresholds: {thresholds}\n")
    return parse_model(text, Configuration)


WRONG = [
    ("{beauty: {warning: 1 s, critical: 2 s}}", "policy.thresholds.beauty"),
    ("{rtt: {warning: 50, critical: 60 ms}}", "policy.thresholds.rtt.warning"),
    ("{rtt: {warning: 50 ms}}", "policy.thresholds.rtt.critical"),
    ("{rtt: 50 ms}", "policy.thresholds.rtt"),
    ("{rtt: {warning: 50 ms, critical: 20 ms}}", "policy.thresholds.rtt.critical"),
    ("{throughput: {warning: 5 Mbps, critical: 7 Mbps}}", "policy.thresholds.throughput.critical"),
]


@pytest.mark.parametrize(("text", "field"), WRONG)
def test_thresholds_that_mean_nothing_are_refused(text, field):
    with pytest.raises(InvalidInput) as caught:
        configured(text)
    assert [problem.field for problem in caught.value.problems] == [field]


# -- workflows ------------------------------------------------------------------------------------------


def seen(host, name, metric, value, age=0.0, tool="pegasus-status", **extra):
    return Observation(PathKey("", host, name), metric, value, NOW - age, f"custom:{host}/x", tool, extra)


def test_workflows_are_told_as_their_host_told_them_last(world):
    world.append(
        seen("dtn1", "run1", "pegasus.state", 0, age=600, state="Running"),
        seen("dtn1", "run1", "pegasus.percent_done", 10.0, age=600),
        seen("dtn1", "run1", "pegasus.state", 2, state="Failure", dags=[{"name": "a", "state": "Failure"}]),
        seen("dtn1", "run1", "pegasus.percent_done", 40.0),
        seen("dtn1", "run1", "pegasus.jobs_failed", 3),
        seen("dtn1", "run1", "pegasus.wall_time", 90.5, age=1),
        seen("dtn1", "run1", "pegasus.analysis_failed", 3, failures=[{"name": "align_1"}]),
        seen("dtn2", "run2", "pegasus.state", 0, age=STALE_S + 20, state="Running"),
        seen("dtn1", "soykb", "pegasus.workflows_total", 4),
        seen("dtn1", "hpc", "batch.cores_free", 8, age=30, tool="slurm"),
        seen("dtn1", "hpc", "batch.queue_wait", 60.0, age=60, tool="slurm"),
        seen("dtn1", "", "host.load_1m", 1.0),
    )
    found = world.ask("GET", "/workflows").json
    one, other = found["items"]
    assert (one["host"], one["name"], one["state"], one["percent_done"]) == ("dtn1", "run1", "failure", 40.0)
    assert (one["jobs"], one["times_seconds"]) == ({"failed": 3}, {"wall_time": 90.5})
    assert one["failures"] == [{"name": "align_1"}]
    assert one["parts"][0]["state"] == "Failure"
    assert not one["stale"]
    assert (other["state"], other["stale"]) == ("running", True)
    assert found["users"][0]["workflows"] == {"total": 4}
    (batch,) = found["batch_systems"]
    # The last sample has no wait: such a job would never start; what an earlier one said holds no more.
    assert (batch["system"], batch["values"], batch["queue_wait_seconds"]) == (
        "slurm",
        {"cores_free": 8.0},
        None,
    )
    assert [w["name"] for w in world.ask("GET", "/workflows?state=running").json["items"]] == ["run2"]
    assert world.ask("GET", "/workflows?host=nowhere").json["items"] == []


# -- templates ------------------------------------------------------------------------------------------


def test_versions_and_how_they_differ(world):
    changed = {**SOYKB, "qspec": {"throughput": {"min": "9 Mbps"}}, "weights": {"rtt": 1, "throughput": 3}}
    world.ask("POST", "/templates", "performance_engineer", json=changed)
    versions = world.ask("GET", "/templates/soykb/versions").json["items"]
    assert [(one["version"], one["author"]) for one in versions] == [
        (1, "admin"),
        (2, "performance_engineer"),
    ]
    assert world.ask("GET", "/templates").json["items"][0]["versions"] == [1, 2]
    found = world.ask("GET", "/templates/soykb/diff").json
    assert (found["before"], found["after"]) == (1, 2)
    fields = {one["field"]: (one["before"], one["after"]) for one in found["changes"]}
    assert fields["qspec.throughput.min"] == ("7 Mbps", "9 Mbps")
    assert fields["qspec.rtt.max"] == ("100 ms", None)
    assert not any(name.startswith("weights") for name in fields)
    lines = found["text"].splitlines()
    assert [line for line in lines if "throughput: {" in line] == [
        "-  throughput: {min: 7 Mbps, target: 50 Mbps, streams: 1}",
        "+  throughput: {min: 9 Mbps, streams: 1}",
    ]
    assert (
        world.ask("GET", "/templates/soykb/diff?from=2&to=1")
        .json["text"]
        .startswith("--- soykb@2\n+++ soykb@1")
    )
    assert world.ask("GET", "/templates/soykb/diff?to=1").json["changes"] == []
    assert world.ask("GET", "/templates/soykb/diff?to=9").status_code == 404
    assert world.ask("GET", "/templates/none/versions").status_code == 404


def test_a_check_names_line_and_column(world):
    text = "name: x\nweights: {rtt: 1}\nqspec:\n  rtt: {max: 5}\n  colour: blue\n"
    found = world.ask("POST", "/template-checks", "researcher", json={"text": text}).json
    places = {one["field"]: (one["line"], one["column"]) for one in found["problems"]}
    assert places == {"qspec.rtt.max": (4, 9), "qspec.colour": (5, 3)}
    json_text = '{"name": "x",\n\t"weights": {"beauty": 1}}'
    found = world.ask("POST", "/template-checks", json={"text": json_text, "form": "json"}).json
    assert (found["problems"][0]["field"], found["problems"][0]["line"]) == ("weights.beauty", 2)
    assert world.controller.seen[-1][0] != "template.add"


# -- slices, health -------------------------------------------------------------------------------------

SLICE = """
slices:
  genomics:
    number: 1
    members: {who: [researcher]}
    flowspace: [{source: [10.1.0.0/16], paths: [al2s]}]
    share: {al2s: 0.5}
    rule_budget: 40
"""


def test_a_researcher_sees_the_slices_they_belong_to(world):
    read = parse_model(NETWORK.read_text() + SLICE, Configuration)
    world.start_controller(read)
    world.submit(slice="genomics")
    (found,) = world.ask("GET", "/slices", "researcher").json["items"]
    assert found["members"] is None
    assert found["rules"][0] == {"dpid": "0000000000000a01", "rules": 3, "budget": 40}
    there = next(one for one in found["paths"] if one["source"] == "mu")
    assert (there["path"], there["allowed_bps"], there["reserved_bps"]) == ("al2s", 30.3e6, 7e6)
    assert world.ask("GET", "/slices", "rival").json["items"] == []
    (staff,) = world.ask("GET", "/slices", "operator").json["items"]
    assert staff["members"]["who"] == ["researcher"]


def test_boxes_of_hours_and_days(world):
    key = PathKey("al2s", "osu", "mu")
    start = NOW - NOW % 86_400
    rtt = {"key": key, "metric": Metric.RTT}
    world.append(
        *(
            make_measurement(**rtt, value=float(n), observed_at=start + 600 * n, source=f"run-{n}")
            for n in range(12)
        )
    )
    span = "since=2025-10-09T00:00:00Z&until=2025-10-10T00:00:00Z&source=osu&metric=rtt&path=al2s"
    (hours,) = world.ask("GET", f"/measurements/boxes?{span}").json["items"]
    assert [(one["minimum"], one["maximum"], one["count"]) for one in hours["boxes"]] == [
        (0, 5, 6),
        (6, 11, 6),
    ]
    (day,) = world.ask("GET", f"/measurements/boxes?{span}&group=day").json["items"]
    (box,) = day["boxes"]
    assert (box["count"], box["minimum"], box["maximum"], box["mean"]) == (12, 0, 11, 5.5)
    assert box["quantiles"]["0.5"] == 5.0
    assert (hours["unit"], box["seconds"]) == ("s", 86_400)
