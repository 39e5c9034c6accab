from __future__ import annotations

import subprocess
import sys
import threading

from mininet_topos.stopping import Stop

STOPPED_AT_EACH_STEP = """
import os, signal, sys
from mininet_topos.stopping import stop_by_sigterm

steps = last = 1
while steps >= last:
    stop, steps = stop_by_sigterm(), 0

    def step(frame, event, argument):
        global steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGTERM)
        return step

    sys.settrace(step)
    stop.wait(0.01)
    sys.settrace(None)
    if steps >= last:
        assert stop.wait(1)
    last += 1
print(last > 4)
"""


def test_sigterm_at_any_step_of_a_wait_stops_it():
    """A handler that takes a lock would wait for ever, where the thread that it interrupts holds it."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_AT_EACH_STEP], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_who_waits_hears_at_once_and_remembers():
    stop = Stop()
    assert not stop.is_set()
    assert not stop.wait(0)
    threading.Timer(0.05, stop.set).start()
    assert stop.wait()
    assert stop.wait(0)
    assert stop.is_set()
