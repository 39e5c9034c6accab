"""What the controller needs: memory when idle, and time from start to the first switch.

- *idle memory*: VmRSS of ``/proc/PID/status`` with two switches connected and ten quiet seconds behind it;
- *start*: from before ``exec`` to the log line of the first completed OpenFlow handshake, with Open vSwitch
  looking for its controller every second (``max_backoff=1000``): up to a second of it is waiting.  Open
  vSwitch 3.1 heeds that setting only if it changes while a controller is connected, so one start that is
  not counted comes first.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.reaction import observed
from benchmarks.summary import Summary
from tests.apps.edge import Controller, both_edges, eventually

STARTS = 5
IDLE_S = 10.0
IDLE_BOUND_MIB = 150
START_BOUND_S = 3.0


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both figures: MiB and seconds."""
    controller = Controller(folder)
    starts = []
    with both_edges(folder, controller.port) as switches:
        try:
            _start(controller)
            switches.hurry()
            for _ in range(STARTS):
                controller.stop()
                starts.append(_start(controller))
            time.sleep(IDLE_S)
            memory = _memory(controller)
        finally:
            controller.stop()
        with observed(controller) as process:
            process.order("modules")
            (line,) = process.lines_until(lambda told: any(each["what"] == "modules" for each in told))[-1:]
    return {"start_s": asdict(Summary.of([starts])), "idle_mib": memory, "heavy_imports": line["imported"]}


def _start(controller: Controller) -> float:
    controller.log.unlink(missing_ok=True)
    begun = time.time()
    controller.start()
    eventually(lambda: controller.said("event=switch.connected") >= 1, "no switch connected")
    line = next(line for line in controller.log.read_text().splitlines() if "event=switch.connected" in line)
    stamp = datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").astimezone()
    eventually(lambda: controller.said("is connected") == 2, "one switch did not connect")
    return stamp.timestamp() - begun


def _memory(controller: Controller) -> dict[str, float]:
    assert controller.process is not None
    status = Path(f"/proc/{controller.process.pid}/status").read_text()
    found = dict(re.findall(r"(VmRSS|VmHWM|Threads):\s+(\d+)", status))
    return {
        "resident": int(found["VmRSS"]) / 1024,
        "peak": int(found["VmHWM"]) / 1024,
        "threads": int(found["Threads"]),
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the idle controller is small, loads nothing heavy, and has its switches soon."""
    light = results["idle_mib"]["resident"] < IDLE_BOUND_MIB and not results["heavy_imports"]
    return bool(light and results["start_s"]["largest"] < START_BOUND_S)


def report(results: Mapping[str, Any]) -> str:
    """The figures in words."""
    memory, start = results["idle_mib"], results["start_s"]
    return (
        f"Idle after {IDLE_S:g} s: {memory['resident']:.1f} MiB resident "
        f"(peak {memory['peak']:.1f}, {memory['threads']} threads); bound {IDLE_BOUND_MIB}"
        f"\nHeavy packages imported: {', '.join(results['heavy_imports']) or 'none'}"
        f"\nStart to first switch: median {start['median']:.2f} s, longest {start['largest']:.2f} s of "
        f"{start['count']}; bound {START_BOUND_S:g}"
    )
