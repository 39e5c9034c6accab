"""The network's pages, as each reads them: over the real API."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adon.api.measurements import LimitsView, MeshCell, MeshValue, MeshView, Verdict
from adon.errors import InvalidInput, NotFound, Unavailable
from apps.dashboard.network import (
    alarm_page,
    maintenance_page,
    map_page,
    mesh_page,
    path_page,
    schedule_page,
    subscriptions,
    what_if,
    workflows_page,
)
from measurement.model import Metric, Observation, PathKey
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import classes, links, text
from tests.support.fake_collector import FELL, NOW
from tests.support.web_world import World

# -- the map -------------------------------------------------------------------------------------------


def test_tables_of_the_map_name_state_route_and_flows(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    shown = map_page.live(visiting())
    said = text(shown)
    for words in ("al2s", "L2", "1701", "external networks", "mu-edge", "connected", "one table, ADON only"):
        assert words in said
    assert f"/flows/{flow}" in links(shown)


# -- maintenance ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({}, {"name", "begins", "ends"}),
        ({"name": "al2s", "begins": "tomorrow", "ends": "2026-11-30 16:00"}, {"begins"}),
    ],
)
def test_what_is_wrong_stands_beside_its_field(typed: dict[str, str], fields: set[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        maintenance_page.read_window(typed, ZoneInfo("UTC"))
    assert {one.field for one in caught.value.problems} == fields


def test_the_form_is_for_who_may(visiting: Visiting) -> None:
    network = visiting().client.topology()
    assert "Announce" in text(maintenance_page.below(visiting("performance_engineer")))
    assert "Announce" not in text(maintenance_page.below(visiting("auditor")))
    assert maintenance_page.names_of(network, "switch") == [("mu-edge", "mu-edge"), ("osu-edge", "osu-edge")]


# -- the mesh ------------------------------------------------------------------------------------------


def value(path: str, verdict: str, value: float | None = None, why: str = "") -> MeshValue:
    age = None if value is None else 60.0
    return MeshValue(
        path=path,
        verdict=Verdict(verdict),
        why=why,
        value=value,
        observed_at=age,
        age_seconds=age,
        fresh_seconds=300.0,
    )


def cell(source: str, destination: str, verdict: str, *paths: MeshValue) -> MeshCell:
    return MeshCell(source=source, destination=destination, verdict=Verdict(verdict), paths=list(paths))


MESH = MeshView(
    at=0.0,
    metric=Metric.THROUGHPUT,
    unit="bps",
    higher_is_better=True,
    limits=LimitsView(warning=None, critical=None, templates={"soykb@1": 7e6}),
    sites=["mu", "osu", "uh"],
    items=[
        cell("mu", "osu", "good", value("al2s", "good", 58e6), value("internet", "critical", 6.5e6)),
        cell("osu", "mu", "no_data", value("al2s", "no_data", why="never")),
    ],
)


def test_the_mesh_has_both_directions_and_says_what_is_not_known(visiting: Visiting) -> None:
    shown = mesh_page.grid(MESH, visiting())
    said = text(shown)
    for words in ("58 Mbps", "6.5 Mbps", "no data", "no path", "7 Mbps"):
        assert words in " ".join(said.replace("● ", "").replace("✕ ", "").replace("– ", "").split())
    assert "2 pairs" in said
    assert "/series?path=al2s&source=mu&destination=osu&metric=throughput" in links(shown)


# -- series and paths ----------------------------------------------------------------------------------


def test_a_path_has_its_directions_and_a_test_for_who_may(world: World, visiting: Visiting) -> None:
    flow = world.flow(world.submit())
    world.stage.report(flow, "started", 0)
    world.stage.pass_time(20)
    world.stage.report(flow, "finished", 100_000_000)
    world.stage.alarm(FELL)
    here = visiting(parts={"name": "al2s"})
    shown = [path_page.show(here), path_page.live(here), path_page.below(here)]
    said = text(shown)
    for words in ("60.6 Mbps", "mu → osu", "osu → mu", "58 Mbps", "+45 %", "Measure now"):
        assert words in said
    assert f"/alarms/{FELL.id}" in links(shown)
    assert "Measure now" not in text(path_page.below(visiting("researcher", parts={"name": "al2s"})))


def test_without_the_controller_a_path_has_its_series(world: World, visiting: Visiting) -> None:
    world.stop_controller()
    here = visiting(parts={"name": "al2s"})
    with pytest.raises(Unavailable):
        path_page.live(here)
    assert "Path al2s" in text(path_page.show(here))
    assert "Distribution" in text(path_page.below(here))


def test_a_path_that_is_not_there(visiting: Visiting) -> None:
    with pytest.raises(NotFound):
        path_page.show(visiting(parts={"name": "nowhere"}))


# -- the plan ------------------------------------------------------------------------------------------


def test_the_schedule_tells_plan_spend_and_the_last_hour(visiting: Visiting) -> None:
    said = text(schedule_page.live(visiting()))
    for words in ("tests in", "Limit", "measured", "overlapped"):
        assert words in said


def test_without_the_collector_the_last_hour_is_there(world: World, visiting: Visiting) -> None:
    world.stop_collector()
    shown = schedule_page.live(visiting())
    assert {"notice", "wait"} <= classes(shown)
    assert "last hour" in text(shown)


# -- alarms --------------------------------------------------------------------------------------------


def test_an_alarm_shows_its_evidence(visiting: Visiting) -> None:
    here = visiting(parts={"id": FELL.id})
    shown = [alarm_page.show(here), alarm_page.live(here)]
    for words in (FELL.text, "critical", "active", "before", "after", "12 Mbps"):
        assert words in text(shown)
    assert "/paths/al2s" in links(shown)
    figure = alarm_page.figure(visiting().client.alarm(FELL.id), ZoneInfo("UTC"))
    assert [trace.name for trace in figure.data if trace.mode == "markers"] == ["before", "after"]


def test_subscriptions_are_asked_and_listed(visiting: Visiting) -> None:
    here = visiting("operator")
    assert "a@example.edu" not in text(subscriptions.section(here))
    wanted = subscriptions.read_subscription(
        {
            "channel": "mail",
            "target": " a@example.edu ",
            "path": "al2s",
            "metric": "rtt",
            "least": "critical",
            "more": ["better"],
        }
    )
    assert wanted["filter"] == {
        "path": "al2s",
        "metric": "rtt",
        "least": "critical",
        "ends": False,
        "changes_for_the_better": True,
    }
    here.client.subscribe(wanted)
    said = text(subscriptions.section(here))
    for words in ("a@example.edu", "al2s, rtt", "critical", "Delete"):
        assert words in said


# -- workflows ---------------------------------------------------------------------------------


def told(name: str, metric: str, value: float, tool: str = "pegasus-status", **more: Any) -> Observation:
    return Observation(PathKey("", "dtn1", name), metric, value, NOW, "custom:dtn1/x", tool, more)


def test_workflows_and_batch_systems_are_shown_as_told(world: World, visiting: Visiting) -> None:
    world.append(
        told("run1", "pegasus.state", 2, state="Failure"),
        told("run1", "pegasus.percent_done", 40.0),
        told("run1", "pegasus.analysis_failed", 1, failures=[{"name": "align_1"}]),
        told("soykb", "pegasus.workflows_total", 4),
        told("hpc", "batch.cores_free", 8, tool="slurm"),
    )
    said = text(workflows_page.live(visiting()))
    for words in ("run1", "failure", "40 %", "name align_1", "4 total", "slurm on dtn1", "8 cores free"):
        assert words in said


def test_a_client_without_limit_has_every_workflow(world: World, visiting: Visiting) -> None:
    world.append(*(told(f"run{number}", "pegasus.state", 0, state="Running") for number in range(510)))
    found = visiting().client.workflows()
    assert (len({one.name for one in found.items}), found.next) == (510, None)


# -- questions -----------------------------------------------------------------------------------------


def test_a_failure_is_rehearsed(world: World, visiting: Visiting) -> None:
    world.submit()
    (report,) = visiting().client.what_if("path-down", "al2s")
    said = text(what_if.rehearsal(report))
    assert "(al2s)" in said
    assert "1 flow" in said


def test_every_single_failure_is_ranked(visiting: Visiting) -> None:
    shown = what_if.ranking(visiting().client.what_if(None, None))
    assert any(to.startswith("/maintenance?failure=path-down&name=al2s") for to in links(shown))
    assert "empty" in classes(what_if.ranking([]))
