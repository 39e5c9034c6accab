"""What this machine can emulate: which Open vSwitch datapath, and whether links can have a delay.

A user's own Linux usually has both the kernel's Open vSwitch and netem; a container or a small VM often has
neither.  The better one is taken where it is there, and every report says which was in use, since figures
from different emulations must not be compared.  Nothing is loaded or changed to find out, except that ``tc``
lets the kernel load ``sch_netem`` by itself.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

KERNEL_DATAPATH = Path("/sys/module/openvswitch")


@dataclass(frozen=True, slots=True)
class Emulation:
    """How the network is emulated.

    :param datapath: ``kernel`` or ``user``, as Mininet's ``OVSSwitch`` calls them.
    :param netem: whether links have the delay that was described.
    """

    datapath: str
    netem: bool

    def __str__(self) -> str:
        delay = "netem delay" if self.netem else "no delay (this kernel has no netem)"
        return f"Open vSwitch {self.datapath} datapath, HTB rates, {delay}"


def detect(kernel_datapath: Path = KERNEL_DATAPATH) -> Emulation:
    """What is there; to be called inside the testbed's own network namespace."""
    return Emulation("kernel" if kernel_datapath.exists() else "user", _has_netem())


def _has_netem() -> bool:
    attempt = ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    if subprocess.run(attempt, capture_output=True, check=False).returncode != 0:
        return False
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], capture_output=True, check=True)
    return True
