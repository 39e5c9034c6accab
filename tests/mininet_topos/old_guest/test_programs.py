"""Programs run for a client, both on this machine: what comes through, and how it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mininet_topos.old_guest import client, programs
from mininet_topos.waiting import wait_until

pytestmark = pytest.mark.integration
PATIENCE = 20.0


def command(argv: list[str], host: str | None) -> list[str]:
    # What a shell starts in the background ignores SIGINT, and so would all that comes of it.
    return {None: argv, "here": ["env", "--default-signal=INT", "WHERE=here", *argv]}[host]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A run folder in which programs are run."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / client.SOCKET))
        listener.listen()
        threading.Thread(target=programs.serve, args=(listener, command), daemon=True).start()
        yield tmp_path
        listener.shutdown(socket.SHUT_RDWR)


def argv(folder: Path, *words: str, host: str = "here", terminal: bool = False) -> list[str]:
    mine = [sys.executable, "-m", client.__name__, *(["--terminal"] if terminal else [])]
    return [*mine, "--folder", str(folder), *([host] if host else []), "--", *words]


def run(folder: Path, *words: str, given: bytes = b"", host: str = "here") -> tuple[int, bytes, bytes]:
    done = subprocess.run(argv(folder, *words, host=host), input=given, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def shell(folder: Path, script: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    return run(folder, "sh", "-c", script, given=given)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo out; echo err >&2; exit 7", (7, b"out\n", b"err\n")),
        ("echo $WHERE", (0, b"here\n", b"")),
        ("kill -TERM $$", (-15, b"", b"")),
        ("kill -KILL $$", (-9, b"", b"")),
        ("cat; echo end", (0, b"end\n", b"")),
        # What it leaves behind holds its output open, and does not hold us up.
        ("sleep 30 & echo gone", (0, b"gone\n", b"")),
        ("exec <&-; sleep 0.2; echo deaf", (0, b"deaf\n", b"")),
    ],
)
def test_output_and_status(folder: Path, script: str, expected: tuple[int, bytes, bytes]) -> None:
    assert shell(folder, script) == expected


@pytest.mark.parametrize("length", [1, 70_000, 2_000_000])
def test_what_it_is_given_comes_back(folder: Path, length: int) -> None:
    whole = os.urandom(length)
    assert run(folder, "cat", given=whole) == (0, whole, b"")


def test_what_cannot_be_run(folder: Path, tmp_path: Path) -> None:
    code, _, said = run(folder, "true", host="moon")
    assert (code, said) == (client.EXIT_REFUSED, b"there is no host moon\n")
    assert run(folder, "no-such-program")[0] == 127
    code, _, said = run(tmp_path / "nowhere", "true")
    assert code == client.EXIT_REFUSED
    assert b"does not answer" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_for_the_program(folder: Path, number: int) -> None:
    traps = 'trap "echo interrupted; exit 3" INT; trap "echo ended; exit 4" TERM'
    script = f"{traps}; echo ready; while :; do sleep 0.1; done"
    with subprocess.Popen(argv(folder, "sh", "-c", script), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        rest = process.stdout.read()
        expected = {signal.SIGINT: (3, b"interrupted\n"), signal.SIGTERM: (4, b"ended\n")}
        assert (process.wait(PATIENCE), rest) == expected[signal.Signals(number)]


def test_a_client_that_is_killed_takes_its_program_with_it(folder: Path) -> None:
    with subprocess.Popen(
        argv(folder, "sh", "-c", "echo $$; exec sleep 60"), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    assert wait_until(lambda: not Path(f"/proc/{pid}").exists(), PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_signal_waits_behind_input_that_is_not_read(folder: Path, number: signal.Signals) -> None:
    script = "echo $$; exec sleep 60"
    with subprocess.Popen(
        argv(folder, "sh", "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        os.set_blocking(process.stdin.fileno(), False)
        while select.select([], [process.stdin], [], 0.5)[1]:
            os.write(process.stdin.fileno(), bytes(4096))
        process.send_signal(number)
        assert wait_until(lambda: not Path(f"/proc/{pid}").exists(), PATIENCE)
        assert process.wait(PATIENCE) == -number


# It waits until no more of its input fits into its pipe, and closes that.


def test_who_reads_late_gets_all(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE", 0.0)
    there = tmp_path / "ended"
    script = f"head -c 300000 /dev/zero; touch {there}"
    with subprocess.Popen(argv(folder, "sh", "-c", script), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # With no reader in between it ends with a part of it in its own pipe.
        assert wait_until(there.exists, PATIENCE)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert len(process.stdout.read()) == 300_000
        assert process.wait(PATIENCE) == 0


def test_a_terminal_has_our_size_and_keys(folder: Path) -> None:
    pid, ours = pty.fork()
    if pid == 0:
        os.execv(sys.executable, argv(folder, "bash", "--norc", "-i", terminal=True))  # noqa: S606
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 97, 0, 0))
    _until(ours, rb"[#$] ")
    os.write(ours, b"sh -c 'stty size; exec sleep 60'\r")
    _until(ours, rb"31 97\r\n")
    os.write(ours, b"\x03")
    _until(ours, rb"\^C.*[#$] ")
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    os.kill(pid, signal.SIGWINCH)
    os.write(ours, b"until stty size | grep 20; do sleep 0.1; done; exit 5\r")
    _until(ours, rb"20 60\r\n")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    os.close(ours)


def _until(descriptor: int, wanted: bytes) -> None:
    """Read until something like this has come."""
    said, deadline = b"", time.monotonic() + PATIENCE
    while not re.search(wanted, said, re.DOTALL):
        assert time.monotonic() < deadline, said
        if select.select([descriptor], [], [], 1.0)[0]:
            said += os.read(descriptor, 4096)
