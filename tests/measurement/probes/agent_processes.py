"""Real agents on loopback, each a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from measurement.instances import Instance
from measurement.probes.agent_client import AgentClient
from measurement.probes.findings import ProbeReport
from measurement.probes.probe_types import Probe, ProbeOrder
from measurement.probes.secure_channel import read_key, write_key


@dataclass(frozen=True, slots=True)
class AgentProcess:
    """One agent."""

    instance: Instance
    process: subprocess.Popen[str]

    def terminate(self) -> int:
        """Send SIGTERM; return the exit status."""
        self.process.terminate()
        return self.process.wait(20)


def make_key(folder: Path, name: str = "key") -> Path:
    """Return a new key file."""
    write_key(folder / name)
    return folder / name


@contextmanager
def run_agent(name: str, key: Path, address: str = "127.0.0.1", *options: str) -> Iterator[AgentProcess]:
    """Run an agent within the context."""
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
        line = process.stdout.readline()
        assert line.startswith("event=ready port="), line
        yield AgentProcess(Instance(name, address, int(line.partition("port=")[2])), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def request_probes(source: AgentProcess, target: Instance, key: Path, *probes: Probe) -> ProbeReport:
    """Return the report of one agent about another."""
    async with await AgentClient.connect(source.instance, read_key(key)) as client:
        return await client.probe(ProbeOrder(target, probes))


@contextmanager
def run_agents(folder: Path, count: int) -> Iterator[tuple[Path, list[subprocess.Popen[str]]]]:
    """Run so many agents on loopback; yield their instances file and processes."""
    key = make_key(folder)
    with ExitStack() as stack:
        agents = [stack.enter_context(run_agent(f"i{number}", key)) for number in range(count)]
        lines = ["key_file: key", "instances:"]
        for number, agent in enumerate(agents):
            name, port = agent.instance.name, agent.instance.port
            lines.append(f"  - {{name: {name}, address: 127.0.0.1, port: {port}, zone: z{number % 2}}}")
        file = folder / "instances.yaml"
        file.write_text("\n".join(lines))
        yield file, [agent.process for agent in agents]
