"""What this machine can emulate: which Open vSwitch datapath, and whether links can have a delay and a loss.

A user's own Linux usually has both the kernel's Open vSwitch and netem; a container or a small VM often has
neither.  The better one is taken where it is there, and every report says which was in use, since figures
from different emulations must not be compared.  Nothing is loaded or changed to find out, except that ``tc``
lets the kernel load ``sch_netem`` by itself.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from mininet_topos.topology import Topology

KERNEL_DATAPATH = Path("/sys/module/openvswitch")

_TRY_NETEM = "qdisc add dev lo root netem delay 1ms\nqdisc del dev lo root\n"


@dataclass(frozen=True, slots=True)
class Emulation:
    """How the network is emulated.

    :param datapath: ``kernel`` or ``user``, as Mininet's ``OVSSwitch`` calls them.
    :param netem: whether links have the delay and the loss that were described.
    """

    datapath: str
    netem: bool

    def __str__(self) -> str:
        delay = "netem delay and loss" if self.netem else "no delay and no loss (this kernel has no netem)"
        return f"Open vSwitch {self.datapath} datapath, HTB rates, {delay}"

    def missing(self, topology: Topology) -> tuple[str, ...]:
        """What of a described network is not emulated, one sentence each.

        Whether that matters is for whoever builds it to say.
        """
        if self.netem:
            return ()
        shapes = [
            (end.name, end.shape) for link in topology.links for end in link.ends if end.shape is not None
        ]
        delays = [f"{name} has no delay of {shape.delay * 1e3:g} ms" for name, shape in shapes if shape.delay]
        losses = [f"{name} loses no {shape.loss:.3g} of its packets" for name, shape in shapes if shape.loss]
        return (*delays, *losses)


def detect(module: Path = KERNEL_DATAPATH, *, kernel_datapath: bool | None = None) -> Emulation:
    """What is there; to be called inside the testbed's own network namespace.

    :param kernel_datapath: whether it is to be used; None: if it is there.
    """
    kernel = module.exists() if kernel_datapath is None else kernel_datapath
    return Emulation("kernel" if kernel else "user", _has_netem())


def _has_netem() -> bool:
    argv = ["tc", "-batch", "-"]
    return subprocess.run(argv, input=_TRY_NETEM, text=True, capture_output=True, check=False).returncode == 0
