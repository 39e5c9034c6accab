"""``adon demo`` as a user runs it: the end-to-end test of the whole system."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mininet_topos.demo.main import STAYS
from mininet_topos.demo.record import Record
from mininet_topos.waiting import wait_until
from tests.terminal import Command, in_terminal, left_of
from tests.walks.people import walk_all

ADON = Path(sys.executable).parent / "adon"
LONGEST_S = 480
PICTURES = Path("reports/walks")

STORY = [
    ("SoyKB", "admit", "al2s", "osu-hpc"),
    ("Neuroblastoma", "admit", "al2s", None),
    ("SoyKB-2", "admit", "internet", "mu-hpc"),
    ("SoyKB-3", "queue", None, None),
    ("SoyKB-3", "admit", "al2s", "osu-hpc"),
]
SEQUEL = [("RIVVIR steering", "admit", "al2s", None), ("RIVVIR steering", "move", "internet", None)]


def decided(scene: dict) -> list[tuple]:
    return Record(0.0, 7, 100.0, names=scene["names"], decisions=scene["decisions"]).decided()


def demo(report: Path, log: Path, *options: str) -> AbstractContextManager[Command]:
    return in_terminal([str(ADON), "demo", "--report", str(report), "--seed", "7", *options], log)


def url(run: Command) -> str:
    """Where the dashboard of the ADON that runs now is."""
    return re.findall(r"http://127\.0\.0\.1:[0-9]+", run.text)[-1]


def interfaces() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.testbed
def test_the_demo_tells_figure_18_with_real_switches_and_real_bytes_and_is_walked_through(tmp_path):
    """What stays after the story is walked through in a browser as each role; pictures are kept."""
    report = tmp_path / "report"
    with demo(report, tmp_path / "log", "--stay") as run:
        folder = run.run_folder("demo")
        stays = wait_until(lambda: STAYS in run.text or run.process.poll() is not None, LONGEST_S)
        assert stays, run.text
        assert run.process.poll() is None, run.text
        walk_all(url(run), folder, PICTURES)
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(60) == 0, run.text
    record = json.loads((report / "record.json").read_text())
    assert record["checks"]
    sequel = record["sequel"]
    assert [check for scene in (record, sequel) for check in scene["checks"] if not check["held"]] == []
    assert decided(record) == STORY
    assert decided(sequel) == SEQUEL
    assert [moment["step"] for moment in record["moments"]] == [f"t{number}" for number in range(1, 10)]
    assert {t["flow"]: t["received"] for t in record["transfers"]} == {
        "SoyKB": 100_000_000,
        "Neuroblastoma": 450_000_000,
        "SoyKB-2": 8_000_000,
        "SoyKB-3": 25_000_000,
    }
    assert [moment["step"] for moment in sequel["moments"]] == ["t10", "t11", "t12", "t13"]
    assert [(t["flow"], t["path"], t["received"]) for t in sequel["transfers"]] == [
        ("RIVVIR steering", "al2s, then internet", 6_000_000)
    ]
    (move,) = [d for d in sequel["decisions"] if d["outcome"] == "move"]
    assert move["alarm"] in [alarm["id"] for alarm in sequel["alarms"] if alarm["bad"]]
    for scene in (record, sequel):
        assert scene["plan"]["overlaps"] == []
        assert any(run["started"] for run in scene["plan"]["executions"])
    ours = r"cookie=0xad10[0-9a-f]+.*?priority=(\d+)"
    priorities = [int(found) for found in re.findall(ours, record["rules"]["t1 mu-edge"])]
    assert any(priority >= 30_000 for priority in priorities), record["rules"]
    assert "priority=0 actions=NORMAL" in record["rules"]["t1 mu-edge"]
    page = (report / "index.html").read_text()
    assert f"All {len(record['checks']) + len(sequel['checks'])} checks" in page
    assert 'class="bad"' not in page
    assert (report / "figure18.png").exists() or "no PNG:" in page
    assert left_of(folder) == []
    assert not folder.exists()


@pytest.mark.testbed
@pytest.mark.parametrize("after", [0.3, 2.0, 7.0], ids="{} s".format)
def test_ctrl_c_removes_everything_and_says_so_in_one_line(tmp_path, after):
    before = interfaces()
    with demo(tmp_path / "report", tmp_path / "log") as run:
        folder = run.run_folder("demo")
        time.sleep(after)
        os.killpg(run.process.pid, signal.SIGINT)
        assert run.process.wait(30) == 130
    told = run.text.splitlines()
    assert "interrupted" in told[-1]
    assert not [line for line in told if "Traceback" in line or "Error" in line]
    assert wait_until(lambda: left_of(folder) == [], 5)
    assert not folder.exists()
    assert interfaces() == before
    assert list((tmp_path / "report").iterdir()) == []


@pytest.mark.testbed
def test_of_a_killed_demo_nothing_is_left(tmp_path):
    with demo(tmp_path / "report", tmp_path / "log") as killed:
        folder = killed.run_folder("demo")
        killed.process.kill()
        killed.process.wait()
    assert wait_until(lambda: left_of(folder) == [], 10)
    assert wait_until(lambda: not folder.exists(), 10)
