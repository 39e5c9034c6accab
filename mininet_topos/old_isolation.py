"""Namespaces and a folder that vanish with their owner.

A testbed is a child process in network, PID and mount namespaces of its own (``unshare(1)``)::

    owner (pytest, adon demo) -- setpriv --pdeathsig KILL, then unshare -- program: PID 1 of the testbed

When the owner ends, even by ``kill -9``, the kernel kills ``unshare`` (PR_SET_PDEATHSIG), then the program
(``--kill-child``); with PID 1 every process of the PID namespace dies (pid_namespaces(7)), and with the last
process the network namespaces and all that is in them.  No clean-up code has to run, and none can forget
anything or hit another program's processes.  What is left is a folder of files, locked while it is in use: a
process that does nothing else removes it then, and if that was killed too, whoever takes it next empties it.

The kernel ties a child to the *thread* that started it (prctl(2)): start a testbed from a thread that
outlives it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from adon.errors import Conflict, InvalidInput, Unavailable
from mininet_topos.commands import with_system_programs
from mininet_topos.waiting import POLL_INTERVAL, wait_until

UNSHARE = ("unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc")

# An owner that died before the child asked for its death signal would not be noticed: look once more.
_ONLY_IF_OWNED = 'test "$PPID" = "$1" || exit 1; shift; exec "$@"'

# Its input ends with whoever holds the other end; nothing is ever written to it.  What it has locked must be
# what has the path then: the next owner may have removed that one, and somebody else have made another.
_REMOVE_AFTER_US = """
read -r nothing
exec 9<"$1" && flock --timeout 30 9 && test "$1" -ef /proc/self/fd/9 && rm -rf -- "$1"
test -z "$2" || rmdir -- "$2"
"""

LONGEST_SOCKET = "/ovs/ovs-vswitchd.4194304.ctl"
MAX_SOCKET_PATH = 107
"""``sun_path`` less its final zero (unix(7))."""

STOP_TIMEOUT = 20.0
RELEASE_TIMEOUT = 2.0
START_TIMEOUT = 10.0


def default_folder(name: str) -> Path:
    """Where the run folder of a testbed is: ``NAME`` in :func:`run_folders`.

    :raises InvalidInput: if the name is not a plain word.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,31}", name):
        raise InvalidInput.of("name", f"{name!r} is not a plain word of at most 32 of a-z, 0-9, - and _")
    return run_folders() / name


def run_folders() -> Path:
    """``$XDG_RUNTIME_DIR/adon``; without that ``/run/adon`` for root, for others ``adon-UID`` in ``/tmp``."""
    if "XDG_RUNTIME_DIR" in os.environ:
        return Path(os.environ["XDG_RUNTIME_DIR"]) / "adon"
    return Path("/run/adon") if os.geteuid() == 0 else Path(tempfile.gettempdir()) / f"adon-{os.geteuid()}"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that is ours until its lock is released.

    :param lock: the descriptor that holds the lock; the testbed's first process inherits it, so that the
        folder stays locked until both that process and its owner are gone.
    """

    path: Path
    lock: int


@contextmanager
def run_folder(path: Path) -> Iterator[RunFolder]:
    """Lock and empty a folder (making it if need be); remove it at the end.

    :func:`run_folders` is removed too, if nothing else is in it.

    :raises Conflict: if a living testbed has it.
    :raises InvalidInput: if its path is too long for the sockets in it.
    """
    path = path.absolute()
    if len(f"{path}{LONGEST_SOCKET}") > MAX_SOCKET_PATH:
        raise InvalidInput.of(
            "run folder", f"{path} is too long for the names of sockets in it", "wrong-length"
        )
    lock = _locked(path)
    try:
        with _removed_if_left(path, lock):
            try:
                _empty(path)
                yield RunFolder(path, lock)
            finally:
                wait_until(lambda: _gone(path, lock), RELEASE_TIMEOUT)
    finally:
        os.close(lock)
        if path.parent == run_folders():
            with suppress(OSError):  # somebody else's is in it, or was and has removed it
                path.parent.rmdir()


def _gone(path: Path, lock: int) -> bool:
    """Remove our folder; what ends in this moment may still have put something there: not gone then.

    Once it is gone, another of its path is somebody else's.
    """
    if _has_path_now(lock, path):
        shutil.rmtree(path, ignore_errors=True)
    return not _has_path_now(lock, path)


@contextmanager
def _removed_if_left(path: Path, lock: int) -> Iterator[None]:
    """A process that removes the folder if we do not: killed, or interrupted while we do.

    Not before everybody has released its lock, and not if somebody else has it by then.
    """
    shared = path.parent if path.parent == run_folders() else ""
    argv = ["sh", "-c", _REMOVE_AFTER_US, "sh", str(path), str(shared)]
    silent = subprocess.DEVNULL
    # A session of its own: what a terminal sends to all of us is not for it.
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=silent, stderr=silent, cwd="/", start_new_session=True
    )
    assert process.stdin is not None  # noqa: S101 - it was asked for
    with process.stdin:
        try:
            yield
        finally:
            if not _has_path_now(lock, path):
                process.kill()
                process.wait()


def _locked(path: Path) -> int:
    """The locked descriptor of the folder that has this path *now*.

    Its last owner removes the folder before releasing the lock, so the one opened may be gone by the time
    the lock is granted: then the next one is taken.  So is it if the folder, or the one it is in, is removed
    by its last owner while it is made here.  A testbed that was killed a moment ago is waited for.
    """
    deadline = time.monotonic() + RELEASE_TIMEOUT
    while True:
        try:
            _make(path)
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError as error:
            if time.monotonic() >= deadline:
                raise _cannot_be_made(path, error) from error
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            if time.monotonic() >= deadline:
                raise Conflict("run folder", f"a testbed is running in {path}") from None
            time.sleep(POLL_INTERVAL)
            continue
        if _has_path_now(lock, path):
            return lock
        os.close(lock)


def _has_path_now(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _make(path: Path) -> None:
    """The folder, and the one it is in: nobody else may put anything there.

    :raises InvalidInput: if it cannot be made, or somebody else could.
    :raises FileNotFoundError: if somebody removes one of them meanwhile.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.mkdir(exist_ok=True, mode=0o700)
        owner = path.parent.lstat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _cannot_be_made(path, error) from error
    if owner.st_uid not in (0, os.geteuid()):
        raise InvalidInput.of("run folder", f"{path.parent} belongs to somebody else")


def _cannot_be_made(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput.of("run folder", f"{path}: {error.strerror}")


def _empty(path: Path) -> None:
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def require_isolation() -> None:
    """Refuse early, in words, what would fail half-way.

    :raises Unavailable: if this process may not make namespaces, or the tools are missing.
    """
    if os.geteuid() != 0:
        raise Unavailable("the testbed needs root: it makes network namespaces and interfaces of its own")
    missing = [tool for tool in ("unshare", "setpriv") if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"the testbed needs {' and '.join(missing)} (Debian package util-linux)")


@contextmanager
def run_isolated(
    argv: Sequence[str],
    folder: RunFolder,
    *,
    environment: Mapping[str, str] | None = None,
    pass_fds: Iterable[int] = (),
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program as the first process of a testbed; it is gone when the context ends.

    The program must handle SIGTERM itself (the first process of a PID namespace gets no default action).
    It finds the system's programs, even where a user's PATH lacks their folders.  Its PID as seen from
    outside is written to ``pid`` in the run folder, for ``nsenter``.

    :raises Unavailable: as :func:`require_isolation`, or if the kernel refuses the namespaces.
    """
    require_isolation()
    owned = ("sh", "-c", _ONLY_IF_OWNED, "sh", str(os.getpid()))
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *owned, *UNSHARE, "--", *argv],
        env=with_system_programs(environment),
        pass_fds=(folder.lock, *pass_fds),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
    )
    try:
        _write_pid(process, folder.path / "pid")
        yield process
    finally:
        stop(process)


def first_process(process: subprocess.Popen[bytes]) -> int | None:
    """PID, seen from outside, of the program that ``unshare`` runs; None if it has ended or not begun."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        listed = children.read_text().split()
    except OSError:
        return None
    return int(listed[0]) if listed else None


def _handles_sigterm(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM (``SigCgt`` of proc_pid_status(5))."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def stop(process: subprocess.Popen[bytes], timeout: float = STOP_TIMEOUT) -> None:
    """End a testbed: ask its first process, and after ``timeout`` seconds let the kernel do it.

    One that does not handle SIGTERM yet has nothing to say good-bye to and would never get it: the kernel
    does it at once, with all that was built by then.
    """
    inner = first_process(process)
    if process.poll() is None and inner is not None and _handles_sigterm(inner):
        with suppress(ProcessLookupError):  # it has ended by itself meanwhile
            os.kill(inner, signal.SIGTERM)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
    elif process.poll() is None:
        process.kill()
    process.wait()


def _write_pid(process: subprocess.Popen[bytes], path: Path) -> None:
    def begun_or_ended() -> bool:
        return first_process(process) is not None or process.poll() is not None

    wait_until(begun_or_ended, START_TIMEOUT)
    inner = first_process(process)
    if inner is not None:
        path.write_text(f"{inner}\n")
