"""Hosts as network namespaces of this kernel: made, entered, set up, and gone again.

Each is held by a shell under Mininet's ``mnexec``, as in Mininet, so that ``mnexec -a PID`` enters it; it
reads a pipe of ours and ends with us.  To set a host up a thread of ours goes there for a moment (setns(2)):
no program needs to be started to write a setting.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import re
import socket
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from mininet_topos import commands

STOP_TIMEOUT = 5.0
ANY_KIND = 0
"""setns(2): whatever namespace the descriptor is of."""
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17
"""linux/sockios.h, linux/ethtool.h: what ``ethtool -K INTERFACE tx off`` asks for."""
_SETTINGS = Path("/proc/sys")
_FAILED_LINE = re.compile(r"Command failed -:(\d+)")


@dataclass(frozen=True, slots=True)
class Inside:
    """One host or router of a running testbed: a network namespace to run programs in.

    :param pid: of its shell, in the testbed's PID namespace (``mnexec -a PID`` enters it).
    """

    name: str
    pid: int

    def popen(self, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program there; ``options`` as for :class:`subprocess.Popen`.

        It has a session of its own, so a Ctrl-C reaches it only through whoever started it.
        """
        return subprocess.Popen(["mnexec", "-a", str(self.pid), *argv], start_new_session=True, **options)

    def run(self, *argv: str, timeout: float = commands.TIMEOUT) -> str:
        """Run a program there and return what it prints.

        :raises Unavailable: if it fails, with its own words.
        """
        told = f"{self.name}: {commands.beginning(argv)}"
        return commands.output(["mnexec", "-a", str(self.pid), *argv], told=told, timeout=timeout)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread is in its network in the context, and so is what the thread starts.

        Its other namespaces are ours: ``/proc/sys/net`` shows the host's settings, ``/sys`` ours.
        """
        with _namespace("thread-self", "net") as ours:
            with _namespace(str(self.pid), "net") as theirs:
                _set_namespace(theirs)
            try:
                yield
            finally:
                _set_namespace(ours)

    def move_there(self) -> None:
        """This process is there from now on, as under ``mnexec -a``; it must have one thread (setns(2))."""
        folder = Path.cwd()
        for kind in ("net", "mnt"):
            with _namespace(str(self.pid), kind) as theirs:
                _set_namespace(theirs)
        os.chdir(folder)


@contextmanager
def _namespace(process: str, kind: str) -> Iterator[int]:
    descriptor = os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _set_namespace(descriptor: int) -> None:
    # os.setns is of Python 3.12.
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, ANY_KIND) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def hosts(names: Sequence[str]) -> Iterator[dict[str, Inside]]:
    """New empty network namespaces by name; they are gone when the context ends.

    :raises Unavailable: if they cannot be had, with ``mnexec``'s words.
    """
    waiting, until_closed = os.pipe()
    shells = list[subprocess.Popen[bytes]]()
    try:
        try:
            shells += (_shell(name, waiting) for name in names)
        finally:
            os.close(waiting)
        for name, shell in zip(names, shells, strict=True):
            _await_namespace(name, shell)
        yield {name: Inside(name, shell.pid) for name, shell in zip(names, shells, strict=True)}
    finally:
        os.close(until_closed)
        for shell in shells:
            _await_end(shell)


def _shell(name: str, stdin: int) -> subprocess.Popen[bytes]:
    # -n: in a network namespace of its own; -p: says its PID when that is there.  The shell reads no command.
    argv = ["mnexec", "-n", "-p", "sh", "-s", f"mininet:{name}"]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(argv, stdin=stdin, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise Unavailable(f"{error} (Debian package mininet; run scripts/setup.sh)") from error


def _await_namespace(name: str, shell: subprocess.Popen[bytes]) -> None:
    assert shell.stdout is not None  # noqa: S101 - both were asked for
    assert shell.stderr is not None  # noqa: S101
    with shell.stdout as stdout, shell.stderr as stderr:
        if not stdout.readline():
            words = stderr.read().decode(errors="replace").strip()
            raise Unavailable(f"{name}: no network namespace: {words}")


def _await_end(shell: subprocess.Popen[bytes]) -> None:
    try:
        shell.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:  # somebody stopped it, and its pipe's end went unread
        shell.kill()
        shell.wait()


def write_settings(settings: Mapping[str, str]) -> None:
    """Write settings of the network namespace that this thread is in, by name below ``/proc/sys``.

    :raises Unavailable: if the kernel refuses one.
    """
    for name, value in settings.items():
        try:
            (_SETTINGS / name).write_text(value)
        except OSError as error:
            raise Unavailable(f"{name} = {value}: {error}") from error


def without_checksum_offload(interfaces: Iterable[str]) -> None:
    """As ``ethtool -K INTERFACE tx off`` for interfaces of the namespace that this thread is in.

    A userspace datapath passes frames on as it gets them: with offload, without checksums.
    """
    off = array.array("I", [ETHTOOL_STXCSUM, 0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for interface in interfaces:
            request = struct.pack("16sP", interface.encode(), off.buffer_info()[0])
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def batch(tool: str, lines: Iterable[str]) -> None:
    """Have ``ip`` or ``tc`` do this in the namespace that this thread is in; nothing if there are no lines.

    :raises Unavailable: if one fails, with that line and the tool's words.
    """
    asked = tuple(lines)
    if not asked:
        return
    try:
        commands.output([tool, "-batch", "-"], "".join(f"{line}\n" for line in asked))
    except Unavailable as error:
        failed = _FAILED_LINE.search(str(error))
        which = f" ({asked[int(failed[1]) - 1]})" if failed else ""
        raise Unavailable(f"{error}{which}") from error
