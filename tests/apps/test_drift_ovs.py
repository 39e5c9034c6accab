"""What somebody changes by hand in a real Open vSwitch is put right or told, by policy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.apps.edge import Controller, Switches, eventually
from tests.support.switched_flows import prepare, run_edges, submit_flow

pytestmark = pytest.mark.integration

FLOWS = "cookie=0xad10000000000000/0xfff0000000000000"
STRAY = "cookie=0xad11000000000063,priority=31000,in_port=9,actions=drop"
BY_HAND = {
    "removed": ("del-flows", FLOWS, 3),
    "changed": ("mod-flows", f"{FLOWS},actions=drop", 3),
    "put": ("add-flow", STRAY, 1),
}
"""What is done at the MU edge, how, and to how many rules."""


@contextmanager
def edges(folder: Path, drift: str) -> Iterator[tuple[Controller, Switches]]:
    """Both edges with a flow's rules in them, and this policy about drift."""

    def change(document: dict[str, Any]) -> None:
        for switch in document["switches"].values():
            switch["drift"] = drift

    with run_edges(folder, change, settle="200 ms", counters_period="1 h") as (controller, switches):
        with controller.client("collector") as link:
            prepare(link)
            submit_flow(link, size="1 GB")
        eventually(lambda: controller.said("code=flow-active") == 1, "the flow is not active")
        eventually(lambda: len(bare(switches)) == 7, "not all rules are there")
        yield controller, switches


def bare(switches: Switches) -> set[str]:
    """Our rules at the MU edge, without what is counted."""
    found = set()
    for rule in switches.rules("mu-edge"):
        head, _, rest = rule.partition(" duration=")
        found.add(head + rest.partition("n_bytes=")[2].partition(",")[2])
    return found


def different(controller: Controller) -> int:
    """In how many ways the controller says that the MU edge differs."""
    with controller.client() as link:
        edge = next(one for one in link.call("rules.diff", {})["items"] if one["name"] == "mu-edge")
        return sum(len(edge[kind]) for kind in ("missing", "wrong", "extra"))


@pytest.mark.parametrize(
    "done", ["changed", *(pytest.param(d, marks=pytest.mark.slow) for d in ("put", "removed"))]
)
def test_healed(tmp_path: Path, done: str) -> None:
    with edges(tmp_path, "heal") as (controller, switches):
        before = bare(switches)
        command, what, _ = BY_HAND[done]
        switches.ofctl(command, "mu-edge", what)
        eventually(lambda: controller.said("code=rules-changed"), "nobody noticed")
        eventually(lambda: bare(switches) == before, "it was not put right")
        eventually(lambda: different(controller) == 0, "the controller does not know")


@pytest.mark.parametrize(
    "done", ["put", *(pytest.param(d, marks=pytest.mark.slow) for d in ("changed", "removed"))]
)
def test_told_and_left_until_somebody_asks(tmp_path: Path, done: str) -> None:
    with edges(tmp_path, "report") as (controller, switches):
        before = bare(switches)
        command, what, count = BY_HAND[done]
        switches.ofctl(command, "mu-edge", what)
        eventually(lambda: controller.said("code=rules-changed"), "the change was not reported")
        eventually(lambda: different(controller) == count, "not all changes are known")
        changed = bare(switches)
        with controller.client() as link:
            counted = link.call("snapshot", {})["reconcile"]
        assert sum(counted.values()) == count
        time.sleep(2.5)  # over two more comparisons
        assert bare(switches) == changed != before
        assert controller.said("code=rules-changed") == 1
        with controller.client() as link:
            link.call("rules.sync", {})
        eventually(lambda: bare(switches) == before, "it was not put right")
