"""``python -m mininet_topos.old_guest.client --folder F [HOST] -- PROGRAM...``: run one in a guest's host.

Standard input, output and error, the exit status and signals are as if it ran here.  With a terminal on
standard input and output (``--terminal``) it gets one, of the same size.  It imports
little, to start quickly.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator, Sequence

from mininet_topos.old_guest.messages import MOST, Kind, Start, Wire, size, status_of, taken_of

SOCKET = "programs"
EXIT_REFUSED = 127
"""As shells have it for what cannot be run."""
_PASSED_ON = ("PYTHONPATH", "TERM", "COLORTERM", "LANG", "LC_ALL", "PS1")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """The program's exit status; if a signal ended it, this process ends by the same."""
    folder, host, argv, terminal = _read(sys.argv[1:] if arguments is None else arguments)
    try:
        code = run(folder, host, argv, terminal=terminal)
    except OSError as error:
        sys.stderr.write(f"the testbed in {folder} does not answer: {error}\n")
        return EXIT_REFUSED
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_REFUSED
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL's cannot be anything else
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _read(words: Sequence[str]) -> tuple[str, str | None, list[str], bool]:
    """The command line; argparse alone would take as long to import as all else."""
    end = words.index("--") if "--" in words else len(words)
    mine, argv = words[:end], list(words[end + 1 :])
    terminal = "--terminal" in mine
    rest = [word for word in mine if word != "--terminal"]
    if len(rest) not in (2, 3) or rest[0] != "--folder" or not argv:
        raise SystemExit(__doc__)
    return rest[1], rest[2] if len(rest) == 3 else None, argv, terminal


def run(folder: str, host: str | None, argv: list[str], *, terminal: bool = False) -> int:
    """Run it; its exit status, or minus the signal that ended it.

    :param terminal: whether it gets a terminal, of the size that ours has.
    :raises OSError: if the guest does not answer, or is gone before the program has ended.
    :raises ValueError: if the command line is too long for it.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    start = Start(argv, host, _folder(), environment, _size() if terminal else None).packed()
    with (
        socket.socket(socket.AF_UNIX) as sock,
        _signals(terminal=terminal) as signals,
        _raw(terminal=terminal),
    ):
        sock.connect(f"{folder}/{SOCKET}")
        wire = Wire(sock)
        wire.say(Kind.START, start)
        return _carry(wire, signals)


def _carry(wire: Wire, signals: int) -> int:
    reading, not_taken = True, 0
    while True:
        poll = select.poll()
        poll.register(wire, select.POLLIN | (select.POLLOUT if wire.waiting else 0))
        poll.register(signals, select.POLLIN)
        if reading and not_taken < MOST:
            poll.register(0, select.POLLIN)
        for descriptor, events in poll.poll():
            if descriptor == 0:
                said = _say_input(wire)
                reading, not_taken = said > 0, not_taken + said
            elif descriptor == signals:
                _say_signals(wire, os.read(signals, 64))
            else:
                if events & select.POLLOUT:
                    wire.flush()
                if events & ~select.POLLOUT:
                    code, taken = _hear(wire)
                    if code is not None:
                        return code
                    not_taken -= taken


def _say_input(wire: Wire) -> int:
    """How many bytes there were; 0 at the end."""
    come = os.read(0, MOST // 2)
    wire.say(Kind.INPUT if come else Kind.INPUT_END, come)
    return len(come)


def _say_signals(wire: Wire, numbers: bytes) -> None:
    for number in numbers:
        if number == signal.SIGWINCH:
            wire.say(Kind.SIZE, size(*_size()))
        else:
            wire.say(Kind.SIGNAL, bytes([number]))


def _hear(wire: Wire) -> tuple[int | None, int]:
    """The exit status, when it is said, and how many bytes of input were taken."""
    messages = wire.take()
    if messages is None:
        raise ConnectionResetError("it is gone")
    taken = 0
    for kind, data in messages:
        match kind:
            case Kind.ENDED:
                return status_of(data), taken
            case Kind.REFUSED:
                _write(2, data + b"\n")
                return EXIT_REFUSED, taken
            case Kind.TAKEN:
                taken += taken_of(data)
            case _:
                _write(1 if kind is Kind.OUTPUT else 2, data)
    return None, taken


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:  # nobody reads it: we end as a program here would, and so does the other
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - cheap
    except FileNotFoundError:  # somebody has removed it
        return "/"


def _size() -> tuple[int, int]:
    try:
        columns, rows = os.get_terminal_size(0)
    except OSError:
        return 24, 80
    return rows, columns


@contextlib.contextmanager
def _signals(*, terminal: bool) -> Iterator[int]:
    """A descriptor on which the numbers of signals come."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in (*_SIGNALS, *((signal.SIGWINCH,) if terminal else ())):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(-1)
        os.close(reader)
        os.close(writer)


@contextlib.contextmanager
def _raw(*, terminal: bool) -> Iterator[None]:
    """Our terminal passes on every key, Ctrl-C too; as it was at the end."""
    if not terminal:
        yield
        return
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    sys.exit(main())
