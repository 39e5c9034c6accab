"""The whole network at a glance: the mesh, boxes, workflows, slices, the policy, health; templates' texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.config import Configuration, load
from adon.config.thresholds import Threshold
from adon.errors import InvalidInput
from adon.templates_catalog import comparing
from adon.templates_catalog.model import Template
from adon.yamlfile import check_model, dump, parse_model
from apps.rest import mesh
from apps.rest.mesh import Limits, Verdict
from apps.rest.services import NAME
from apps.rest.template_models import curves
from apps.rest.workflows import BATCH, PEGASUS, STALE_S, subjects, told
from measurement.model import Measurement, Metric, Observation, PathKey
from tests.apps.measured import NETWORK, NOW
from tests.apps.web import SOYKB

KEY = PathKey("al2s", "mu", "osu")


def limits(metric, *bounds, configured=None):
    return Limits(configured, {f"t{n}@1": bound for n, bound in enumerate(bounds)})


JUDGED = [
    (Metric.RTT, 0.02, limits(Metric.RTT), Verdict.UNJUDGED),
    (Metric.RTT, 0.02, limits(Metric.RTT, 0.05, 0.1), Verdict.GOOD),
    (Metric.RTT, 0.05, limits(Metric.RTT, 0.05, 0.1), Verdict.GOOD),
    (Metric.RTT, 0.07, limits(Metric.RTT, 0.05, 0.1), Verdict.WARNING),
    (Metric.RTT, 0.2, limits(Metric.RTT, 0.05, 0.1), Verdict.CRITICAL),
    (Metric.THROUGHPUT, 9e6, limits(Metric.THROUGHPUT, 7e6, 1e6), Verdict.GOOD),
    (Metric.THROUGHPUT, 5e6, limits(Metric.THROUGHPUT, 7e6, 1e6), Verdict.WARNING),
    (Metric.THROUGHPUT, 5e5, limits(Metric.THROUGHPUT, 7e6, 1e6), Verdict.CRITICAL),
    # What is configured goes before what templates ask for.
    (
        Metric.RTT,
        0.01,
        limits(Metric.RTT, 0.001, configured=Threshold(warning=0.05, critical=0.1)),
        Verdict.GOOD,
    ),
    (
        Metric.RTT,
        0.06,
        limits(Metric.RTT, 1, configured=Threshold(warning=0.05, critical=0.1)),
        Verdict.WARNING,
    ),
    (
        Metric.THROUGHPUT,
        4.0,
        limits(Metric.RTT, configured=Threshold(warning=9, critical=5)),
        Verdict.CRITICAL,
    ),
]


@pytest.mark.parametrize(("metric", "value", "known", "verdict"), JUDGED)
def test_a_value_is_judged(metric, value, known, verdict):
    assert mesh.judged(metric, value, known)[0] is verdict


@pytest.mark.parametrize(
    ("age", "verdict"),
    [(0, Verdict.GOOD), (180, Verdict.GOOD), (181, Verdict.STALE), (None, Verdict.NO_DATA)],
)
def test_no_value_and_an_old_one_are_no_verdict_on_the_network(age, verdict):
    at = NOW - (age or 0)
    value = None if age is None else Measurement(KEY, Metric.RTT, 0.01, at, at, "https://mu/r/1")
    fresh = mesh.fresh_for(KEY, Metric.RTT, load(NETWORK))
    assert fresh == 180  # three of its test's periods
    found = mesh.cell(KEY, Metric.RTT, value, limits(Metric.RTT, 0.05), fresh, NOW)
    assert found.verdict is verdict


def test_the_best_path_is_the_pair_s_verdict():
    assert mesh.best([Verdict.CRITICAL, Verdict.NO_DATA, Verdict.WARNING]) is Verdict.WARNING
    assert mesh.best([]) is Verdict.NO_DATA


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


def test_thresholds_are_read_with_units_and_written_back():
    text = (
        "{throughput: {warning: 7 Mbps, critical: 1 Mbps}, "
        "rtt: {warning: 50 ms, critical: 0.1 s}, loss: {warning: 1 %, critical: 2 %}}"
    )
    read = configured(text)
    assert read.policy.thresholds[Metric.THROUGHPUT] == Threshold(warning=7e6, critical=1e6)
    assert parse_model(dump(read), Configuration) == read
    assert Limits.of(Metric.RTT, read, ()).configured == Threshold(warning=0.05, critical=0.1)


WRONG = [
    ("{beauty: {warning: 1 s, critical: 2 s}}", "policy.thresholds.beauty"),
    ("{rtt: {warning: 50, critical: 60 ms}}", "policy.thresholds.rtt.warning"),
    ("{rtt: {warning: 50 ms}}", "policy.thresholds.rtt"),
    ("{rtt: 50 ms}", "policy.thresholds.rtt"),
    ("{rtt: {warning: 50 ms, critical: 20 ms}}", "policy.thresholds.rtt.critical"),
    ("{throughput: {warning: 5 Mbps, critical: 7 Mbps}}", "policy.thresholds.throughput.critical"),
]


@pytest.mark.parametrize(("text", "field"), WRONG)
def test_thresholds_that_mean_nothing_are_refused(text, field):
    with pytest.raises(InvalidInput) as caught:
        configured(text)
    assert [problem.field for problem in caught.value.problems] == [field]


def test_the_policy_is_told_setting_by_setting(world):
    items = {one["name"]: one for one in world.ask("GET", "/policy").json["items"]}
    assert (items["reserve_nodes"]["value"], items["reserve_nodes"]["configured"]) == (1, True)
    assert (items["settle"]["value"], items["settle"]["configured"]) == ("2.0 s", False)
    assert items["aging"]["meaning"]


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


def test_what_is_no_longer_kept_is_not_told():
    assert told(("dtn", "x"), PEGASUS, []) is None
    assert told(("dtn", "x"), BATCH, [seen("dtn", "x", "pegasus.state", 1)]) is None
    assert subjects([]) == ([], [], [])


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


def test_a_template_does_not_differ_from_itself():
    template = check_model(SOYKB, Template)
    assert comparing.changes(template, template) == ()
    assert comparing.text(template, template) == ""


def test_a_check_names_line_and_column(world):
    text = "name: x\nweights: {rtt: 1}\nqspec:\n  rtt: {max: 5}\n  colour: blue\n"
    found = world.ask("POST", "/template-checks", "researcher", json={"text": text}).json
    places = {one["field"]: (one["line"], one["column"]) for one in found["problems"]}
    assert places == {"qspec.rtt.max": (4, 9), "qspec.colour": (5, 3)}
    json_text = '{"name": "x",\n\t"weights": {"beauty": 1}}'
    found = world.ask("POST", "/template-checks", json={"text": json_text, "form": "json"}).json
    assert (found["problems"][0]["field"], found["problems"][0]["line"]) == ("weights.beauty", 2)
    assert world.controller.seen[-1][0] != "template.add"


def test_a_check_shows_how_metrics_would_be_scored(world):
    table = "tables: {rtt: {points: [[10 ms, 10], [50 ms, 1]], step: true}}\n"
    bounds = "qspec: {throughput: {min: 7 Mbps, target: 50 Mbps}}\n"
    text = f"name: soykb\nweights: {{rtt: 1, throughput: 3}}\n{bounds}{table}"
    found = world.ask("POST", "/template-checks", json={"text": text}).json
    assert (found["ok"], found["next_version"]) == (True, 2)
    curve = {one["metric"]: one for one in found["curves"]}
    assert curve["throughput"]["generated"]
    assert curve["throughput"]["points"][1:3] == [[7e6, 1.0], [5e7, 10.0]]
    # A step is drawn as one: the score before and after it, at the same value.
    assert [0.05, 10.0] in curve["rtt"]["points"]
    assert [0.05, 1.0] in curve["rtt"]["points"]
    assert curve["throughput"]["weight"] == 0.75


def test_curves_stay_where_values_can_be():
    template = check_model(
        {"name": "x", "weights": {"loss": 1}, "qspec": {"loss": {"max": "100 %"}}}, Template
    )
    (loss,) = curves(template)
    assert all(0 <= value <= 1 for value, _ in loss.points)


def test_an_rspec_is_read_in_its_parts(world):
    rspec = world.ask("GET", "/templates/soykb", headers={"Accept": "application/rspec+xml"}).text
    found = world.ask("POST", "/template-checks", json={"text": rspec, "form": "rspec"}).json
    assert found["ok"]
    assert found["parts"]["qspec"]["throughput"]["min"] == "7000000.0 bps"


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
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], configuration=read)
    (found,) = world.ask("GET", "/slices", "researcher").json["items"]
    assert found["members"] is None
    assert found["rules"] == [{"dpid": "0000000000000a01", "rules": 4, "budget": 40}]
    there = next(one for one in found["paths"] if one["source"] == "mu")
    assert (there["path"], there["allowed_bps"], there["reserved_bps"]) == ("al2s", 30.3e6, 7e6)
    assert world.ask("GET", "/slices", "rival").json["items"] == []
    (staff,) = world.ask("GET", "/slices", "operator").json["items"]
    assert staff["members"]["who"] == ["researcher"]


def states(world):
    found = world.ask("GET", "/health").json
    return found["state"], {one["name"]: one["state"] for one in found["parts"]}


def test_health_tells_each_part(world):
    whole, parts = states(world)
    assert whole == "degraded"  # one of the two switches is not connected
    assert parts == {
        "web": "ok",
        "store": "ok",
        "controller": "ok",
        "switches": "degraded",
        "collector": "ok",
        "archive": "ok",
    }
    world.stop_collector()
    assert states(world)[1]["collector"] == "away"
    world.stop_controller()
    whole, parts = states(world)
    assert (whole, parts["controller"]) == ("away", "away")
    assert "switches" not in parts


def test_health_without_values_and_with_old_ones(world):
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], clock=lambda: NOW + 5000)
    assert states(world)[1]["archive"] == "degraded"
    for file in world.folder.glob("measurements.db*"):
        file.unlink()
    assert states(world)[1]["archive"] == "degraded"


def test_boxes_of_hours_and_days(world):
    key = PathKey("al2s", "osu", "mu")
    start = NOW - NOW % 86_400
    world.append(
        *(
            Measurement(key, Metric.RTT, float(n), start + 600 * n, start + 600 * n, f"https://mu/r/{n}")
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
