"""Run folders of testbeds that stand, of ones whose owner is gone, and of others."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mininet_topos.old_isolation import run_folder, run_folders
from mininet_topos.standing import found
from mininet_topos.standing.asked import FILE, Standing, write
from tests.support.refusals import refused

OWNER = "import fcntl, os, sys, time; f = os.open(sys.argv[1], os.O_RDONLY); fcntl.flock(f, fcntl.LOCK_EX); "
HEEDS = OWNER + "print(flush=True); time.sleep(60)"


@pytest.fixture
def stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Let something stand, owned by a process that only holds the lock."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    owners = list[subprocess.Popen[bytes]]()

    def make(name: str, script: str = HEEDS) -> subprocess.Popen[bytes]:
        folder = run_folders() / name
        folder.mkdir(parents=True)
        argv = [sys.executable, "-c", script, str(folder)]
        owner = subprocess.Popen(argv, stdout=subprocess.PIPE)
        owners.append(owner)
        assert owner.stdout is not None
        owner.stdout.readline()
        write(Standing(name, folder, owner.pid, "mu_osu", 100, "host-user", "", "", None, 0.0, time.time()))
        return owner

    yield make
    for owner in owners:
        owner.kill()
        owner.wait()
        assert owner.stdout is not None
        owner.stdout.close()


def test_none() -> None:
    with refused("invalid", "name"):
        found.one("../x")


def test_those_that_stand(stand: Callable[..., subprocess.Popen[bytes]]) -> None:
    with refused("unavailable"):
        found.one(None)
    stand("a")
    assert found.one(None).name == "a"
    gone = stand("b")
    assert [one.name for one in found.standing()] == ["a", "b"]
    with refused("missing", "name"):
        found.one(None)
    with refused("unknown-name", "name"):
        found.one("c")
    gone.kill()
    gone.wait()
    assert found.one(None).name == "a"
    with run_folder(run_folders() / "other"):  # somebody else's: an experiment's
        assert [one.name for one in found.standing()] == ["a"]


def test_one_that_goes_while_it_is_looked_at_is_not_counted(
    stand: Callable[..., subprocess.Popen[bytes]],
) -> None:
    stand("a")
    stand("b")
    (run_folders() / "a" / FILE).write_text("")
    assert [one.name for one in found.standing()] == ["b"]


def test_a_name_that_is_taken(stand: Callable[..., subprocess.Popen[bytes]]) -> None:
    stand("a")
    found.require_free("b")
    with refused("conflict", "testbed"):
        found.require_free("a")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (None, [])),
        (["a"], ("a", [])),
        (["a", "mu-dtn"], ("a", ["mu-dtn"])),
        (["mu-dtn"], (None, ["mu-dtn"])),
        (["mu-dtn", "a"], (None, ["mu-dtn", "a"])),
    ],
)
def test_a_first_word_that_is_a_name(
    stand: Callable[..., subprocess.Popen[bytes]], words: list[str], expected: tuple[str | None, list[str]]
) -> None:
    stand("a")
    assert found.split(words) == expected


IGNORES = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + HEEDS


@pytest.mark.parametrize(
    ("script", "ended_by"), [(HEEDS, signal.SIGTERM), (IGNORES, signal.SIGKILL)], ids=["heeds", "hangs"]
)
def test_taken_down(
    stand: Callable[..., subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    ended_by: signal.Signals,
) -> None:
    monkeypatch.setattr(found, "STOP_TIMEOUT", 1.0)
    owner = stand("a", script)
    which = found.one("a")
    found.taken_down(which)
    assert owner.wait(10) == -ended_by
    found.taken_down(which)  # and once more does no harm


def test_another_process_of_an_owners_number_is_left_alone(
    stand: Callable[..., subprocess.Popen[bytes]],
) -> None:
    gone = stand("a")
    which = found.one("a")
    gone.kill()
    gone.wait()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        found.taken_down(replace(which, owner=other.pid))
        write(replace(which, owner=other.pid))  # nobody has its folder
        found.taken_down(replace(which, owner=other.pid))
        assert other.poll() is None
        assert other.stdin is not None
        other.stdin.close()
        assert other.wait(10) == 0


def test_an_owner_that_stays_even_so_is_told(
    stand: Callable[..., subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a system call that does not return."""
    monkeypatch.setattr(found, "STOP_TIMEOUT", 0.0)
    monkeypatch.setattr(found.signal, "pidfd_send_signal", lambda owner, number: None)
    stand("a")
    with refused("unavailable"):
        found.taken_down(found.one("a"))
