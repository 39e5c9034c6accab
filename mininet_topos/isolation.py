"""Run a program in its own namespaces or in a User-Mode-Linux guest, as this machine permits.

A testbed is built by a program that runs inside.  On the host that program is the first process of its own
network, PID and mount namespaces::

    caller (adon testbed run) -- setpriv --pdeathsig KILL, then unshare --kill-child -- program: PID 1

When the caller ends, even by ``kill -9``, the kernel kills ``unshare`` (PR_SET_PDEATHSIG) and with it PID 1.
With PID 1 every process of the PID namespace ends (pid_namespaces(7)), and with the last process the network
namespaces and their interfaces.  Only a folder of files can remain; the next start removes it.

The kernel ties a child to the *thread* that started it (prctl(2)): call
:func:`run_isolated` in the main thread.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from adon.errors import Conflict, InvalidInput, Unavailable
from mininet_topos.commands import wait_until, with_system_programs
from mininet_topos.guest import find_kernel, handle_signals, run_in_guest

FOLDER = "ADON_TESTBED_FOLDER"
"""Environment variable inside: the folder for sockets and logs of the testbed."""
WEB_SOCKET = "ADON_WEB_SOCKET"
"""Environment variable inside: descriptor of a listening socket of the host, for the dashboard."""
PREFIX = "testbed"
"""First part of the name of a folder; the second part is the PID of its owner, which runs the program."""
LONGEST_NAME = f"/{PREFIX}-4194304-12345678/ovs/ovs-vswitchd.4194304.ctl"
MAX_SOCKET_PATH = 107
"""``sun_path`` without its final zero (unix(7))."""
_UNSHARE = ("unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "--")
# A caller that died before its child asked for the death signal goes unnoticed: compare the parent once more.
_ONLY_IF_OWNED = 'test "$PPID" = "$1" || exit 1; shift; exec "$@"'


def folder_inside() -> Path:
    """Return the folder of the testbed that this process may build.

    :raises Conflict: if this process was not started by :func:`run_isolated`.
    """
    if FOLDER not in os.environ:
        raise Conflict("testbed", "this process is not isolated; start it with run_isolated")
    return Path(os.environ[FOLDER])


def run_isolated(argv: Sequence[str], platform: Platform, *, shared: Path) -> int:
    """Run a program isolated from this machine and return its exit status (128 + N after signal N).

    It has the caller's standard input, output and error.  A Ctrl-C in a terminal reaches the program; SIGTERM
    ends the caller, the program and everything that it started.

    :param shared: folder in which the program can write, under the same path, on both platforms.
    :raises Unavailable: if the guest's kernel does not start.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder())
        if platform is Platform.GUEST:
            return run_in_guest(argv, folder, shared)
        web = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=128))
        owned = ("sh", "-c", _ONLY_IF_OWNED, "sh", str(os.getpid()))
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *owned, *_UNSHARE, *argv],
            env=with_system_programs() | {FOLDER: str(folder), WEB_SOCKET: str(web.fileno())},
            pass_fds=[web.fileno()],
        )
        # A Ctrl-C is for the program, which gets it from the terminal too.
        with process, handle_signals(lambda *_: None):
            try:
                status = process.wait()
            finally:
                process.kill()
        return status if status >= 0 else 128 - status


@contextmanager
def run_folder() -> Iterator[Path]:
    """Make a folder for one testbed and remove it at the end; remove folders of owners that were killed."""
    parent = run_folders()
    _check_parent(parent)
    for other in {*parent.glob(f"{PREFIX}-*")} - {*running_folders()}:
        shutil.rmtree(other, ignore_errors=True)
    path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-", dir=parent))
    try:
        yield path
    finally:
        # Processes that are about to end may still write to it.
        wait_until(lambda: _remove(path), 5.0)


def _remove(path: Path) -> bool:
    """Remove a folder as far as possible; return whether it is gone."""
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def run_folders() -> Path:
    """Return ``$XDG_RUNTIME_DIR/adon``; without it ``/run/adon`` for root, else ``/tmp/adon-UID``."""
    if "XDG_RUNTIME_DIR" in os.environ:
        return Path(os.environ["XDG_RUNTIME_DIR"]) / "adon"
    return Path("/run/adon") if os.geteuid() == 0 else Path(tempfile.gettempdir()) / f"adon-{os.geteuid()}"


def running_folders() -> list[Path]:
    """Return the folders of testbeds that run."""
    folders = run_folders().glob(f"{PREFIX}-*")
    return sorted(folder for folder in folders if Path("/proc", _owner(folder)).exists())


def first_process(folder: Path) -> str:
    """Return the PID, as seen from outside, of the program that has this folder on the host."""
    unshare = _first_child(_owner(folder))
    return _first_child(unshare)


def _check_parent(parent: Path) -> None:
    """Create the parent of run folders, or refuse it if it does not fit."""
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        owner = parent.lstat().st_uid  # of a link: its own
    except OSError as error:
        raise InvalidInput.of("run folder", f"{parent}: {error.strerror}") from error
    if owner not in (0, os.geteuid()):
        raise InvalidInput.of("run folder", f"{parent} belongs to another user")
    if len(f"{parent}{LONGEST_NAME}") > MAX_SOCKET_PATH:
        raise InvalidInput.of("run folder", f"{parent} is too long for sockets below it", "wrong-length")


def _owner(folder: Path) -> str:
    return folder.name.split("-")[1]


def _first_child(process: str) -> str:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()[0]


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
ROOT, NETEM, GUEST_KERNEL = "root", "netem", "guest"
"""Other requirements: rights, emulation of delay and loss, a User-Mode-Linux kernel with ``modprobe``."""
_INSTALL = "not installed; install the Debian package {}, or run scripts/setup.sh"
REMEDIES = {
    ROOT: "network namespaces of this machine need root; run with sudo, or use --platform guest",
    NETEM: "this kernel cannot emulate delay and loss; load the module sch_netem, or use --platform guest",
    GUEST_KERNEL: "no User-Mode-Linux kernel for this processor, or no modprobe; run scripts/setup.sh guest",
    **{program: _INSTALL.format(package) for program, package in PROGRAMS.items()},
}


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


def choose_platform(
    wanted: str | None, *, needs_netem: bool, machine: Set[str] | None = None
) -> PlatformChoice:
    """Choose the host if this process is root and netem is there or not needed, else the guest.

    :param wanted: ``host``, ``guest``, or None for either.
    :param needs_netem: whether the network has delays or losses that must be emulated.
    :param machine: requirements that are met, of :data:`REMEDIES`; None for those of this machine.
    :raises InvalidInput: if there is no platform of that name.
    :raises Unavailable: if none can be used; names what is missing, with the remedy.
    """
    if wanted not in (None, *Platform):
        raise InvalidInput.of("platform", f"{wanted!r} is unknown; expected one of {', '.join(Platform)}")
    met = inspect_machine() if machine is None else machine
    rights = (ROOT, NETEM) if needs_netem else (ROOT,)
    needs = {Platform.HOST: (*PROGRAMS, *rights), Platform.GUEST: (*PROGRAMS, GUEST_KERNEL)}
    obstacles: dict[str, str] = {}
    for platform in Platform if wanted is None else (Platform(wanted),):
        missing = {name: f"{name}: {REMEDIES[name]}" for name in needs[platform] if name not in met}
        if not missing:
            reason = "; ".join(obstacles.values()) or "this machine has everything it needs"
            return PlatformChoice(platform, reason)
        obstacles |= missing
    raise Unavailable("\n".join(obstacles.values()), code="missing-requirement")


def inspect_machine() -> frozenset[str]:
    """Return the requirements that this machine meets; without root netem is not known and not missed."""
    met = {program for program in PROGRAMS if _is_installed(program)}
    is_root = os.geteuid() == 0 and _succeeds_unshared("true")
    if is_root:
        met.add(ROOT)
    if not is_root or _succeeds_unshared("tc qdisc add dev lo root netem delay 1ms"):
        met.add(NETEM)
    if _is_installed("modprobe") and find_kernel() is not None:
        met.add(GUEST_KERNEL)
    return frozenset(met)


def _is_installed(program: str) -> bool:
    return shutil.which(program, path=with_system_programs()["PATH"]) is not None


def _succeeds_unshared(script: str) -> bool:
    """Return whether a script succeeds in a network namespace of its own."""
    argv = ["sh", "-c", 'unshare --net sh -c "$1"', "sh", script]
    return subprocess.run(argv, env=with_system_programs(), capture_output=True, check=False).returncode == 0
