from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mininet_topos.cloud.build import built
from mininet_topos.cloud.choreo import tree
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.waiting import wait_until
from tests.mininet_topos.cloud.inside import ROOT, run_inside
from tests.support.refusals import refused
from tests.undisturbed import undisturbed

EXPERIMENTS = "tests.mininet_topos.cloud.experiments"
MEGABIT = 1e6
EXPECTED = {
    "a > b": 10,  # its own
    "c > d": 40,
    "c > b": 20,  # the left router's link
    "a > c": 20,
    "e > f": 80,  # within the machine
    "f > b": 30,  # what b takes in
}
"""Mbit/s, of the cloud with differing paths."""


def payload(rate: float) -> float:
    """Bits/s that TCP can carry at a rate on the wire: 1448 bytes of 1514."""
    return rate * 1448 / 1514


@pytest.mark.testbed
def test_paths_are_as_described(tmp_path, testbed_name):
    def carried(found):
        rates = found["rates"]
        return rates["b > a"] > 40e6 and all(
            rates[path] > 0.8 * payload(megabits * MEGABIT) for path, megabits in EXPECTED.items()
        )

    found = undisturbed(
        lambda: run_inside(f"{EXPERIMENTS}:differing", testbed_name, tmp_path),
        lambda found: carried(found) and max(*found["pings"].values(), found["udp"]) < 0.03,
    )
    for path, megabits in EXPECTED.items():
        rate = found["rates"][path]
        assert 0.5 * payload(megabits * MEGABIT) < rate < 1.1 * megabits * MEGABIT, (path, rate)
    assert found["rates"]["b > a"] > 40e6  # nobody limits it: whatever two cores carry over 20 ms
    assert 0.020 <= found["pings"]["a b"] < 0.030
    assert 0.020 <= found["pings"]["b a"] < 0.030
    assert 0.002 <= found["pings"]["c d"] < 0.012
    assert found["pings"]["c b"] < 0.010
    assert 0.020 <= found["udp"] < 0.030
    assert found["owner"] < 0.005  # not by what is emulated
    assert found["hops"] == {"e > f": 1, "a > b": 2, "a > c": 4}
    assert "TUN line" in found["emulation"]


@pytest.mark.testbed
def test_a_path_changes_while_it_is_there(tmp_path, testbed_name):
    found = undisturbed(
        lambda: run_inside(f"{EXPERIMENTS}:changing", testbed_name, tmp_path),
        lambda found: found["before"][0] > 0.8 * payload(40 * MEGABIT) and found["after"][1] < 0.027,
    )
    (rate, delay), (changed_rate, changed_delay) = found["before"], found["after"]
    assert changed_rate < 0.5 * rate
    assert changed_delay - delay == pytest.approx(19e-3, abs=6e-3)
    assert found["cut"] == 1.0
    limits, appearing, nobody = found["refused"]
    assert "limit" in limits
    assert "limit" in appearing
    assert "limit" not in nobody


@pytest.mark.testbed
def test_losses_are_of_one_direction(tmp_path, testbed_name):
    found = run_inside(f"{EXPERIMENTS}:losing", testbed_name, tmp_path)
    assert 0.15 < found["lost"] < 0.45
    assert found["back"] == 0


@pytest.mark.testbed
def test_a_bucket_is_emptied_and_then_its_rate_is_what_is_left(tmp_path, testbed_name):
    """What is not sent while the machine is busy elsewhere is in the bucket later, so both ends may move."""

    def emptied(rates):
        return min(rates[:3]) > 1.5 * max(rates[5:7]) and max(rates[5:7]) < 1.1 * 8 * MEGABIT

    rates = undisturbed(lambda: run_inside(f"{EXPERIMENTS}:bursting", testbed_name, tmp_path), emptied)
    assert emptied(rates), rates


@pytest.mark.testbed
def test_an_exception_leaves_nothing(tmp_path, testbed_name):
    found = run_inside(f"{EXPERIMENTS}:failing", testbed_name, tmp_path)
    assert "empty list" in found["error"]
    assert found["line"] == 1
    assert found["gone"]
    assert found["interfaces"] == ["lo"]
    assert not found["addresses"]
    assert found["files"] == []
    assert found["again"] > 0
    assert found["second"]


def in_namespace(link: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "ns" / "mnt").readlink().name == link:
                found.append(process.name)
        except OSError:
            continue  # it has just ended
    return found


@pytest.mark.testbed
def test_kill_9_of_the_owner_leaves_nothing(tmp_path, testbed_name):
    before = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True).stdout
    folder = default_folder(testbed_name)
    code = (
        "import sys; from pathlib import Path; from tests.mininet_topos.cloud.inside import run_inside;"
        f"run_inside('{EXPERIMENTS}:staying', '{testbed_name}', Path(sys.argv[1]), 600)"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        assert wait_until((folder / "built").exists, 30)
        first = Path("/proc") / (folder / "pid").read_text().strip()
        link = (first / "ns" / "mnt").readlink().name
        assert len(in_namespace(link)) >= 3
    finally:
        owner.kill()
        owner.wait()
    assert wait_until(lambda: in_namespace(link) == [], 30)
    assert subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True).stdout == before
    with run_folder(folder):
        pass
    assert not folder.exists()


@pytest.mark.testbed
def test_the_machines_own_namespace_is_not_touched(tmp_path):
    with refused("conflict", "namespace"), built(tree(), tmp_path):
        pass
