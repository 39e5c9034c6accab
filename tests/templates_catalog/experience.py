"""Outcomes of flows from a planted truth, and a proposal that could rest on such; seeded."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from adon.broker.outcomes import FlowOutcome
from adon.frozenmap import FrozenMap
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import Template
from adon.templates_catalog.proposal import Evidence, Finding, MetricEvidence, Proposal

Conditions = Mapping[str, float]
Truth = Callable[[Conditions, random.Random], float]

DAY_S = 86_400.0


def a_template(**changes: Any) -> Template:
    """At least 700 Mbps over TCP, up to 10 Gbps; throughput weighs 0.8, loss 0.2."""
    fields: dict[str, Any] = {
        "name": "soykb",
        "qspec": {"throughput": {"min": "700 Mbps"}, "loss": {"max": "0.1 %"}},
        "rspec": {"bandwidth_ceiling": "10 Gbps"},
        "weights": {"throughput": 0.8, "loss": 0.2},
        "tables": {"throughput": {"points": [["700 Mbps", 1], ["10 Gbps", 10]]}},
    }
    return Template.model_validate({**fields, **changes})


def a_session(**changes: Any) -> Template:
    """A UDP session whose quality hangs on delay and jitter."""
    fields: dict[str, Any] = {
        "name": "rivvir",
        "qspec": {"one_way_delay": {"max": "50 ms"}, "jitter": {"max": "1 ms"}},
        "weights": {"one_way_delay": 0.5, "jitter": 0.5},
        "protocol": "udp",
    }
    return Template.model_validate({**fields, **changes})


def an_outcome(number: int = 1, **changes: Any) -> FlowOutcome:
    fields: dict[str, Any] = {
        "flow": number,
        "template": "soykb@1",
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "state": "finished",
        "submitted_at": 1000.0 * number,
        "admitted_at": 1000.0 * number,
        "ended_at": 1000.0 * number + 100,
        "requested_bytes": 10**9,
        "transferred_bytes": 10**9,
        "throughput": 1e9,
        "quality": FrozenMap({"met": 100.0}),
        "conditions": FrozenMap({"throughput": 2e9, "loss": 1e-4}),
    }
    return FlowOutcome(**{**fields, **changes})


def outcomes(
    truth: Truth,
    *,
    seed: int = 1,
    count: int = 240,
    draw: Callable[[random.Random], Conditions] | None = None,
    kept: bool = False,
) -> list[FlowOutcome]:
    """What flows got by a truth, over some days.

    :param kept: the truth gives the share of time with the QSpec kept, else bits/s.
    """
    chance = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        conditions = (draw or paths)(chance)
        response = truth(conditions, chance)
        got: dict[str, Any] = {"throughput": response}
        if kept:
            share = min(1.0, max(0.0, response))
            got = {"throughput": None, "quality": FrozenMap({"met": share, "violated": 1 - share})}
        at = number * DAY_S / 12
        found.append(
            an_outcome(number, conditions=FrozenMap(conditions), submitted_at=at, ended_at=at + 60, **got)
        )
    return found


def paths(chance: random.Random) -> Conditions:
    """Paths of all qualities."""
    return {"throughput": chance.uniform(7e8, 1e10), "loss": chance.uniform(0.0, 1e-3)}


def sessions(chance: random.Random) -> Conditions:
    return {"one_way_delay": chance.uniform(0.005, 0.05), "jitter": chance.uniform(1e-5, 1e-3)}


def saturated(conditions: Conditions, chance: random.Random) -> float:
    """A transfer gets what the path gives, up to the 4 Gbps of its hosts; loss does nothing to it."""
    return min(conditions["throughput"], 4e9) * chance.uniform(0.9, 1.0)


def lossy(conditions: Conditions, chance: random.Random) -> float:
    """Loss is what a transfer suffers from; the tested throughput says little."""
    return (6e9 - 5e12 * conditions["loss"] + 0.05 * conditions["throughput"]) * chance.uniform(0.95, 1.0)


def noise(_conditions: Conditions, chance: random.Random) -> float:
    """What a transfer gets has nothing to do with its path."""
    return chance.uniform(1e9, 5e9)


def as_scored(conditions: Conditions, chance: random.Random) -> float:
    """Today's scoring is the truth: Q as a_template() has it decides."""
    q = 0.8 * (conditions["throughput"] - 7e8) / 9.3e9 + 0.2 * (1 - conditions["loss"] / 1e-3)
    return 1e9 + 5e9 * q + chance.gauss(0, 2e8)


def jittery(conditions: Conditions, chance: random.Random) -> float:
    """The share of time in which a session's QSpec is kept falls with jitter, not with delay."""
    return 1.0 - 0.8 * min(1.0, conditions["jitter"] / 5e-4) + chance.gauss(0, 0.03)


def a_finding(template: str = "soykb@1", **changes: Any) -> Finding:
    today = LookupTable(points=((7e8, 1.0), (1e10, 10.0)))
    better = LookupTable(points=((7e8, 1.0), (4e9, 10.0)))
    metric = MetricEvidence(
        "throughput", True, 0.9, 0.8, 0.9, today, better, (7e8, 4e9), ((1e9, 9e8), (5e9, 3.9e9))
    )
    evidence = Evidence(
        response="throughput",
        outcomes=240,
        since=0.0,
        until=1_728_000.0,
        folds=5,
        error_today=8e8,
        error=2e8,
        gain=6e17,
        margin=1e17,
        left_out=FrozenMap({"did not finish": 3}),
        metrics=(metric,),
    )
    fields: dict[str, Any] = {
        "template": template,
        "weights": FrozenMap({"throughput": 0.9, "loss": 0.1}),
        "tables": FrozenMap({"throughput": better}),
        "evidence": evidence,
    }
    return Finding(**{**fields, **changes})


def a_proposal(number: int = 1, **changes: Any) -> Proposal:
    fields: dict[str, Any] = {"at": 1000.0, "proposer": "pia", "finding": a_finding()}
    return Proposal(number=number, **{**fields, **changes})
