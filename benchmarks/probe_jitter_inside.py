"""Inside the namespaces of :mod:`benchmarks.probe_jitter`: a veth pair, the programs, their times in turn.

``python -m benchmarks.probe_jitter_inside FOLDER ROUNDS COUNT`` prints microseconds as JSON, by kind and
round.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.lab import beside
from measurement.instances import PORT, Instance
from measurement.probes.icmp import IcmpChannel
from measurement.probes.key import read_key, write_key
from measurement.probes.line import Line
from measurement.probes.round_trips import Answer, Channel, round_trips
from measurement.probes.udp import Numbers, UdpChannel, UdpPath

INTERVAL = 0.002
LENGTH = 64
HERE, THERE = "10.9.0.1", "10.9.0.2"
SOURCE = Path(__file__).parent / "probe_echo.c"


class Bare:
    """A channel whose answers come without the kernel's times and the answerer's account."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.send = channel.send

    def receive(self, seconds: float) -> Iterable[Answer]:
        """Wait for answers."""
        return [replace(each, back=None, resided=0) for each in self._channel.receive(seconds)]

    def went_out(self) -> Mapping[int, int]:
        """Nothing is known."""
        return {}


def main() -> None:
    """Measure and print."""
    folder, rounds, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    program = folder / "probe_echo"
    subprocess.run(["cc", "-O2", "-o", str(program), str(SOURCE)], check=True)
    with ExitStack() as stack:
        there = stack.enter_context(beside("far", HERE, THERE))
        key = folder / "key"
        write_key(key)
        agent = [sys.executable, "-m", "measurement.probes.main", "--host", THERE, "--key", str(key)]
        for command in (agent, [str(program), "server", THERE, "7000"]):
            started = there.popen(*command, stdout=subprocess.PIPE)
            stack.callback(started.wait)
            stack.callback(started.kill)
            assert started.stdout is not None
            started.stdout.readline()
        line = asyncio.run(Line.connect(Instance("there", THERE), read_key(key)))
        stack.callback(line.close)
        kinds = _kinds(program, line, count)
        found: dict[str, list[list[float]]] = {name: [] for name in kinds}
        for number in range(rounds + 1):  # the first is to warm up
            for name, measured in kinds.items():
                times = measured()
                if number:
                    found[name].append(times)
    print(json.dumps(found))


def _kinds(program: Path, line: Line, count: int) -> dict[str, Callable[[], list[float]]]:
    numbers, target = Numbers(), Instance("there", THERE, PORT)

    def ours(channel: Channel) -> list[float]:
        times = round_trips(channel, count, INTERVAL, 1.0, threading.Event())
        return [1e6 * each for each in times if each is not None]

    def icmp() -> list[float]:
        channel = IcmpChannel(THERE, LENGTH)
        try:
            return ours(channel)
        finally:
            channel.close()

    def udp(*, bare: bool) -> list[float]:
        path = UdpPath(target, line.keys, numbers)
        try:
            channel = UdpChannel(path, LENGTH)
            return ours(Bare(channel) if bare else channel)
        finally:
            path.close()

    def in_c() -> list[float]:
        words = [str(program), "client", THERE, "7000", str(count), str(int(INTERVAL * 1e6)), str(LENGTH)]
        return [int(each) / 1e3 for each in _said(words).split()]

    def ping() -> list[float]:
        words = ["ping", "-n", "-c", str(count), "-i", str(INTERVAL), "-s", str(LENGTH), THERE]
        return [1e3 * float(each) for each in re.findall(r"time=([\d.]+) ms", _said(words))]

    return {
        "ping": ping,
        "icmp": icmp,
        "c": in_c,
        "udp": lambda: udp(bare=False),
        "bare": lambda: udp(bare=True),
    }


def _said(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
