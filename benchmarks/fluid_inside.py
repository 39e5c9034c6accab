"""The scenarios of the fluid model on the real testbed.

``python -m benchmarks.fluid_inside FOLDER ANSWER ROUNDS``.

The first process of a testbed (:mod:`mininet_topos.isolation`).  Writes one JSON value: how the network is
emulated, and per scenario a list of rounds, each a list of transfers with ``started`` (seconds since the
scenario began) and ``seconds``, as the receiver counted them.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from benchmarks.fluid_scenarios import L2, L3, NETWORK, SCALE, SCENARIOS, Carry, Others, Scenario
from mininet_topos.cross_traffic import CrossTraffic
from mininet_topos.networks import named
from mininet_topos.shaping import Change
from mininet_topos.static_rules import Traffic, pin
from mininet_topos.testbed import Testbed, testbed
from mininet_topos.transfer import Transfer, arguments
from mininet_topos.waiting import wait_until

OPENFLOW_PORT = 6653
FIRST_PORT = 7000
LONGEST_S = 120.0
READY_S = 10.0
PAUSE_S = 1.0
"""Between two scenarios: what was under way has arrived."""

MU, OSU = "mu-dtn", "osu-dtn"
BUILT = named(NETWORK, SCALE)
_DATA = (BUILT.dtn(MU).address, BUILT.dtn(OSU).address)
BOTTLENECKS = {L2: ("line-t1", "line-t2"), L3: ("mu-rtr-wan",)}


def main() -> None:
    """Build, try everything, write the answer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder, answer, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    found: dict[str, list[Any]] = {one.name: [] for one in SCENARIOS}
    with testbed(BUILT.topology, folder, OPENFLOW_PORT) as bed:
        for path in (L2, L3):
            keep(bed, path, _measured(path))
        for _ in range(rounds):
            for scenario in SCENARIOS:
                found[scenario.name].append(tried(bed, scenario))
                time.sleep(PAUSE_S)
        told = {"emulation": str(bed.emulated_by), "scenarios": found}
    answer.write_text(json.dumps(told))


def keep(bed: Testbed, path: str, addresses: tuple[IPv4Address, IPv4Address]) -> None:
    """Keep the traffic between two addresses of the DTNs on a path."""
    pin(bed.switches.ofctl, BUILT, path, Traffic(MU, OSU, addresses=addresses))


def _measured(path: str) -> tuple[IPv4Address, IPv4Address]:
    return BUILT.dtn(MU).measured[path], BUILT.dtn(OSU).measured[path]


def tried(bed: Testbed, scenario: Scenario) -> list[dict[str, Any]]:
    """One round of one scenario."""
    with ExitStack() as stack:
        receivers = [
            stack.enter_context(_receiver(bed, carry, FIRST_PORT + number))
            for number, carry in enumerate(scenario.carries)
        ]
        wait_until(lambda: _listening(bed) >= len(receivers), READY_S)
        for carry in scenario.carries:
            if carry.moves:
                keep(bed, carry.path, _DATA)
        began = time.time()
        for at, act in sorted(_actions(bed, scenario, stack), key=lambda pair: pair[0]):
            time.sleep(max(0.0, began + at - time.time()))
            act()
        ends = [_reported(receiver) for receiver in receivers]
    return [
        {
            "started": one["started_at"] - began,
            "seconds": one["seconds"],
            "per_second": one["per_second"],
        }
        for one in ends
    ]


def _actions(
    bed: Testbed, scenario: Scenario, stack: ExitStack
) -> Iterator[tuple[float, Callable[[], object]]]:
    """Everything that is to be done, and when."""
    for number, carry in enumerate(scenario.carries):
        yield carry.at, lambda c=carry, n=number: stack.enter_context(_sender(bed, c, FIRST_PORT + n))  # type: ignore[misc]
        for at, path in carry.moves:
            yield at, lambda p=path: keep(bed, p, _DATA)  # type: ignore[misc]
    for others in scenario.others:
        load = _load(others)
        stack.enter_context(_quietly(bed, OSU, load.receiver()))
        yield others.begins, lambda of=load: stack.enter_context(_quietly(bed, MU, of.sender()))  # type: ignore[misc]
    for at, path, part in scenario.rates:
        yield at, lambda p=path, f=part: _shape(bed, p, f)  # type: ignore[misc]


def _ends(carry: Carry) -> tuple[IPv4Address, IPv4Address]:
    return _DATA if carry.moves else _measured(carry.path)


@contextmanager
def _receiver(bed: Testbed, carry: Carry, port: int) -> Iterator[subprocess.Popen[str]]:
    argv = arguments("receive", Transfer(str(_ends(carry)[1]), (port,), carry.streams, LONGEST_S))
    with _running(bed.host(OSU).popen(argv, stdout=subprocess.PIPE, text=True)) as process:
        yield process


@contextmanager
def _sender(bed: Testbed, carry: Carry, port: int) -> Iterator[subprocess.Popen[str]]:
    here, there = _ends(carry)
    sending = Transfer(str(here), (port,), carry.streams, LONGEST_S, carry.rate)
    argv = arguments("send", sending, to=str(there), size=carry.size)
    with _running(bed.host(MU).popen(argv, stdout=subprocess.DEVNULL, text=True)) as process:
        yield process


@contextmanager
def _quietly(bed: Testbed, host: str, argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with _running(bed.host(host).popen(argv, **quiet)) as process:
        yield process


@contextmanager
def _running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _load(others: Others) -> CrossTraffic:
    return CrossTraffic(
        (MU, _measured(others.path)[0]),
        (OSU, _measured(others.path)[1]),
        FIRST_PORT - 1,
        others.ends - others.begins,
        streams=others.streams,
    )


def _shape(bed: Testbed, path: str, part: float) -> None:
    """Give a path's bottleneck another rate."""
    bed.set_link(*BOTTLENECKS[path], change=Change(rate=BUILT.path(path).capacity * part))


def _listening(bed: Testbed) -> int:
    found = bed.host(OSU).run("ss", "-Hltn").splitlines()
    return sum(f":7{digits:03d} " in line for line in found for digits in range(100))


def _reported(receiver: subprocess.Popen[str]) -> dict[str, Any]:
    """The receiver's last line."""
    told, _ = receiver.communicate(timeout=LONGEST_S)
    last: dict[str, Any] = json.loads(told.splitlines()[-1])
    if last.get("event") != "received":
        raise RuntimeError(f"a transfer failed: {last}")
    return last


if __name__ == "__main__":
    main()
