"""Shell completion, as the shells ask for it: bash really runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.support.fake_collector import FELL

RUN = """
set -e
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
COMPREPLY=()
_adon_completion adon
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does behind Tab: sources the script, sets what was typed, and calls the function."""


@pytest.fixture
def shell(tmp_path, world, served):
    """Complete a command line in bash; what is offered."""
    folder = tmp_path / "bin"
    folder.mkdir()
    adon = folder / "adon"
    adon.write_text(f'#!/bin/sh\nexec {sys.executable} -m apps.cli "$@"\n')
    adon.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "ADON_URL": served,
        "ADON_TOKEN": world.tokens["admin"],
    }
    # main() names the program adon, however it was started.
    made = subprocess.run(
        ["adon", "--show-completion", "bash"],
        env={**environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    script = tmp_path / "adon.bash"
    script.write_text(made.stdout)

    def complete(*words: str, **more: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", RUN, "bash", str(script), "adon", *words],
            env={**environment, **more},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return complete


@pytest.mark.integration
def test_bash_completes_commands_and_names(shell, world):
    world.submit()
    for words, offered in (
        (("fl",), {"flow"}),
        (("flow", "sh"), {"show"}),
        (("flow", "show", ""), {"f-1"}),
        (("flow", "submit", "--template", ""), {"soykb"}),
        (("flow", "submit", "--from", "mu"), {"mu-dtn"}),
        (("measure", "history", ""), {"al2s", "internet"}),
        (("measure", "history", "al2s", ""), {"mu", "osu"}),
        (("alarm", "show", FELL.id[:4]), {FELL.id}),
        (("site", "show", "o"), {"osu-hpc"}),
        (("flow", "show", "zzz"), set()),
    ):
        assert set(shell(*words)) >= offered, words
        if not offered:
            assert shell(*words) == []


@pytest.mark.integration
def test_a_server_that_does_not_answer_holds_nobody_up(shell):
    """It accepts and says nothing: the shell has its prompt again after the timeout."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        before = time.monotonic()
        assert shell("flow", "show", "", ADON_URL=f"http://127.0.0.1:{silent.getsockname()[1]}") == []
        assert time.monotonic() - before < 20  # far below the client's usual 30 s
