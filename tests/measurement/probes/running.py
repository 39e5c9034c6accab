"""Real agents on loopback, each a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measurement.instances import Instance
from measurement.probes.client import Agent
from measurement.probes.findings import Report
from measurement.probes.key import read_key, write_key
from measurement.probes.orders import Order, Probe


@dataclass(frozen=True, slots=True)
class Running:
    """One agent."""

    instance: Instance
    process: subprocess.Popen[str]

    def end(self) -> int:
        """Ask it to end; its exit status."""
        self.process.terminate()
        return self.process.wait(20)


def new_key(folder: Path, name: str = "key") -> Path:
    """A key file."""
    write_key(folder / name)
    return folder / name


@contextmanager
def agent(name: str, key: Path, address: str = "127.0.0.1", *options: str) -> Iterator[Running]:
    """An agent that listens; it is gone when the context ends."""
    process = subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "measurement.probes.main"),
            *("--host", address, "--port", "0", "--key", str(key), *options),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        assert said.startswith("event=ready port="), said
        yield Running(Instance(name, address, int(said.partition("port=")[2])), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def asked(source: Running, target: Instance, key: Path, *probes: Probe) -> Report:
    """What one finds about another."""
    async with await Agent.connect(source.instance, read_key(key)) as connected:
        return await connected.probe(Order(target, probes))


@contextmanager
def run_agents(folder: Path, count: int) -> Iterator[tuple[Path, list[subprocess.Popen[str]]]]:
    """So many real agents on loopback, and their instances file."""
    key = folder / "key"
    write_key(key)
    command = [sys.executable, "-m", "measurement.probes.main", "--host", "127.0.0.1", "--port", "0"]
    running = [
        subprocess.Popen([*command, "--key", str(key)], stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    try:
        lines = ["key_file: key", "instances:"]
        for number, one in enumerate(running):
            assert one.stdout is not None
            port = one.stdout.readline().rpartition("port=")[2].strip()
            lines.append(f"  - {{name: i{number}, address: 127.0.0.1, port: {port}, zone: z{number % 2}}}")
        file = folder / "instances.yaml"
        file.write_text("\n".join(lines))
        yield file, running
    finally:
        for one in running:
            one.kill()
            one.wait()
            assert one.stdout is not None
            one.stdout.close()
