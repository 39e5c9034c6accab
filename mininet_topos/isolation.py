"""Run a program in namespaces of its own, or in a User-Mode-Linux guest.

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

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adon.errors import Conflict, InvalidInput
from mininet_topos.commands import with_system_programs
from mininet_topos.guest import run_in_guest
from mininet_topos.platforms import Platform
from mininet_topos.waiting import wait_until

FOLDER = "ADON_TESTBED_FOLDER"
"""Environment variable inside: the folder for sockets and logs of the testbed."""
WEB_SOCKET = "ADON_WEB_SOCKET"
"""Environment variable inside: descriptor of a listening socket of the machine, for the dashboard."""
PID = "pid"
"""File in the folder: the PID of the program inside, as seen from outside."""
LONGEST_NAME = "/testbed-12345678/ovs/ovs-vswitchd.4194304.ctl"
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


def run_isolated(
    argv: Sequence[str], platform: Platform, *, shared: Path, web: socket.socket | None = None
) -> int:
    """Run a program isolated from this machine and return its exit status (128 + N after signal N).

    It has the caller's standard input, output and error.  A Ctrl-C in a terminal reaches the program; SIGTERM
    of the caller ends the program and everything that it started.

    :param shared: folder in which the program can write, under the same path, on both platforms.
    :param web: listening socket that the program inherits (:data:`WEB_SOCKET`); host platform only.
    :raises Unavailable: if the guest's kernel is missing or does not start.
    """
    with run_folder() as folder:
        if platform is Platform.GUEST:
            return run_in_guest(argv, folder, shared)
        descriptors = () if web is None else (web.fileno(),)
        environment = with_system_programs() | {FOLDER: str(folder)}
        if web is not None:
            environment[WEB_SOCKET] = str(web.fileno())
        owned = ("sh", "-c", _ONLY_IF_OWNED, "sh", str(os.getpid()))
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *owned, *_UNSHARE, *argv],
            env=environment,
            pass_fds=descriptors,
        )
        with _signals_of_caller(process):
            _write_first_process(process, folder)
            status = process.wait()
        return status if status >= 0 else 128 - status


@contextmanager
def run_folder() -> Iterator[Path]:
    """Make a folder for one testbed and remove it at the end; remove folders of owners that were killed.

    :raises InvalidInput: if the folder cannot be made, or its path is too long for the sockets in it.
    """
    parent = run_folders()
    with _locked_parent(parent):
        for other in parent.iterdir():
            _remove_if_unowned(other)
        path = Path(tempfile.mkdtemp(prefix="testbed-", dir=parent))
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)  # not inherited: it ends with this process
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def run_folders() -> Path:
    """Return ``$XDG_RUNTIME_DIR/adon``; without it ``/run/adon`` for root, else ``/tmp/adon-UID``."""
    if "XDG_RUNTIME_DIR" in os.environ:
        return Path(os.environ["XDG_RUNTIME_DIR"]) / "adon"
    return Path("/run/adon") if os.geteuid() == 0 else Path(tempfile.gettempdir()) / f"adon-{os.geteuid()}"


def running_folders() -> list[Path]:
    """Return the folders of testbeds that run, each with its file :data:`PID`."""
    parent = run_folders()
    return sorted(path.parent for path in parent.glob(f"*/{PID}") if _is_owned(path.parent))


@contextmanager
def _signals_of_caller(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """SIGINT is for the program, which gets it from the terminal too; SIGTERM and SIGHUP end everything."""
    handlers = {
        signal.SIGINT: lambda *_: None,
        signal.SIGTERM: lambda *_: process.kill(),
        signal.SIGHUP: lambda *_: process.kill(),
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write_first_process(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Write the PID of the program that ``unshare`` runs, for ``nsenter``."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def has_child_or_ended() -> bool:
        return process.poll() is not None or children.read_text().strip() != ""

    wait_until(has_child_or_ended, 10.0, 0.005)
    if process.poll() is None and (found := children.read_text().split()):
        (folder / PID).write_text(f"{found[0]}\n")


@contextmanager
def _locked_parent(parent: Path) -> Iterator[None]:
    """Hold the lock under which folders are made and removed: a new folder is not owned for a moment."""
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise InvalidInput.of("run folder", f"{parent}: {error.strerror}") from error
    try:
        if os.fstat(lock).st_uid not in (0, os.geteuid()):
            raise InvalidInput.of("run folder", f"{parent} belongs to another user")
        if len(f"{parent}{LONGEST_NAME}") > MAX_SOCKET_PATH:
            raise InvalidInput.of("run folder", f"{parent} is too long for sockets below it", "wrong-length")
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _remove_if_unowned(path: Path) -> None:
    if not _is_owned(path):
        _remove(path)


def _is_owned(path: Path) -> bool:
    """Whether the process that made the folder runs: it holds a lock until it ends."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # not a folder of ours, or removed by its owner at this moment
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _remove(path: Path) -> None:
    """Remove a folder in which processes that end just now may still write."""

    def gone() -> bool:
        shutil.rmtree(path, ignore_errors=True)
        return not path.exists()

    wait_until(gone, 5.0)
