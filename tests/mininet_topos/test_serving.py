"""``adon serve`` of a test network as a process of its own: what ends it, and what does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mininet_topos.serving import Adon
from mininet_topos.waiting import wait_until
from tests.terminal import listening_to_ctrl_c

STARTS = """
import sys
from pathlib import Path
from mininet_topos.serving import prepared

class Bed:
    def serving(self, argv):
        return [sys.executable, "-c", sys.argv[2], sys.argv[3]]

with prepared(Bed(), "", Path(sys.argv[1])) as adon:
    adon.launch()
    sys.stdin.read()
"""
SERVES = """
import os, pathlib, signal, sys
told = pathlib.Path(sys.argv[1])

def tell(number, _frame=None):
    with told.open("a") as file:
        file.write(f"{signal.Signals(number).name} ")
    if number == signal.SIGTERM:
        os._exit(0)

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, tell)
told.write_text(f"{os.getpid()} ")
while True:
    signal.pause()
"""


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def test_parts_that_died_are_told_by_its_log_from_when_they_count(tmp_path):
    adon = Adon(SimpleNamespace(), tmp_path, "", SimpleNamespace())
    assert adon.died == ""
    died = "2026-07-01 10:00:00,123 ERROR adon.serve event=died part={} status={} again_in_s=0.5"
    adon.log.write_text(died.format("collector", 1) + "\n")
    assert adon.died == "part=collector status=1"
    adon.overlook()
    assert adon.died == ""
    with adon.log.open("a") as log:
        log.write("INFO adon.serve event=started part=collector pid=7\n" + died.format("controller", -9)[:60])
        log.flush()
        assert adon.died == ""
        log.write(died.format("controller", -9)[60:] + "\n" + died.format("web", 1) + "\n")
    assert adon.died == "part=controller status=-9"
    assert adon.died == "part=controller status=-9"


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C in its terminal", "whoever started it is killed"]
)
def test_it_is_asked_to_end_by_whoever_started_it_or_by_its_death_and_not_by_a_terminal(tmp_path, number):
    """With the terminal's Ctrl-C it would be gone while a trial still has to report to it."""
    told = tmp_path / "told"
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS, str(tmp_path / "adon"), SERVES, str(told)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=listening_to_ctrl_c,
    )
    try:
        assert wait_until(lambda: told.exists() and told.read_text().endswith(" "), 30)
        pid = int(told.read_text().split()[0])
        os.killpg(starter.pid, number)
        starter.wait(30)
        assert wait_until(lambda: ended(pid), 30)
    finally:
        starter.kill()
        starter.communicate()
    assert told.read_text().split()[1:] == ["SIGTERM"]
