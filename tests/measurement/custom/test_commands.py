"""Commands of a batch system that run elsewhere: through ssh each word arrives as it was."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from measurement.custom.batch.commands import Commands
from measurement.custom.errors import BatchFailed
from measurement.custom.execute import Limits
from tests.measurement.custom.conftest import Install
from tests.support.refusals import refused

QUICK = Limits(seconds=60, memory=None)
AWKWARD = ("--name=a b", "$(id)", "'", '"', "*", ";", "a\\b", "", "ä")
PRINT = "python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' \"$@\""


@pytest.fixture
def ssh(install: Install) -> Path:
    """As the real one: words are joined by blanks, and the far user's shell reads them."""
    return install("ssh", 'while [ "${1#-}" != "$1" ]; do shift; done; shift; exec /bin/sh -c "$*"')


def through(*words: str) -> Commands:
    return Commands(("PATH",), (("SLURM_TIME_FORMAT", "%s"),), QUICK, words)


@pytest.mark.usefixtures("ssh")
def test_behind_ssh_no_word_is_read_by_a_shell(install: Install) -> None:
    install("squeue", PRINT)
    answer = through("ssh", "-oBatchMode=yes", "login.example.org").answer(["squeue", *AWKWARD])
    assert json.loads(answer) == list(AWKWARD)


@pytest.mark.usefixtures("ssh")
def test_variables_and_standard_input_go_along(install: Install) -> None:
    install("sbatch", 'echo "$SLURM_TIME_FORMAT"; cat')
    assert through("ssh", "login").answer(["sbatch"], "the script\n") == "%s\nthe script\n"


def test_behind_another_program_words_are_words(install: Install) -> None:
    install("squeue", PRINT)
    install("enter", 'shift; exec "$@"')
    assert json.loads(through("enter", "container").answer(["squeue", *AWKWARD])) == list(AWKWARD)


@pytest.mark.usefixtures("ssh")
def test_a_failure_names_the_tool_and_not_where_it_ran(install: Install) -> None:
    install("squeue", "echo 'no key for ann@login' >&2; exit 255")
    with pytest.raises(BatchFailed) as caught:
        through("ssh", "ann@login").answer(["squeue", "--jobs=1"])
    assert "squeue" in str(caught.value)
    assert "login" not in str(caught.value)


def test_one_that_hangs_is_ended_with_its_children(install: Install, tmp_path: Path) -> None:
    install("ssh", f"sleep 1000 & echo $! > {tmp_path}/child; wait")
    slow = Commands(("PATH",), (), Limits(seconds=2, memory=None), ("ssh", "login"))
    with refused("timeout"):
        slow.answer(["squeue"])
    child = int((tmp_path / "child").read_text())
    until = time.monotonic() + 60
    while alive(child):  # it is killed; on a busy machine it takes a while to go
        assert time.monotonic() < until
        time.sleep(0.01)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] not in "ZX"
    except OSError:
        return False


def test_output_without_end_is_cut_off(install: Install) -> None:
    install("sinfo", "yes")
    loud = Commands(("PATH",), (), Limits(seconds=60, memory=None, output=10_000))
    with refused("too-large") as caught:
        loud.answer(["sinfo"])
    assert "10000" in str(caught.error)
