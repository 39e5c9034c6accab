"""Windows as values, and as transcripts: announced, near, begun, over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from adon.broker.decision import Outcome
from adon.broker.events import MaintenanceAsked, MaintenanceCancelled
from adon.broker.flow import FlowState
from adon.broker.maintenance import Scope, Window, WindowRequest, Windows, forecast_end, paths_of
from adon.broker.maintenance import Stage as Phase
from adon.errors import Conflict, InvalidInput, NotFound
from adon.flowvisor.topology.topology import Topology
from adon.values import FrozenMap
from tests.depth import DEPTH
from tests.support.history_machine import Histories
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.scenes import SEVEN, current_paths, make_wide_configuration, submit_on_al2s
from tests.support.stage import MU_EDGE, PORTS, Stage, know, make_stage, verdicts

BEGINS, ENDS, LEAD = 10_000.0, 20_000.0, 600.0
WINDOW = Window(1, Scope.PATH, "al2s", BEGINS, ENDS, LEAD)


@pytest.mark.parametrize(
    ("now", "stage"),
    [
        (0.0, Phase.ANNOUNCED),
        (9_399.9, Phase.ANNOUNCED),
        (9_400.0, Phase.DRAINING),
        (10_000.0, Phase.ACTIVE),
        (19_999.9, Phase.ACTIVE),
        (20_000.0, Phase.OVER),
    ],
)
def test_stages(now: float, stage: Phase) -> None:
    assert WINDOW.stage(now) is stage


LINKED = make_configuration().model_copy(
    update={
        "paths": FrozenMap(
            {
                n: p.model_copy(update={"links": (f"fibre-{n}", "duct")})
                for n, p in make_configuration().paths.items()
            }
        )
    }
)


@pytest.mark.parametrize(
    ("scope", "name", "paths"),
    [
        (Scope.PATH, "al2s", ("al2s",)),
        (Scope.LINK, "fibre-internet", ("internet",)),
        (Scope.LINK, "duct", ("al2s", "internet")),
        (Scope.SITE, "osu", ("al2s", "internet")),
        (Scope.SWITCH, "mu-edge", ("al2s", "internet")),
    ],
)
def test_what_a_window_closes(scope: Scope, name: str, paths: tuple[str, ...]) -> None:
    assert paths_of(Topology(LINKED), scope, name) == paths
    with pytest.raises(NotFound):
        paths_of(Topology(LINKED), scope, "nowhere")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ends": BEGINS}, "ends"),
        ({"ends": BEGINS + 400 * 86_400}, "ends"),
        ({"begins": -1}, "begins"),
        ({"lead": "-1 s"}, "lead"),
        ({"scope": "planet"}, "scope"),
        ({"name": "Not A Name"}, "name"),
        ({"begins": float("nan")}, "begins"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_bad_window_is_refused(change: dict[str, Any], field: str) -> None:
    good = {"scope": "path", "name": "al2s", "begins": BEGINS, "ends": ENDS}
    WindowRequest.model_validate(good)
    with pytest.raises(ValueError, match=field):
        WindowRequest.model_validate({**good, **change})


def test_the_words_name_what_when_and_why() -> None:
    window = Window(3, Scope.LINK, "fibre-7", 1_763_690_400.0, 1_763_697_600.0, note="splicing")
    assert window.words == "maintenance m-3 of link fibre-7 (splicing), 2025-11-21 02:00 to 04:00 UTC"


def test_windows_count_up_and_end_once() -> None:
    windows = Windows([WINDOW, Window(7, Scope.SITE, "mu", 1.0, 2.0, cancelled_at=1.0)])
    request = WindowRequest(scope=Scope.SITE, name="osu", begins=BEGINS, ends=ENDS)
    added = windows.add(request, "pat", 0.0, Topology(make_configuration()))
    assert (added.id, added.requester) == ("m-8", "pat")
    assert windows.cancel(8, 5.0).stage(6.0) is Phase.CANCELLED
    with pytest.raises(Conflict):
        windows.cancel(8, 6.0)
    with pytest.raises(Conflict):
        windows.get(7)
    with pytest.raises(NotFound):
        windows.get(9)
    with pytest.raises(InvalidInput, match="past"):
        windows.add(request, "pat", ENDS, Topology(make_configuration()))
    nowhere = request.model_copy(update={"name": "nowhere"})
    with refused(InvalidInput, field="name"):
        windows.add(nowhere, "pat", 0.0, Topology(make_configuration()))


@given(st.lists(st.floats(0, 30_000), min_size=1, max_size=20))
def test_every_change_of_stage_is_told_once(times: list[float]) -> None:
    windows, told = Windows([WINDOW]), []
    for now in sorted(times):
        due = windows.next_change(now)
        crossed = windows.pop_changed(now)
        assert bool(crossed) == (due == now)
        told += [stage for _, stage in crossed]
        assert windows.next_change(now) is None or windows.next_change(now) > now  # type: ignore[operator]
    assert told == sorted(set(told), key=list(Phase).index)
    last = WINDOW.stage(max(times))
    assert told[-1:] == ([] if last is Phase.ANNOUNCED else [last])
    assert bool(list(windows)) == (last is not Phase.OVER)


# -- transcripts ----------------------------------------------------------------------------------------


def announce(stage: Stage, begins: float, ends: float, *, name: str = "al2s", lead: float = 100.0) -> Any:
    times = {"begins": stage.now + begins, "ends": stage.now + ends, "lead": f"{lead} s"}
    request = WindowRequest.model_validate({"scope": "path", "name": name, **times})
    return stage.command(MaintenanceAsked, request, "pat")


def keep_busy(stage: Stage, seconds: float) -> None:
    for _ in range(int(seconds / 20)):
        for flow in stage.saved.flows.values():
            if flow.state is FlowState.ACTIVE:
                stage.carry(flow, 10_000)
        stage.pass_time(20)


def test_what_would_still_run_is_not_admitted_into_a_window() -> None:
    """100 MB at 7 Mbit/s take 114 s."""
    stage = make_stage(make_wide_configuration(), internet=20.0)
    answer = announce(stage, 110, 1000)
    assert (answer["id"], answer["stage"]) == ("m-1", "announced")
    long = stage.submit(**SEVEN)
    assert long.path == "internet"
    decision = stage.decision(long)
    assert verdicts(decision)["al2s"] == "excluded"
    stage.expect(long, why={"al2s": "maintenance"})
    assert stage.submit(**SEVEN, size="50 MB").path == "al2s"


def test_running_flows_leave_before_together_and_the_rest_waits() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    flows = submit_on_al2s(stage, 3, size="10 GB")
    announce(stage, 300, 1000)
    know(stage, internet=20.0)
    assert current_paths(stage, flows) == ["al2s"] * 3, "it is only announced"
    keep_busy(stage, 180)
    assert current_paths(stage, flows) == ["al2s"] * 3
    keep_busy(stage, 40)
    assert stage.now < 1_000_300
    assert current_paths(stage, flows) == ["internet", "internet", None]
    waiting = stage.flow(flows[2])
    assert waiting.state is FlowState.QUEUED
    assert stage.rules_of(waiting) == set()
    decision = next(d for d in stage.saved.decisions if d.flow == waiting.id and d.outcome is Outcome.QUEUE)
    assert decision.code == "maintenance"
    assert "al2s" in stage.quiet
    assert stage.announcements("maintenance-stage")


def test_after_the_end_everything_is_as_before() -> None:
    stage = make_stage(make_wide_configuration(30.0), internet=0)
    flows = submit_on_al2s(stage, 3, size="10 GB")
    announce(stage, 50, 200)
    assert current_paths(stage, flows) == ["internet"] * 3, "unknown, but better than what is to be closed"
    keep_busy(stage, 100)
    assert stage.quiet == {"al2s", "internet"}
    keep_busy(stage, 120)
    assert stage.quiet == {"internet"}
    assert stage.open_windows() == []
    assert len(stage.announcements("maintenance-stage")) == 3
    know(stage, al2s=58.0)
    assert stage.submit(**SEVEN).path == "al2s"


def test_a_window_that_is_cancelled_lets_the_queue_in() -> None:
    stage = make_stage()
    announce(stage, 50, 1000)
    waiting = stage.submit(**SEVEN)
    assert waiting.state is FlowState.QUEUED
    assert stage.command(MaintenanceCancelled, 1, "pat")["stage"] == "cancelled"
    assert stage.flow(waiting).path == "al2s"
    assert stage.saved.windows[1].cancelled_at == stage.now
    with pytest.raises(Conflict):
        stage.command(MaintenanceCancelled, 1, "pat")


def test_the_broker_wakes_for_a_window() -> None:
    stage = make_stage(make_configuration(consistency_period=86_400.0))
    announce(stage, 50, 200, lead=10)
    for seconds, quiet in ((39, set()), (2, {"al2s"}), (158, {"al2s"}), (2, set())):
        stage.pass_time(seconds)
        assert stage.quiet == quiet


def test_a_flow_that_will_be_over_stays() -> None:
    """50 MB at 7 Mbit/s take 57 s; the window begins in 90."""
    stage = make_stage(make_wide_configuration(), internet=20.0)
    flow = stage.submit(**SEVEN, size="50 MB")
    announce(stage, 90, 1000)
    assert (stage.flow(flow).path, stage.flow(flow).moves) == ("al2s", 0)


def test_a_restart_remembers_windows_and_does_not_empty_paths_it_cannot_see() -> None:
    stage = make_stage(make_wide_configuration(), internet=20.0)
    flow = stage.submit(**SEVEN, size="10 GB")
    announce(stage, 500, 1000)
    stage.disconnect(MU_EDGE)
    stage.restart()
    assert stage.flow(flow).path == "al2s"
    assert [window.id for window in stage.open_windows()] == ["m-1"]
    stage.disconnect(MU_EDGE)
    stage.pass_time(450)
    assert stage.flow(flow).path == "al2s", "its rules cannot be changed now"
    know(stage, internet=20.0)
    stage.connect(MU_EDGE)
    assert stage.flow(flow).path == "internet"


def test_a_window_in_the_past_is_refused_and_leaves_nothing() -> None:
    stage = make_stage()
    with pytest.raises(InvalidInput, match="past"):
        announce(stage, -200, -100)
    assert stage.saved.windows == {}


def test_without_a_bound_nobody_knows_the_end() -> None:
    flow = make_stage().submit(**SEVEN, size="70 MB")
    assert forecast_end(flow, 7e6, 100.0) == 180.0
    assert forecast_end(flow, 0.0, 100.0) == float("inf")


# -- whatever happens -----------------------------------------------------------------------------------


class MaintainedHistories(Histories):
    """The histories of the other tests, with windows that are announced and cancelled among them."""

    @rule(
        path=st.sampled_from(["al2s", "internet"]),
        begins=st.sampled_from([-5.0, 1.0, 40.0]),
        lasts=st.sampled_from([10.0, 100.0]),
        lead=st.sampled_from([0.0, 30.0]),
    )
    def window(self, path: str, begins: float, lasts: float, lead: float) -> None:
        announce(self.stage, begins, begins + lasts, name=path, lead=lead)

    @rule()
    def call_off(self) -> None:
        for one in self.stage.open_windows()[:1]:
            self.stage.command(MaintenanceCancelled, one.number, "pat")

    @invariant()
    def who_is_there_was_let_in_before_or_cannot_leave_yet(self) -> None:
        """A settled flow is on no path of a window that has begun, as far as its edges are there to tell."""
        stage, now = self.stage, self.stage.now
        windows = stage.open_windows()
        if any(now in (one.begins, one.ends) for one in windows) or stage.known_switches() != set(PORTS):
            return  # the tick that says so is still to come
        closed = {one.name for one in windows if one.stage(now) is Phase.ACTIVE}
        for flow in stage.broker.flows.running():
            settled = flow.state is FlowState.ACTIVE and not stage.is_changing(flow)
            assert not (settled and flow.path in closed), flow

    def mend(self) -> None:
        for one in self.stage.open_windows():
            self.stage.command(MaintenanceCancelled, one.number, "pat")
        super().mend()


TestMaintainedHistories = MaintainedHistories.TestCase
TestMaintainedHistories.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)
