"""The network's pages, as each reads them: over the real API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adon.errors import InvalidInput, NotFound
from apps.dashboard.network import (
    alarm_page,
    alarms_page,
    lists,
    maintenance,
    map_page,
    mesh_page,
    path_page,
    plan,
    schedule_page,
    series_page,
    subscriptions,
    what_if_page,
    workflows_page,
)
from apps.dashboard.network.series_data import Direction
from tests.apps.measured import FELL, NOW, OVER, ROSE
from tests.apps.web import World
from tests.dashboard.conftest import Visiting
from tests.dashboard.networks import large
from tests.dashboard.reading import links, parts, text

# -- the map -------------------------------------------------------------------------------------------


def test_the_map_offers_what_can_be_marked(visiting: Visiting) -> None:
    shown = map_page.show(visiting(query={"flow": "f-77"}))
    values = {
        option["value"]
        for one in parts(shown)
        if getattr(one, "id", "") == map_page.SHOWN
        for option in one.options
    }
    assert {"none", "path:al2s", "path:internet", "flow:f-1", "flow:f-77"} <= values


def test_without_switches_it_says_what_to_do(world: World, visiting: Visiting) -> None:
    assert world.controller is not None
    world.controller.snapshot = {**world.controller.snapshot, "switches": []}
    assert "adon config check" in text(map_page.show(visiting()))


def test_the_scene_has_rates_of_flows_that_run(world: World, visiting: Visiting) -> None:
    world.fill(world.submit())
    scene = map_page.scene_of(visiting(), {})
    assert {one["name"] for one in scene.network["circuits"]} == {"al2s", "internet"}
    assert len(scene.ways) == 4


def test_the_tables_tell_what_the_map_shows(visiting: Visiting) -> None:
    shown = lists.all_of(visiting())
    for words in ("al2s", "60.6 Mbps", "osu-edge", "not connected", "No link between", "No maintenance"):
        assert words in text(shown)
    assert "/network?path=al2s" in links(shown)


def test_without_the_controller_the_tables_tell_the_rest(world: World, visiting: Visiting) -> None:
    world.stop_controller()
    away = text(lists.all_of(visiting()))
    assert "Not available just now" in away
    assert "No maintenance" in away


def test_the_tables_of_a_large_network_are_folded(world: World, visiting: Visiting) -> None:
    assert world.controller is not None
    world.controller.snapshot = large(5, 20)
    shown = text(lists.all_of(visiting()))
    assert "All 100" in shown
    assert "came back 3 s ago" in shown


# -- maintenance ---------------------------------------------------------------------------------------


def test_a_window_is_announced_in_the_readers_time() -> None:
    typed = {"scope": "path", "name": "al2s", "begins": "2026-11-30 14:00", "ends": "2026-11-30 16:00"}
    found = maintenance.asked({**typed, "lead": "10 min", "note": " "}, ZoneInfo("America/Chicago"))
    assert found["begins"] == "2026-11-30T14:00:00-06:00"
    assert "note" not in found


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({}, {"name", "begins", "ends"}),
        ({"name": "al2s", "begins": "tomorrow", "ends": "2026-11-30 16:00"}, {"begins"}),
    ],
)
def test_what_is_wrong_stands_beside_its_field(typed: dict[str, str], fields: set[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        maintenance.asked(typed, ZoneInfo("UTC"))
    assert {one.field for one in caught.value.problems} == fields


def test_the_form_is_for_who_may(visiting: Visiting) -> None:
    network = visiting().client.topology()
    assert "Announce" in text(maintenance.form(network, visiting("performance_engineer")))
    assert "Announce" not in text(maintenance.form(network, visiting("auditor")))
    assert maintenance.names_of(network, "switch") == [("mu-edge", "mu-edge"), ("osu-edge", "osu-edge")]


def test_a_window_is_listed_with_what_it_would_do(visiting: Visiting) -> None:
    here = visiting()
    begins, ends = (datetime.fromtimestamp(NOW + after, UTC).isoformat() for after in (3600, 7200))
    made = here.client.add_maintenance({"scope": "path", "name": "al2s", "begins": begins, "ends": ends})
    shown = maintenance.windows(here)
    assert f"/what-if?failure=maintenance&name={made['id']}" in links(shown)
    assert "Cancel" in text(shown)
    assert "Cancel" not in text(maintenance.windows(visiting("auditor")))


# -- the mesh ------------------------------------------------------------------------------------------

MESH: dict[str, Any] = {
    "metric": "throughput",
    "higher_is_better": True,
    "limits": {"warning": None, "critical": None, "templates": {"soykb@1": 7e6}},
    "sites": ["mu", "osu", "uh"],
    "items": [
        {
            "source": "mu",
            "destination": "osu",
            "verdict": "good",
            "paths": [
                {
                    "path": "al2s",
                    "verdict": "good",
                    "why": "",
                    "value": 58e6,
                    "observed_at": "2025-10-09T08:53:00Z",
                },
                {"path": "internet", "verdict": "critical", "why": "", "value": 6.5e6, "observed_at": None},
            ],
        },
        {
            "source": "osu",
            "destination": "mu",
            "verdict": "no_data",
            "paths": [
                {"path": "al2s", "verdict": "no_data", "why": "never", "value": None, "observed_at": None}
            ],
        },
    ],
}


def test_the_mesh_has_both_directions_and_says_what_is_not_known(visiting: Visiting) -> None:
    shown = mesh_page.grid(MESH, visiting())
    said = text(shown)
    for words in ("good 58 Mbps", "internet bad 6.5 Mbps", "no data never", "no path", "soykb@1 7 Mbps"):
        assert words in " ".join(said.replace("● ", "").replace("✕ ", "").replace("– ", "").split())
    assert "1 good, 1 no data of 2 pairs" in said
    assert "/series?path=al2s&source=mu&destination=osu&metric=throughput" in links(shown)


def test_a_mesh_without_paths_says_so(visiting: Visiting) -> None:
    assert "No path joins two sites" in text(mesh_page.grid({**MESH, "items": []}, visiting()))


def test_the_mesh_of_the_api(visiting: Visiting) -> None:
    shown = text(mesh_page.live(visiting(query={"metric": "throughput"})))
    assert "58 Mbps" in shown
    assert all(
        words in text(mesh_page.live(visiting(query={"metric": "all"}))) for words in ("Loss", "Jitter")
    )


def test_the_metric_of_an_address() -> None:
    assert [mesh_page.metric_of(query) for query in ({}, {"metric": "rtt"}, {"metric": "x"})] == [
        "throughput",
        "rtt",
        "all",
    ]


# -- series and paths ----------------------------------------------------------------------------------


def test_series_can_be_chosen(visiting: Visiting) -> None:
    shown = series_page.show(visiting())
    assert "al2s, mu → osu" in str([getattr(one, "options", "") for one in parts(shown)])
    assert "Every series (4)" in text(shown)


def test_a_path_has_its_directions_and_a_test_for_who_may(visiting: Visiting) -> None:
    here = visiting(parts={"name": "al2s"})
    shown = path_page.show(here)
    said = text(shown)
    for words in ("60.6 Mbps", "mu → osu", "osu → mu", "58 Mbps", "+12 %", "Measure now"):
        assert words in said
    assert f"/alarms/{FELL.id}" in links(shown)
    assert "Measure now" not in text(path_page.show(visiting("researcher", parts={"name": "al2s"})))


def test_without_the_controller_a_path_has_its_series(world: World, visiting: Visiting) -> None:
    world.stop_controller()
    said = text(path_page.show(visiting(parts={"name": "al2s"})))
    assert "Not available just now" in said
    assert "Boxes" in said


def test_a_path_that_is_not_there(visiting: Visiting) -> None:
    with pytest.raises(NotFound):
        path_page.show(visiting(parts={"name": "nowhere"}))


# -- the plan ------------------------------------------------------------------------------------------


def test_the_schedule_tells_plan_spend_and_the_last_hour(visiting: Visiting) -> None:
    said = text(schedule_page.live(visiting()))
    for words in ("tests in a round of", "Allowed", "measured", "No conflicting runs overlapped."):
        assert words in said


def test_runs_that_met_are_told_in_words(world: World, visiting: Visiting) -> None:
    world.overlap("al2s:mu>osu/throughput", "internet:mu>osu/throughput")
    said = text(schedule_page.live(visiting()))
    assert "1 pair overlapped" in said
    assert "throughput on al2s, mu → osu ran beside" in said


def test_without_the_collector_the_last_hour_is_there(world: World, visiting: Visiting) -> None:
    world.stop_collector()
    said = text(schedule_page.live(visiting()))
    assert "Not available just now" in said
    assert "The last hour" in said


def test_a_run_is_held_against_the_plan() -> None:
    task = "al2s:mu>osu/rtt"
    run = {
        "task": f"{task}/on demand 3",
        "planned_start": "2026-01-01T00:00:00Z",
        "started": "2026-01-01T00:00:00.5Z",
        "ended": "2026-01-01T00:00:03Z",
        "outcome": "measured",
    }
    (found,) = plan.executed([run], [{"task": task, "slot_seconds": 4.0}], [{"first": run, "second": run}])
    assert (found.late, found.lasted, found.slot, found.overlapped) == (0.5, 2.5, 4.0, True)
    assert plan.task_words(run["task"]) == "round trip on al2s, mu → osu, on demand"
    assert plan.task_words("what else") == "what else"
    assert "500 ms after" in plan.summary([found], 0)
    figure = plan.executed_chart([found], ZoneInfo("UTC"))
    assert [trace.name for trace in figure.data] == ["planned", "measured"]


# -- alarms --------------------------------------------------------------------------------------------


def test_alarms_are_narrowed(visiting: Visiting) -> None:
    here = visiting()

    def found(which: str = "all", severity: str = "any", path: str = "any", metric: str = "any") -> set[str]:
        return {one["id"] for one in alarms_page.chosen(here, which, severity, path, metric, "30d")}

    assert found() == {FELL.id, ROSE.id, OVER.id}
    assert found("open") == {FELL.id, ROSE.id}
    assert found(severity="critical") == {FELL.id}
    assert found(path="internet") == {ROSE.id}
    assert found(metric="rtt") == {ROSE.id, OVER.id}


def test_the_worst_come_first_and_can_be_seen_by_who_may(visiting: Visiting) -> None:
    here = visiting("operator")
    alarms = here.client.alarms(open_only=False)
    said = text(alarms_page.listed(here, alarms))
    assert 0 < said.index(FELL.text) < said.index(ROSE.text) < said.index(OVER.text)
    assert said.count("I have seen it") == 2
    researcher = visiting("researcher")
    assert "I have seen it" not in text(alarms_page.listed(researcher, alarms))


def test_an_alarm_shows_its_evidence(visiting: Visiting) -> None:
    shown = alarm_page.show(visiting(parts={"id": FELL.id}))
    for words in (FELL.text, "critical", "in force", "before", "after", "12 Mbps"):
        assert words in text(shown)
    assert "/paths/al2s" in links(shown)
    figure = alarm_page.figure(visiting().client.alarm(FELL.id), ZoneInfo("UTC"))
    assert [trace.name for trace in figure.data if trace.mode == "markers"] == ["before", "after"]


def test_subscriptions_are_asked_and_listed(visiting: Visiting) -> None:
    here = visiting("operator")
    assert "Nobody is told" in text(subscriptions.section(here))
    wanted = subscriptions.asked("mail", " a@example.edu ", "al2s", "rtt", "critical", ["better"])
    assert wanted["filter"] == {
        "path": "al2s",
        "metric": "rtt",
        "least": "critical",
        "ends": False,
        "changes_for_the_better": True,
    }
    here.client.subscribe(wanted)
    said = text(subscriptions.section(here))
    for words in ("a@example.edu", "al2s, rtt; critical only", "not when it is over", "Delete"):
        assert words in said


# -- workflows ---------------------------------------------------------------------------------


def test_without_workflows_it_says_how_they_come(visiting: Visiting) -> None:
    assert "No workflow is known." in text(workflows_page.live(visiting()))


# -- questions -----------------------------------------------------------------------------------------


def test_a_failure_is_rehearsed(visiting: Visiting) -> None:
    (report,) = visiting().client.what_if("path-down", "al2s")
    said = text(what_if_page.rehearsal(report))
    assert "a path fails (al2s): 3 flows would be hit" in said
    assert "Throughput bounds on the paths" in said


def test_every_single_failure_is_ranked(visiting: Visiting) -> None:
    shown = what_if_page.ranking(visiting().client.what_if(None, None))
    assert any(to.startswith("/what-if?failure=path-down&name=al2s") for to in links(shown))
    assert "Nothing is configured" in text(what_if_page.ranking([]))


def test_directions_of_a_host_are_its_name() -> None:
    assert Direction("", "mu-dtn", "").words == "mu-dtn"
    assert Direction("", "mu-dtn", "osu-dtn").words == "mu-dtn → osu-dtn"
