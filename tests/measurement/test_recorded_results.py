"""Results of pScheduler tests, and the values that were read from them.

50 results: those of the tests' pScheduler in the documented form, and those of two measurement points that
ran iperf3, ping, traceroute and one-way delay on loopback.  None is from a perfSONAR host.  Each line of the
file has the test's type, its specification, the merged result and the readings.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from measurement.pscheduler.readings import Reading
from measurement.pscheduler.results import read_result

FILE = Path(__file__).parents[1] / "data/recorded/pscheduler_results.jsonl"
RESULTS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


def test_recording_has_50_results_of_all_types_that_are_read() -> None:
    assert len(RESULTS) == 50
    assert {result["test"] for result in RESULTS} >= {"throughput", "latency", "latencybg", "rtt", "trace"}


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_recorded_result_gives_the_recorded_readings(number: int) -> None:
    recorded = RESULTS[number]
    found = [
        {"kind": type(reading).__name__, **dataclasses.asdict(reading)}
        if isinstance(reading, Reading)
        else {"kind": type(reading).__name__, "metric": reading.metric}
        for reading in read_result(recorded["test"], recorded["spec"], recorded["result"], "recorded")
    ]
    assert json.loads(json.dumps(found)) == recorded["readings"]
