"""Run one program in a User-Mode-Linux guest: a kernel with netem that is an ordinary process.

The guest sees the host's files read-only and writes to one shared folder.  It has the rights of the caller,
whatever its own root may do.  The first console of the guest is joined to the caller's standard input and
output.  When the caller ends, even by ``kill -9``, so does the guest (:mod:`mininet_topos.guest_keeper`).
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import guest_keeper

PACKAGES = Path(__file__).parents[1]
"""The folder that holds ADON's packages."""
PLACES = (PACKAGES / ".uml/usr", Path("/usr"))
"""Where Debian's package ``user-mode-linux`` is unpacked by ``scripts/setup.sh guest``, or installed."""
REGISTERS = PACKAGES / ".uml/guest_registers.so"
"""What the kernel needs on a processor with AMX (``guest_registers.c``)."""
INIT = Path(__file__).with_name("guest_init.sh")
MEMORY = "2G"
VARIABLES = ("TERM", "LANG", "LC_ALL", "PYTHONPATH")
"""Names of the caller's environment variables that the program gets."""
STATUS, CONSOLE, PROGRAM = "status", "console", "program"
"""Files of the control folder."""
READY, _INTERRUPT, _END_OF_INPUT = b"\0", b"\x03", b"\x04"


def find_kernel() -> Path | None:
    """Return the first kernel in :data:`PLACES`; None if there is none for this processor."""
    if _has_amx() and not REGISTERS.exists():
        return None
    images = (place / "bin/linux.uml" for place in PLACES)
    return next((image for image in images if image.exists() and _list_modules(image)), None)


def _list_modules(image: Path) -> list[Path]:
    """Return the folders of a kernel's modules by version."""
    return sorted((image.parents[1] / "lib/uml/modules").glob("*.*"))


def _has_amx() -> bool:
    return " amx_tile " in Path("/proc/cpuinfo").read_text()


def is_guest() -> bool:
    """Return whether this process runs in a guest."""
    return "User Mode Linux" in Path("/proc/cpuinfo").read_text()


def run_in_guest(argv: Sequence[str], control: Path, shared: Path) -> int:
    """Boot a guest, run one program in it, and return its exit status.

    A Ctrl-C reaches the program as in a terminal of its own.

    :param control: empty folder for files of the guest itself.
    :param shared: folder that the program can write, under the same path.
    :raises Unavailable: if the guest ends before its program.
    """
    kernel = find_kernel()
    assert kernel is not None  # noqa: S101 - the platform was chosen because it has a kernel
    (control / PROGRAM).write_text(_script(argv))
    ours, theirs = socket.socketpair()
    with ours, _terminal() as size:
        with theirs, theirs.dup() as again:
            # Two descriptors: with one, the kernel stops reading after a write that had to wait.
            line = (theirs.fileno(), again.fileno())
            process = _start_keeper(_command_line(kernel, control, shared, line, size), line, control)
        # The guest resets the line when it ends.  The context closes the keeper's input and waits for it.
        with handle_signals(lambda *_: ours.send(_INTERRUPT)), process, suppress(ConnectionResetError):
            _join(ours)
    return _status(control)


def _script(argv: Sequence[str]) -> str:
    """Return the program of the guest, as a shell script."""
    kept = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    return f"cd {shlex.quote(str(Path.cwd()))}\nexec {shlex.join(['env', *kept, *argv])}\n"


def _command_line(kernel: Path, control: Path, shared: Path, line: tuple[int, int], size: str) -> list[str]:
    preload = ["env", f"LD_PRELOAD={REGISTERS}"] if _has_amx() else []
    return [
        *preload,
        str(kernel),
        f"mem={MEMORY}",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "init=/bin/sh"),
        *("con=null", "con0=null,fd:1", f"con1=fd:{line[0]},fd:{line[1]}"),
        f"ADON_VISIBLE={PACKAGES}:{Path.cwd()}",
        f"ADON_WRITABLE={shared}",
        f"ADON_CONTROL={control}",
        f"ADON_MODULES={_list_modules(kernel)[-1]}",
        f"ADON_TERMINAL={size}",
        *("quiet", "--", str(INIT)),
    ]


def _start_keeper(argv: Sequence[str], line: tuple[int, int], control: Path) -> subprocess.Popen[bytes]:
    # -I -S: it needs nothing but the standard library, and so starts sooner.
    command = [sys.executable, "-I", "-S", str(guest_keeper.__file__), *argv]
    with (control / CONSOLE).open("wb") as console:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=console,
            stderr=subprocess.STDOUT,
            pass_fds=line,
            start_new_session=True,
        )


@contextmanager
def _terminal() -> Iterator[str]:
    """Set the terminal to raw mode; yield its size as ``ROWSxCOLUMNS``, empty without a terminal."""
    if not (os.isatty(0) and os.isatty(1)):
        yield ""
        return
    before = termios.tcgetattr(0)
    columns, rows = os.get_terminal_size(1)
    try:
        tty.setraw(0)
        yield f"{rows}x{columns}"
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


@contextmanager
def handle_signals(interrupt: Callable[..., object]) -> Iterator[None]:
    """Handle SIGINT by ``interrupt``; SIGTERM and SIGHUP raise SystemExit, until the context ends."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: end, signal.SIGHUP: end}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _join(line: socket.socket) -> None:
    """Copy standard input to the guest's console, and the console to standard output, until the guest ends.

    The guest first sends :data:`READY`: input that a console gets before is lost.
    """
    line.recv(len(READY))
    watched = [line.fileno(), 0]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if 0 in ready:
            typed = os.read(0, 256)
            if not typed:
                watched.remove(0)
            line.sendall(typed or _END_OF_INPUT)
        if line.fileno() in ready:
            received = line.recv(1 << 16)
            if not received:
                return
            while received:
                received = received[os.write(1, received) :]


def _status(control: Path) -> int:
    try:
        return int((control / STATUS).read_text())
    except (OSError, ValueError):
        said = (control / CONSOLE).read_text(errors="replace").splitlines()[-5:]
        raise Unavailable(f"the guest ended before its program: {' | '.join(said)}") from None
