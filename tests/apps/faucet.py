"""Faucet, a real controller of campuses, as the other tenant of our switches: in a venv of its own.

It pins an older os-ken than ours, and eventlet; ``scripts/setup.sh test`` makes the venv.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.apps.edge import BRIDGES, LINKS, ROOT, Switches, end, free_port

BIN = ROOT / ".venv-faucet" / "bin"
COOKIE = "cookie=0x5adc15c0/-1"


def configuration(folder: Path) -> Path:
    """One VLAN over all ports of both edges."""
    ports = {number: {"native_vlan": "campus"} for number in range(1, len(LINKS) + 1)}
    dps = {
        name: {"dp_id": int(dpid, 16), "hardware": "Open vSwitch", "interfaces": ports}
        for name, dpid in BRIDGES.items()
    }
    path = folder / "faucet.yaml"
    path.write_text(yaml.safe_dump({"vlans": {"campus": {"vid": 10}}, "dps": dps}))
    return path


@contextmanager
def faucet(folder: Path, switches: Switches, port: int) -> Iterator[None]:
    """Faucet, listening on this port of loopback; its files are in the folder."""
    assert (BIN / "faucet").exists(), f"{BIN} is not there: run scripts/setup.sh test"
    environment = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "FAUCET_CONFIG": str(configuration(folder)),
        "FAUCET_LOG": str(folder / "faucet.log"),
        "FAUCET_EXCEPTION_LOG": str(folder / "faucet-exceptions.log"),
        "FAUCET_PROMETHEUS_ADDR": "127.0.0.1",
        "FAUCET_PROMETHEUS_PORT": str(free_port()),
    }
    switches.environment |= environment
    process = switches.start(
        str(BIN / "faucet"), f"--ryu-ofp-tcp-listen-port={port}", "--ryu-ofp-listen-host=127.0.0.1"
    )
    try:
        yield
    finally:
        end(process)
