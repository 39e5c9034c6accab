"""What this machine has for running test networks.  Nothing is changed to find out."""

from __future__ import annotations

import os
import shutil
import subprocess

from adon.errors import Unavailable
from mininet_topos.commands import with_system_programs
from mininet_topos.emulation import KERNEL_DATAPATH
from mininet_topos.old_guest import kernel
from mininet_topos.old_platforms.choosing import Machine

PROGRAMS = ("unshare", "setpriv", "mnexec", "ovs-vswitchd", "ovsdb-server", "tc", "ethtool", "iperf3", "ping")
_TRY_NETEM = "ip link set lo up && tc qdisc add dev lo root netem delay 1ms"


def look() -> Machine:
    """See the module's text; what needs root is only looked for as root."""
    root = os.geteuid() == 0 and _unshared("true")
    return Machine(
        root=root,
        kernel_datapath=KERNEL_DATAPATH.exists(),
        netem=root and _unshared(_TRY_NETEM),
        guest=_has("modprobe") and _has_guest_kernel(),
        missing=tuple(program for program in PROGRAMS if not _has(program)),
    )


def _has(program: str) -> bool:
    return shutil.which(program, path=with_system_programs()["PATH"]) is not None


def _unshared(script: str) -> bool:
    """Whether it succeeds in a network namespace, which is gone with it."""
    argv = ["unshare", "--net", "sh", "-c", script]
    if not _has("unshare"):
        return False
    done = subprocess.run(argv, env=with_system_programs(), capture_output=True, check=False)
    return done.returncode == 0


def _has_guest_kernel() -> bool:
    try:
        kernel.found()
    except Unavailable:
        return False
    return True
