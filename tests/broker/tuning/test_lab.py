"""The model against real TCP over a path of 33 ms: figures 22 to 24, scaled 1:100 (spec section 11).

The path is emulated in user space (:mod:`tests.broker.tuning.delay`): rate and delay are real to the kernel's
TCP, loss comes from its own queue only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adon.broker.cost.terms import theoretical_throughput
from adon.broker.tuning.reading import read_host
from mininet_topos.isolation import default_folder, run_folder, run_isolated
from tests.broker.tuning.lab import FAR

pytestmark = [pytest.mark.testbed, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
PAYLOAD = 58e6
KB = 1000
CASES = [
    {"window": 160 * KB, "streams": 1},
    {"window": 640 * KB, "streams": 1},
    {"window": 2560 * KB, "streams": 1},
    {"window": 60 * KB, "streams": 1},
    {"window": 60 * KB, "streams": 2},
    {"window": 60 * KB, "streams": 4},
    {"window": 160 * KB, "streams": 16},
]


def foretold(case: dict[str, Any]) -> float:
    return theoretical_throughput(PAYLOAD, case["streams"], case["window"], 0.033, 0.0)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was reached in each case."""
    cases = [{**case, "enough": 0.9 * foretold(case)} for case in CASES]
    answer, log = tmp_path_factory.mktemp("lab") / "answer.json", tmp_path_factory.mktemp("lab") / "log"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "tests.broker.tuning.lab", str(answer), json.dumps(cases)]
    with (
        run_folder(default_folder(f"test-lab-{os.getpid()}")) as folder,
        log.open("wb") as output,
        run_isolated(
            argv, folder, environment=environment, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        status = process.wait(900)
    assert status == 0, log.read_text(errors="replace")
    found: dict[str, Any] = json.loads(answer.read_text())
    return found


def rate(measured: dict[str, Any], window: int, streams: int = 1) -> float:
    return next(
        float(one["rate"])
        for one in measured["cases"]
        if (one["window"], one["streams"]) == (window * KB, streams)
    )


def test_the_path_is_as_long_as_it_should_be(measured: dict[str, Any]) -> None:
    least = re.search(r"= ([0-9.]+)/", measured["ping"])
    assert least is not None
    assert 33 <= float(least[1]) < 40


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['window'] // KB} kB, {case['streams']} streams"
)
def test_the_model_foretells_what_tcp_reaches(measured: dict[str, Any], case: dict[str, int]) -> None:
    found = rate(measured, case["window"] // KB, case["streams"])
    # On an idle machine they differ by less than 6 %; here, others work beside us.
    assert 0.7 * foretold(case) <= found <= 1.3 * foretold(case), (found, foretold(case))


def test_figure_23_gains_from_the_second_size_only(measured: dict[str, Any]) -> None:
    small, middle, large = (rate(measured, window) for window in (160, 640, 2560))
    assert middle / small > 1.2
    assert large / middle == pytest.approx(1, abs=0.15)


def test_with_sixteen_streams_small_buffers_hold_nothing_back(measured: dict[str, Any]) -> None:
    """The discrepancy of spec section 11: what the thesis set, and what it cannot have been due to."""
    assert rate(measured, 160, 16) > 1.2 * rate(measured, 160)


def test_figure_22_rises_with_the_streams(measured: dict[str, Any]) -> None:
    one, two, four = (rate(measured, 60, streams) for streams in (1, 2, 4))
    assert one < two < four


def test_what_ss_shows_of_real_connections_is_read(measured: dict[str, Any]) -> None:
    found = read_host(measured["cases"][0]["printed"], "near", "near0")
    sending = [
        one for one in found.connections if FAR in one.peer and one.window is not None and one.window > 10
    ]
    assert sending
    assert sending[0].control in ("cubic", "bbr", "reno")
    assert sending[0].least_rtt is not None
    assert 0.033 <= sending[0].least_rtt < 0.05
    assert found.interface is not None
    assert found.interface.mtu == 1500
