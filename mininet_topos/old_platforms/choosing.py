"""Which platform a test network is run on: a function of what the machine has."""

from __future__ import annotations

from dataclasses import dataclass

from adon.errors import InvalidInput, Unavailable
from mininet_topos.old_platforms.names import Platform

AUTO, HOST = "auto", "host"


@dataclass(frozen=True, slots=True)
class Machine:
    """What a machine has.

    :param root: whether we may make network namespaces.
    :param kernel_datapath: whether the kernel has Open vSwitch's datapath.
    :param netem: whether links of the kernel can have delay and loss.
    :param guest: whether there is a User-Mode-Linux kernel, and what loads its modules.
    :param missing: programs that every platform needs and that are not there.
    """

    root: bool
    kernel_datapath: bool
    netem: bool
    guest: bool
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A platform, and in words why it was taken."""

    platform: Platform
    why: str


NO_ROOT = "namespaces of this machine need root (sudo), and a machine or container that lets root make them"
NO_NETEM = "this machine's kernel has no netem, so links would have no delay and no loss"
NO_DATAPATH = "this machine's kernel has no Open vSwitch datapath (module openvswitch)"
NO_GUEST = "there is no User-Mode-Linux kernel, or no modprobe (run scripts/setup.sh guest)"


def choose(asked: str | None, machine: Machine, *, needs_delay: bool = False) -> Choice:
    """The platform asked for if it can be had, else the best of those that can.

    Best: the kernel's datapath with netem; without netem, a guest where delay is needed; then the host's
    userspace datapath, which is the fastest to build; then the guest.

    :raises InvalidInput: if there is no platform of that name.
    :raises Unavailable: if it, or any, cannot be had.
    """
    if machine.missing:
        raise Unavailable(f"the testbed needs {', '.join(machine.missing)}: run scripts/setup.sh")
    names = (AUTO, HOST, *Platform)
    if asked is not None and asked not in names:
        raise InvalidInput.of("platform", f"{asked!r} is none of {', '.join(names)}")
    wanted = _wanted(asked, machine)
    hindered = {platform: _hindrances(platform, machine, needs_delay=needs_delay) for platform in wanted}
    for platform in wanted:
        if not hindered[platform]:
            passed = [f"{other}: {'; '.join(causes)}" for other, causes in hindered.items() if causes]
            return Choice(platform, f"not {'; not '.join(passed)}" if passed else _reason(asked))
    raise Unavailable("; ".join(f"{name}: {'; '.join(causes)}" for name, causes in hindered.items()))


def _reason(asked: str | None) -> str:
    return "it is the best this machine has" if asked in (None, AUTO) else "it was asked for"


def _wanted(asked: str | None, machine: Machine) -> tuple[Platform, ...]:
    """In the order in which they are tried; the host's two share a name."""
    # Asked for by root alone: without, one host's hindrance is the other's, and is said once.
    host = (Platform.HOST_KERNEL, Platform.HOST_USER) if machine.root else (Platform.HOST_USER,)
    if asked in (None, AUTO):
        return (*host, Platform.GUEST)
    return host if asked == HOST else (Platform(asked),)


def _hindrances(platform: Platform, machine: Machine, *, needs_delay: bool) -> list[str]:
    """Why a platform cannot be had; empty if it can."""
    if platform is Platform.GUEST:
        return [] if machine.guest else [NO_GUEST]
    found = [] if machine.root else [NO_ROOT]
    if platform is Platform.HOST_KERNEL and not machine.kernel_datapath:
        found.append(NO_DATAPATH)
    if needs_delay and not machine.netem:
        found.append(NO_NETEM)
    return found
