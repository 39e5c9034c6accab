"""Programs of others are bounded in everything, and nothing of them is left behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from measurement.custom.execute import Aborted, Finished, Limits, ending, environment, execute
from tests.support.refusals import refused

SHORT = Limits(seconds=0.5)


def shell(script: str, limits: Limits = SHORT, given: bytes = b"") -> Finished | Aborted:
    return execute(["sh", "-c", script], limits, environment(), given)


def test_a_program_that_ends() -> None:
    assert shell("cat; echo wrong >&2; exit 3", Limits(), b"given") == Finished(3, "given", "wrong\n")


def code_of(found: Finished | Aborted) -> str | None:
    return found.code if isinstance(found, Aborted) else None


def test_no_shell_reads_the_arguments() -> None:
    said = execute(["echo", "$HOME; `id`", "*"], Limits(), environment())
    assert said == Finished(0, "$HOME; `id` *\n", "")


def test_a_program_that_does_not_end_is_ended() -> None:
    assert code_of(shell("sleep 60")) == "timeout"


def test_one_that_closed_its_output_and_goes_on_is_ended() -> None:
    closed = shell("exec >&- 2>&-; sleep 60")
    assert code_of(closed) == "timeout"


def test_its_children_end_with_it(tmp_path: Path) -> None:
    # Those of one that ends by itself (its output still open in a child), and of one that is ended.
    for last in ("exit 0", "sleep 60"):
        shell(f"sleep 60 & echo $! > {tmp_path}/pid; {last}", Limits(seconds=1.5))
        pid = int((tmp_path / "pid").read_text())
        until = time.monotonic() + 60
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < until, f"{pid} is still there"
            time.sleep(0.01)


@pytest.mark.parametrize("stream", ["1", "2"])
def test_output_is_bounded(stream: str) -> None:
    limits = Limits(seconds=60, output=1000)
    commands = ["yes", "head -c 1001 /dev/zero", "head -c 1000 /dev/zero"]
    found = [code_of(shell(f"{command} >&{stream}", limits)) for command in commands]
    assert found == ["too-large", "too-large", None]


def test_memory_is_bounded() -> None:
    large = [sys.executable, "-S", "-c", "x = bytearray(2**30)"]
    found = execute(large, Limits(seconds=60, memory=256 * 2**20), environment())
    assert isinstance(found, Finished)
    assert found.status == 1
    assert "MemoryError" in found.stderr


@pytest.mark.integration
def test_processor_time_is_bounded() -> None:
    limits = Limits(seconds=120, cpu=1)
    found = shell("while :; do :; done", limits)
    assert isinstance(found, Finished)
    assert "CPU" in str(ending(found, limits))


@pytest.mark.parametrize(("script", "words"), [("exit 4", "status 4"), ("kill -15 $$", "signal 15")])
def test_endings(script: str, words: str) -> None:
    found = shell(script)
    assert isinstance(found, Finished)
    assert words in ending(found, SHORT)


def test_no_such_program(tmp_path: Path) -> None:
    for program in ("no-such-program", str(tmp_path / "neither"), str(tmp_path)):
        found = execute([program, "--password", "x"], SHORT, environment())
        assert isinstance(found, Aborted)
        assert found.code == "not-started"
        assert Path(program).name in found.cause
        assert "--password" not in found.cause


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    found = execute([str(broken)], SHORT, environment())
    assert isinstance(found, Finished)
    assert found.status != 0


def test_the_environment_is_ours_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("HOME", "/home/soykb")
    found = execute(["env"], Limits(), environment(["HOME", "NOT_SET"], FIXED="1"))
    assert isinstance(found, Finished)
    assert "hunter2" not in found.stdout
    assert {"HOME=/home/soykb", "FIXED=1", "LC_ALL=C", "TZ=UTC"} <= set(found.stdout.split("\n"))
    assert "NOT_SET" not in found.stdout


def test_no_file_descriptor_of_ours_is_left() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for script in ("exit 0", "sleep 60", "yes"):
        shell(script)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": 0}, {"seconds": -1}, {"memory": 0}, {"cpu": -1}, {"output": 0}, {"seconds": float("nan")}],
)
def test_limits_are_positive(wrong: dict[str, float]) -> None:
    with refused(ValueError, next(iter(wrong))):
        Limits(**wrong)  # type: ignore[arg-type]
