"""Details and outcome on the page of a flow."""

from __future__ import annotations

from adon.api.flows import ConditionView, OutcomeView, PathStay
from apps.dashboard.operation import rules
from apps.dashboard.transfers import flow_outcome, flow_page, flow_view
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import text
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.web_world import World


def filled(world: World) -> str:
    """A flow of a slice with a share of a port, whose trigger has fired twice."""
    slices = {"genomics": make_slice(7, 5001, who="researcher")}
    world.start_controller(make_sliced_configuration(slices, {"mode": "meters"}))
    return world.submit_triggered(slice="genomics", ports=[5001])


def test_flow_shows_slice_grant_and_triggers(world: World, visiting: Visiting) -> None:
    said = text(flow_page.live(visiting("researcher", parts={"id": filled(world)})))
    for shown in (
        "genomics",
        "7 Mbps",
        "60.6 Mbps",
        "meter 40960",
        "60 %",
        "9 Mbps",
        "2 times",
    ):
        assert shown in said, shown


def test_other_paths_are_left_out_without_the_controller(world: World, visiting: Visiting) -> None:
    made = filled(world)
    world.stop_controller()
    assert [name for name, _ in flow_view.detail_facts(visiting().client.flow(made), visiting())] == ["Slice"]


def test_outcome_shows_paths_and_conditions(visiting: Visiting) -> None:
    began = 1_760_000_000.0
    outcome = OutcomeView.model_construct(
        admitted_at=began,
        kept=False,
        promised_bps=90e6,
        throughput_bps=80e6,
        waited_seconds=1.0,
        duration_seconds=120.0,
        forecast=None,
        moves=1,
        quality_seconds={},
        measured_by="counters",
        conditions=[ConditionView(metric="rtt", value=0.033, unit="s")],
        stays=[
            PathStay(path=name, since=began, until=began + 60.0, seconds=60.0)
            for name in ("al2s", "internet")
        ],
    )
    said = text(flow_outcome.outcome_parts(outcome, visiting()))
    for shown in ("90 Mbps", "80 Mbps", "33 ms", "internet", "60 s"):
        assert shown in said, shown
    never = text(
        flow_outcome.outcome_parts(outcome.model_copy(update={"admitted_at": None, "stays": []}), visiting())
    )
    assert "internet" not in never


def test_researcher_sees_the_rules_of_an_own_flow(world: World, visiting: Visiting) -> None:
    made = filled(world)
    said = text(rules.live(visiting("researcher", query={"owner": made})))
    assert "Sent" not in said
    assert "Difference" not in said
