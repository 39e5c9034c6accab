"""The two platforms of a testbed, and which one this machine can run.

The choice is a function of what the machine has; nothing is changed to find that out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from adon.errors import InvalidInput, Unavailable
from mininet_topos.commands import with_system_programs
from mininet_topos.guest import find_kernel

CODE = "missing-requirement"
PROGRAMS = {
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "mnexec": "mininet",
    "ovs-vswitchd": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "ifconfig": "net-tools",
    "sysctl": "procps",
    "ping": "iputils-ping",
}
"""Programs that both platforms need, with their Debian packages."""
_TRY_NETEM = "ip link set lo up && tc qdisc add dev lo root netem delay 1ms"


class Platform(StrEnum):
    """Where a testbed is built."""

    HOST = "host"
    """Namespaces of this machine's kernel; needs root."""
    GUEST = "guest"
    """A User-Mode-Linux kernel with netem; needs no root."""


@dataclass(frozen=True, slots=True)
class PlatformChoice:
    """A platform and the reason for it, in words."""

    platform: Platform
    reason: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Capabilities of a machine.

    :param root: whether this process may make network namespaces.
    :param netem: whether links of the kernel can have delay and loss.
    :param guest: whether a User-Mode-Linux kernel and ``modprobe`` are there.
    :param missing: names of :data:`PROGRAMS` that are not installed.
    """

    root: bool
    netem: bool
    guest: bool
    missing: tuple[str, ...] = ()


def choose_platform(
    wanted: str | None, *, needs_netem: bool, machine: Machine | None = None
) -> PlatformChoice:
    """Choose the host if this process is root and netem is there or not needed, else the guest.

    :param wanted: ``host``, ``guest``, or None for either.
    :param needs_netem: whether the network has delays or losses that must be emulated.
    :param machine: None: this one.
    :raises InvalidInput: if there is no platform of that name.
    :raises Unavailable: if none can be used; names what is missing, with the remedy.
    """
    if wanted not in (None, *Platform):
        raise InvalidInput.of("platform", f"{wanted!r} is unknown; expected one of {', '.join(Platform)}")
    has = inspect_machine() if machine is None else machine
    if has.missing:
        packages = sorted({PROGRAMS[name] for name in has.missing})
        install = f"install the Debian packages {', '.join(packages)}, or run scripts/setup.sh"
        raise Unavailable("\n".join(f"{name}: not installed; {install}" for name in has.missing), code=CODE)
    platforms = tuple(Platform) if wanted is None else (Platform(wanted),)
    obstacles = {one: tuple(_obstacles(one, has, needs_netem=needs_netem)) for one in platforms}
    for platform, found in obstacles.items():
        if not found:
            passed = [line for others in obstacles.values() for line in others]
            return PlatformChoice(platform, "; ".join(passed) or "this machine has everything it needs")
    raise Unavailable("\n".join(line for found in obstacles.values() for line in found), code=CODE)


def _obstacles(platform: Platform, has: Machine, *, needs_netem: bool) -> Iterator[str]:
    """Yield why a platform cannot be used, each with its remedy."""
    if platform is Platform.GUEST:
        if not has.guest:
            yield "guest: no User-Mode-Linux kernel, or no modprobe; run scripts/setup.sh guest"
        return
    if not has.root:
        yield "root: network namespaces of this machine need root; run with sudo, or use --platform guest"
    elif needs_netem and not has.netem:
        yield (
            "netem: this kernel cannot emulate delay and loss; load the module sch_netem, "
            "or use --platform guest"
        )


def inspect_machine() -> Machine:
    """Return what this machine has; netem is looked for only as root."""
    root = os.geteuid() == 0 and _succeeds_unshared("true")
    return Machine(
        root=root,
        netem=root and _succeeds_unshared(_TRY_NETEM),
        guest=_is_installed("modprobe") and find_kernel() is not None,
        missing=tuple(program for program in PROGRAMS if not _is_installed(program)),
    )


def _is_installed(program: str) -> bool:
    return shutil.which(program, path=with_system_programs()["PATH"]) is not None


def _succeeds_unshared(script: str) -> bool:
    """Whether a script succeeds in a network namespace, which ends with it."""
    if not _is_installed("unshare"):
        return False
    argv = ["unshare", "--net", "sh", "-c", script]
    return subprocess.run(argv, env=with_system_programs(), capture_output=True, check=False).returncode == 0
