from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks import rounds, rounds_inside
from measurement.health.model import Found, Pair
from measurement.health.record import RoundRecord
from measurement.instances import Instance

PAIRS = [Pair(one, other) for one in "abc" for other in "abc" if one != other]
INSTANCES = tuple(Instance(name, "10.0.0.1") for name in "abc")


def results(quick: float, retest: float, seconds: float = 100, pairs: int = 6) -> dict[str, Any]:
    its = {
        "seconds": seconds,
        "pairs": pairs,
        "failures": 0,
        "agents_processor_s": 1,
        "machine_processor_s": 2,
    }
    agreement = {"quick": [quick, quick], "retest": [retest]}
    return {
        "seed": 1,
        "instances": 3,
        "pairs": 6,
        "compared": 6,
        "quick": its,
        "slow": [its, its],
        "slow_transfer": {"intervals": 10, "interval": 0.1},
        "verifying_transfer_s": 3.0,
        "quick_shape": "trains of 1 x 64",
        "built_s": 1.0,
        "agents_s": 2.0,
        "agent_bytes": 15e6,
        "emulation": "none",
        "train_errors": [0.1, -0.2],
        "spearman": {"pairs": 6, "all": agreement, "icmp": agreement},
    }


@pytest.mark.parametrize(
    ("changes", "well"),
    [
        ((0.9, 0.9), True),
        ((0.90, 0.95), False),  # 0.947 of it
        ((0.9, 0.9, 120.0), False),
        ((0.9, 0.9, 100.0, 5), False),  # one was not reached
    ],
)
def test_the_bounds_are_time_all_pairs_and_the_slow_rounds_own_agreement(changes, well):
    assert rounds.passed(results(*changes)) is well


def test_the_report_tells_what_was_compared():
    told = rounds.report(results(0.9, 0.95))
    assert "0.947" in told
    assert "15.0%" in told
    assert "1200 s" in told


def record(rates: dict[Pair, float], verified: dict[Pair, float] | None = None) -> RoundRecord:
    found = {pair: Found(icmp={64: (1 / rate,)}, throughput=(rate,)) for pair, rate in rates.items()}
    transfers = {pair: (rate, rate) for pair, rate in (verified or {}).items()}
    return RoundRecord.of(0.0, 1.0, INSTANCES, tuple(PAIRS), found, verified=transfers)


RATES = {pair: float(number) for number, pair in enumerate(PAIRS, 1)}


def test_ranks_agree_by_the_pairs_that_all_have():
    other = {pair: -rate + 10 for pair, rate in RATES.items() if pair != PAIRS[0]}
    agreed = rounds_inside._agreement(PAIRS, [record(RATES), record(RATES), record(other)])
    assert agreed["pairs"] == 5
    assert agreed["all"]["quick"] == pytest.approx([1.0, -1.0])
    assert agreed["all"]["retest"] == pytest.approx([-1.0])
    assert all(math.isnan(value) for value in agreed["udp"]["quick"])  # nobody measured it


def test_trains_are_compared_with_the_transfers_of_the_sample():
    found = record(RATES, {PAIRS[1]: 4.0, PAIRS[3]: 2.0})
    assert rounds_inside.train_errors(found) == pytest.approx([2 / 4 - 1, 4 / 2 - 1])


def test_quartiles_of_nothing_are_none():
    assert rounds_inside.quartiles([]) == []
    assert rounds_inside.quartiles([3, 1, 2, 5, 4]) == [1, 2, 3, 4, 5]
