"""Figure 18 told to a running ADON, t1 to t9, as a researcher's tools would."""

from __future__ import annotations

import time
from collections.abc import Callable

from adon.api.flows import FlowView
from adon.timestamps import format_time
from adon.units import format_rate
from mininet_topos.demo.scenario import (
    L2,
    NEUROBLASTOMA,
    SOYKB_1,
    SOYKB_2,
    SOYKB_3,
    expectation,
    templates,
)
from mininet_topos.demo.telling import Telling

NEXT_TEST_S = 90.0

Rules = Callable[[], dict[str, str]]
"""The rules in every edge switch, as ``ovs-ofctl`` prints them."""


def run(story: Telling, rules: Rules) -> None:
    """Tell the whole story; what went wrong is in the record's checks.

    :raises Unavailable: if ADON or the testbed stops answering, or a flow that must move is not admitted.
    """
    try:
        _tell_all(story, rules)
    finally:
        story.end()


def _tell_all(story: Telling, rules: Rules) -> None:
    began = time.time()
    story.held = "as in the thesis"
    for template in templates(story.record.scale):
        story.api.add_template(template.model_dump(mode="json", exclude={"version"}))
    for path in story.await_first_measurements({"throughput", "rtt", "loss"}):
        rate = path.metrics["throughput"].value
        story.tell(f"  {path.path} ({path.layer}): {format_rate(rate)} single-stream TCP")

    first = story.ask("t1", SOYKB_1, "active")
    _keep_rules(story, rules, "t1")
    story.follow("t2", SOYKB_1, first)
    _await_test(story, L2, story.wait_for_transfer(SOYKB_1), least=FREE)

    neuroblastoma = story.ask("t3", NEUROBLASTOMA, "active")
    contended = time.time()
    story.follow("t7", NEUROBLASTOMA, neuroblastoma)
    _await_test(story, L2, contended)

    second = story.ask("t4", SOYKB_2, "active")
    _keep_rules(story, rules, "t4")
    story.follow("t5", SOYKB_2, second)
    story.wait_for_transfer(SOYKB_2)

    third = story.ask("t6", SOYKB_3, "queued")
    story.wait_for_transfer(NEUROBLASTOMA)
    _admitted_by_itself(story, third)
    story.follow("t9", SOYKB_3, third)
    story.wait_for_transfer(SOYKB_3)
    story.collect("figure 18", began)


FREE = 52e6
"""Bits/s that a test of layer 2 finds at least when nothing else is on it; Neuroblastoma asks for 50."""
TESTS = 5
"""That may find less: who works beside us on this machine takes from what its network carries."""


def _await_test(story: Telling, path: str, since: float, least: float = 0.0) -> None:
    """Wait for a throughput test that began after ``since``: what comes next must rest on it.

    :param least: bits/s; a test that finds less is told of, and another one awaited.
    """
    story.tell(f"waiting for a throughput test of {path} that began after this")
    told: set[float] = set()

    def tested() -> bool:
        found = story.api.measurements(path=path, source="mu", metric="throughput", since=format_time(since))
        fresh = [m for m in found if m.started_at >= since]
        if not fresh:
            return False
        newest = max(fresh, key=lambda m: m.started_at)
        if newest.started_at not in told:
            told.add(newest.started_at)
            story.tell(f"  {path}: {format_rate(newest.value)}")
        return newest.value >= least

    story.until(tested, NEXT_TEST_S * (TESTS if least else 1), f"{path} is tested")


def _keep_rules(story: Telling, rules: Rules, step: str) -> None:
    for switch, text in rules().items():
        story.record.rules[f"{step} {switch}"] = text


def _admitted_by_itself(story: Telling, flow: FlowView) -> None:
    story.tell(f"waiting for {flow.id} to be admitted by itself")
    states = ("active", "failed", "expired")
    story.until(lambda: story.researcher.flow(flow.id).state in states, NEXT_TEST_S, "the queue is served")
    flow = story.researcher.flow(flow.id)
    story.mark("t8", f"{SOYKB_3.name} leaves the queue", SOYKB_3.name)
    story.check(expectation("t8", SOYKB_3, "active"), flow)
    story.tell(f"  {flow.id} is {flow.state}: {flow.reason}")
