"""The scene after figure 18: an alarm moves a flow before patience would.

A flow that steers a running simulation looks at the round trip alone.  Load that ADON did not admit fills
the queue of its path; the detector finds the new level with its third sample and raises an alarm; ADON
moves the flow at once.  By the measurements alone it would have waited for ``patience`` misses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from adon.api.flows import FlowView
from adon.api.measurements import MeasurementView
from adon.timestamps import format_time, parse_time
from adon.units import format_duration
from measurement.anomaly.live import Settings
from mininet_topos.demo.scenario import (
    L2,
    L3,
    STEERING,
    STEERING_PATIENCE,
    STEERING_RTT,
    Expectation,
    steering_template,
)
from mininet_topos.demo.telling import Telling

LEARN = Settings().learn
"""Samples that the detector learns a level from."""
ASK_AFTER = LEARN - 2
LEARNING_S = 120.0
MOVE_S = 60.0

Contention = Callable[[], AbstractContextManager[None]]
"""Other people's load on layer 2, as long as its context lasts."""


def run(scene: Telling, contention: Contention) -> None:
    """Tell the scene; what went wrong is in the record's checks.

    :raises Unavailable: if ADON or the testbed stops answering, or the flow is not admitted.
    """
    try:
        _tell_all(scene, contention)
    finally:
        scene.end()


def _tell_all(scene: Telling, contention: Contention) -> None:
    began = time.time()
    template = steering_template(scene.record.scale)
    scene.api.add_template(template.model_dump(mode="json", exclude={"version"}))
    for path in scene.await_first_measurements({"rtt"}):
        value = format_duration(path.metrics["rtt"].value)
        scene.tell(f"  {path.path} ({path.layer}): a round trip of {value}")
    scene.tell(f"the detector learns the round trip of {L2} from {LEARN} tests")
    _await_tests(scene, ASK_AFTER, began)

    flow = scene.ask("t10", STEERING, "active")
    scene.follow("t13", STEERING, flow)
    _await_tests(scene, LEARN, began)
    with contention():
        contended = time.time()
        scene.mark("t11", f"load that ADON did not admit begins on {L2}", "")
        _await_move(scene, flow)
        scene.wait_for_transfer(STEERING)
    scene.collect("the alarm", began)
    _check_cause(scene, contended)


def _await_tests(scene: Telling, count: int, since: float) -> None:
    scene.until(lambda: len(_round_trips(scene, since)) >= count, LEARNING_S, f"{L2} is tested {count} times")


def _round_trips(scene: Telling, since: float) -> list[MeasurementView]:
    found = scene.api.measurements(path=L2, source="mu", metric="rtt", since=format_time(since))
    return [m for m in found if m.started_at >= since]


def _await_move(scene: Telling, flow: FlowView) -> None:
    scene.until(
        lambda: scene.researcher.flow(flow.id).path != L2, MOVE_S, f"{STEERING.name} is moved from {L2}"
    )
    moved = scene.researcher.flow(flow.id)
    scene.mark("t12", f"ADON moves {STEERING.name} to {moved.path}", STEERING.name)
    scene.check(Expectation("t12", STEERING.name, "active", L3), moved)


def _check_cause(scene: Telling, contended: float) -> None:
    """It was the alarm that moved the flow, and it came before patience would have."""
    moves = [d for d in scene.record.decisions if d["outcome"] == "move"]
    if len(moves) != 1:
        scene.note("t12: the flow is moved once", False, f"{len(moves)} times")
        return
    (move,) = moves
    alarms = {alarm["id"]: alarm for alarm in scene.record.alarms}
    alarm = alarms.get(move["alarm"])
    named = alarm is not None and alarm["id"] in move["reason"] and _about_the_round_trip(alarm)
    scene.note(f"t12: the move names the alarm about the round trip of {L2}", named, move["reason"])
    at = parse_time(move["at"])
    missed = [
        m
        for m in scene.record.measurements
        if (m["path"], m["source"], m["metric"]) == (L2, "mu", "rtt")
        and contended <= parse_time(m["observed_at"]) <= at
        and m["value"] > STEERING_RTT
    ]
    text = f"t12: the alarm came before patience ({STEERING_PATIENCE} misses) was over"
    found = f"{len(missed)} misses, {at - contended:.0f} s after the load began"
    scene.note(text, 0 < len(missed) < STEERING_PATIENCE, found)


def _about_the_round_trip(alarm: Mapping[str, Any]) -> bool:
    series = alarm["series"]
    return (series["path"], series["source"], series["metric"]) == (L2, "mu", "rtt") and bool(alarm["bad"])
