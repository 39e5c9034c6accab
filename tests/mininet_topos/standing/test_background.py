"""What whoever brings a testbed up hears of its owner, and what becomes of one that hangs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from adon.errors import InvalidInput, Unavailable
from mininet_topos.standing import background
from mininet_topos.standing.asked import Asked

ASKED = Asked("a", "mu_osu")


Starts = Callable[[str], list[subprocess.Popen[bytes]]]


@pytest.fixture
def owner_does(monkeypatch: pytest.MonkeyPatch) -> Starts:
    """Have the owner do this instead; the owners that are started then."""
    started = list[subprocess.Popen[bytes]]()
    real = subprocess.Popen

    def does(script: str) -> list[subprocess.Popen[bytes]]:
        def popen(_argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
            started.append(real([sys.executable, "-c", script], **options))
            return started[-1]

        monkeypatch.setattr(subprocess, "Popen", popen)
        monkeypatch.setattr(background, "STOP_TIMEOUT", 0.3)
        return started

    return does


FAILED = "import json; print(json.dumps({{'event': 'failed', 'text': 'so it is', 'input': {}}}))"


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        (FAILED.format(True), InvalidInput, "so it is"),
        (FAILED.format(False), Unavailable, "so it is"),
        ("raise SystemExit('out of luck')", Unavailable, "does not come up: out of luck"),
        ("", Unavailable, "does not come up: its owner was ended"),
    ],
)
def test_what_its_owner_says_is_told(
    owner_does: Starts, script: str, error: type[Exception], words: str
) -> None:
    owner = owner_does(script)
    with pytest.raises(error, match=words):
        background.brought_up(ASKED, lambda _text: None)
    assert owner[0].poll() is not None


HANGS = (
    "import json, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print(json.dumps({'event': 'tell', 'text': 'building'}), flush=True); time.sleep(60)"
)


def test_an_owner_that_hangs_when_it_is_interrupted_is_ended(owner_does: Starts) -> None:
    def interrupted(text: str) -> None:
        raise KeyboardInterrupt(text)

    owner = owner_does(HANGS)
    with pytest.raises(KeyboardInterrupt, match="building"):
        background.brought_up(ASKED, interrupted)
    assert owner[0].returncode == -9
