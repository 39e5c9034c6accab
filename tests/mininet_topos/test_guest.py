from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from mininet_topos.commands import wait_until
from tests.mininet_topos.isolated import processes, start

pytestmark = pytest.mark.integration
ENDING = 60.0


def test_program_in_a_guest_has_the_callers_input_output_and_status(runtime):
    script = 'read -r word; echo "$word at $(hostname)" | tee "$1/answer"; seq 30000 | tail -n +2; exit 3'
    argv = ["sh", "-c", script, "sh", str(runtime / "shared")]
    process = start("guest", runtime, argv, stdin=subprocess.PIPE)
    output, _ = process.communicate("here\n")
    assert process.returncode == 3
    assert output.splitlines() == ["here at guest", *map(str, range(2, 30001))]
    assert (runtime / "shared" / "answer").read_text() == "here at guest\n"
    assert list((runtime / "adon").iterdir()) == []


def test_end_of_input_reaches_the_guest(runtime):
    process = start("guest", runtime, ["wc", "-l"], stdin=subprocess.PIPE)
    assert process.communicate("one\ntwo\n")[0] == "2\n"
    assert process.returncode == 0


INTERRUPTED = """
from signal import SIG_BLOCK, SIGINT, pthread_sigmask, sigwait
pthread_sigmask(SIG_BLOCK, {SIGINT})  # a signal just before time.sleep() would not end the sleep
print("running", flush=True)
sigwait({SIGINT})
print("interrupted", flush=True)
"""


def test_interrupt_reaches_the_program_in_a_guest(runtime):
    with start("guest", runtime, [sys.executable, "-c", INTERRUPTED]) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_guest_ends_with_its_caller(runtime, number):
    with start("guest", runtime, ["sh", "-c", "echo running; sleep 1000000"]) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(number)
    assert wait_until(lambda: processes(runtime) == [], ENDING), processes(runtime)
