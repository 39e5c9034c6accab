from __future__ import annotations

from typing import Any

import pytest

from benchmarks import trains


def results(chosen: list[list[float | None]], took: float = 0.5) -> dict[str, Any]:
    paths = [
        {
            "wire": 50e6,
            "iperf3": [40e6, 60e6],
            "chosen": [(rate, took) for rate in rates],
            "paper": [(50e6, 0.7)],
        }
        for rates in chosen
    ]
    return {
        "seed": 1,
        "emulation": "none",
        "shape": {"packet": 1472, "burst": 200, "bursts": 10},
        "within": True,
        "trials": [{}],
        "paths": paths,
    }


def test_errors_are_of_each_train_beside_both_yardsticks():
    found = results([[55e6, 45e6], [50e6, None]])
    assert trains.errors(found["paths"][0], "chosen") == pytest.approx([0.1, -0.1])
    assert trains.mean_error(found, "chosen") == pytest.approx((0.1 + 0.1 + 0 + 1) / 4)


@pytest.mark.parametrize(
    ("rates", "took", "well"),
    [([54e6, 46e6], 0.5, True), ([55e6, 45e6], 0.5, False), ([50e6], 1.0, False), ([None], 0.1, False)],
)
def test_the_bounds_are_mean_error_and_the_longest_train(rates, took, well):
    assert trains.passed(results([rates], took)) is well


def test_the_report_has_the_papers_figures_beside_ours():
    told = trains.report(results([[55e6, 45e6]]))
    assert "chosen by calibrate: 10.0%" in told
    assert "9% on EC2, 4% on Rackspace" in told
