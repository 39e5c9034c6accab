"""Agents in namespaces with a router between them: hops, rate limits, and an MTU that is too small."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.lab import isolated
from tests.measurement.probes.network_lab import RATES
from tests.undisturbed import undisturbed

pytestmark = pytest.mark.testbed


Findings = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    def measured() -> Findings:
        told: Findings = json.loads(
            isolated("tests.measurement.probes.network_lab", str(tmp_path_factory.mktemp("inside")))
        )
        return told

    def enough(found: Findings) -> bool:
        return all(
            carried(found, rate) > 0.5 * rate * 1e6
            and min(train["rate"] for train in trains(found, rate)) > 0.6 * carried(found, rate)
            and found[f"{rate} back of the other"][0]["rate"] > 0.6 * rate * 1e6
            for rate in RATES
        )

    return undisturbed(measured, enough)


def carried(found: Findings, rate: int) -> float:
    """What a transfer reached, bits/s, once it had begun."""
    transfer = found[str(rate)][0]
    rates = [8 * count / transfer["interval"] for count in transfer["received"][1:]]
    return sum(rates) / len(rates)


def trains(found: Findings, rate: int) -> list[dict[str, Any]]:
    return found[str(rate)][1:]


def test_router_is_counted(found: Findings) -> None:
    count, echo = found["plain"]
    assert count == {"kind": "route", "count": 2}
    assert None not in echo["times"]


@pytest.mark.parametrize("rate", RATES)
def test_trains_agree_with_transfers_behind_a_token_bucket(found: Findings, rate: int) -> None:
    """Generously: how well they do is a benchmark's business."""
    truth = carried(found, rate)
    assert 0.5 * rate * 1e6 < truth < 1.1 * rate * 1e6
    for train in trains(found, rate):
        assert 0.6 * truth < train["rate"] < 1.4 * truth
        assert train["took"] < 5


@pytest.mark.parametrize("rate", RATES)
def test_train_back_measures_the_reverse_path(found: Findings, rate: int) -> None:
    """The token bucket limits the way from a to b alone: what comes back to b, who is asked about a."""
    (limited,) = found[f"{rate} back of the other"]
    assert 0.6 * rate * 1e6 < limited["rate"] < 1.4 * rate * 1e6


def test_forward_limit_does_not_limit_the_reverse_path(found: Findings) -> None:
    (free,) = found[f"{RATES[0]} back"]
    assert free["rate"] > 2 * RATES[0] * 1e6


@pytest.mark.parametrize("how", ["hole", "narrow"])
def test_path_with_a_small_mtu_is_reported(found: Findings, how: str) -> None:
    long, short, *others = found[how]
    assert [each.get("why") for each in (long, *others)] == ["too-large"] * 5
    assert None not in short["times"]
