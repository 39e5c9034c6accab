"""``adon demo`` as a user runs it: the end-to-end test of the whole system."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mininet_topos.demo.main import STAYS
from mininet_topos.demo.record import Record
from mininet_topos.isolation import default_folder
from mininet_topos.waiting import wait_until
from tests.walks.people import walk_all

ADON = Path(sys.executable).parent / "adon"
LONGEST_S = 480
PICTURES = Path("reports/walks")
FOLDERS = default_folder("demo").parent

STORY = [
    ("SoyKB", "admit", "al2s", "osu-hpc"),
    ("Neuroblastoma", "admit", "al2s", None),
    ("SoyKB-2", "admit", "internet", "mu-hpc"),
    ("SoyKB-3", "queue", None, None),
    ("SoyKB-3", "admit", "al2s", "osu-hpc"),
]
SEQUEL = [("RIVVIR steering", "admit", "al2s", None), ("RIVVIR steering", "move", "internet", None)]


def listening_to_ctrl_c() -> None:
    """As in a terminal: whoever is started in the background by a shell inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Run:
    """A demo that a user has started in a terminal, with what it has printed."""

    def __init__(self, report: Path, log: Path, *options: str) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [ADON, "demo", "--report", str(report), "--seed", "7", *options],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=listening_to_ctrl_c,
            )

    @property
    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def folder(self) -> Path:
        """Its run folder: the one that a process of its session names."""
        assert wait_until(lambda: self._folders() != set() or self.process.poll() is not None, 30), self.text
        (found,) = self._folders()
        return found

    def url(self) -> str:
        """Where the dashboard of the ADON that runs now is."""
        return re.findall(r"http://127\.0\.0\.1:[0-9]+", self.text)[-1]

    def _folders(self) -> set[Path]:
        pattern = re.compile(rf"{re.escape(str(FOLDERS))}/demo-[0-9]+-[0-9a-f]+")
        return {
            Path(match[0])
            for pid, words in command_lines()
            if session_of(pid) == self.process.pid
            for word in words
            if (match := pattern.match(word))
        }


def decided(scene: dict) -> list[tuple]:
    return Record(0.0, 7, 100.0, names=scene["names"], decisions=scene["decisions"]).decided()


@contextmanager
def demo(report: Path, log: Path, *options: str) -> Iterator[Run]:
    run = Run(report, log, *options)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
        run.process.wait()


def command_lines() -> Iterator[tuple[int, list[str]]]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield int(process.name), (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has just ended


def session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def left_of(folder: Path) -> list[list[str]]:
    return [words for _pid, words in command_lines() if any(str(folder) in word for word in words)]


def interfaces() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout


@pytest.mark.testbed
def test_the_demo_tells_figure_18_with_real_switches_and_real_bytes_and_is_walked_through(tmp_path):
    """What stays after the story is walked through in a browser as each role; pictures are kept."""
    report = tmp_path / "report"
    with demo(report, tmp_path / "log", "--stay") as run:
        folder = run.folder()
        stays = wait_until(lambda: STAYS in run.text or run.process.poll() is not None, LONGEST_S)
        assert stays, run.text
        assert run.process.poll() is None, run.text
        walk_all(run.url(), folder, PICTURES)
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
    assert f"All {len(record['checks']) + len(sequel['checks'])} checks held:" in page
    assert "No two conflicting tests overlapped:" in page
    assert (report / "figure18.png").exists() or "no PNG:" in page
    assert left_of(folder) == []
    assert not folder.exists()


@pytest.mark.testbed
@pytest.mark.parametrize("after", [0.3, 2.0, 7.0], ids="{} s".format)
def test_ctrl_c_removes_everything_and_says_so_in_one_line(tmp_path, after):
    before = interfaces()
    with demo(tmp_path / "report", tmp_path / "log") as run:
        folder = run.folder()
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
        folder = killed.folder()
        killed.process.kill()
        killed.process.wait()
    assert wait_until(lambda: left_of(folder) == [], 10)
    assert wait_until(lambda: not folder.exists(), 10)
