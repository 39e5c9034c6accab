"""A small record made by hand, of values in the form that the API answers with."""

from __future__ import annotations

from dataclasses import replace

from adon.broker.decision import Outcome
from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from apps.rest.decision_views import to_decision_view
from apps.rest.measurement_views import to_execution_view, to_measurement_view
from measurement.model import PathKey
from measurement.scheduling import Execution
from mininet_topos.demo.record import Check, Moment, Plan, Record, Transfer
from tests.support.factories import make_measurement
from tests.support.fake_collector import NOW
from tests.support.stage import Stage, know

MB = 1_000_000
HOSTILE = "<script>alert(1)</script>"


def measured(path: str, value: float, after: float) -> dict:
    one = make_measurement(key=PathKey(path, "mu", "osu"), value=value, observed_at=NOW + after)
    return to_measurement_view(one).body()


def decision(number: int, **changes) -> dict:
    stage = Stage(now=NOW)
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    made = stage.decision(stage.submit())
    about = {"id": f"d-{number}", "flow": f"f-{number}", **changes}
    return to_decision_view(replace(made, **about)).body()


def execution(
    task: str, started: float | None, ended: float | None, planned: float = 0.0, outcome="measured"
):
    """A run as the API answers; times after NOW."""
    times = [None if at is None else NOW + at for at in (started, ended)]
    return to_execution_view(Execution(task, 0, NOW + planned, *times, outcome)).body()


def small_plan(*runs: dict, overlaps: tuple[str, ...] = ()) -> Plan:
    task = {"task": "al2s:mu>osu/rtt", "tool": "rtt", "period_seconds": 20.0, "slot_seconds": 5.0}
    return Plan(
        {"round_seconds": 20.0, "tasks": [task]},
        '<p title="a round">of the plan</p>',
        list(runs),
        list(overlaps),
    )


def small_record() -> Record:
    queued = CandidateRecord("al2s", "l2", Verdict.EXCLUDED, "port-down", "its port is down", None, ())
    return Record(
        began_at=NOW,
        seed=18,
        scale=100.0,
        moments=[Moment("t1", 10.0, f"{HOSTILE} asks for a path"), Moment("t2", 30.0, "its transfer ends")],
        transfers=[
            Transfer(HOSTILE, "f-1", "al2s", 10 * MB, 1, 10 * MB, 10.0, 12.0, [5 * MB, 5 * MB]),
            Transfer("SoyKB-2", "f-2", "internet", 8 * MB, 1, 7 * MB, 20.0, 30.0, [700_000] * 10),
        ],
        checks=[Check("t1: SoyKB is active on al2s", True, "active on al2s"), Check("t6: x", False, HOSTILE)],
        decisions=[
            decision(1),
            decision(2, outcome=Outcome.QUEUE, path=None, reason="nobody qualifies", candidates=(queued,)),
            decision(2, id="d-3", outcome=Outcome.STAY, reason="still nobody qualifies"),
        ],
        measurements=[
            measured("al2s", 58e6, 8),
            measured("internet", 6.5e6, 9),
        ],
        rules={"t1 mu-edge": "cookie=0xad10000000000001, priority=30500,tcp actions=output:2"},
        names={"f-1": HOSTILE, "f-2": "SoyKB-2"},
        environment={"Open vSwitch": "ovs-vswitchd (Open vSwitch) 3.1.0"},
    )
