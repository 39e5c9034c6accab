"""Bring a test network up in the background: start its owner, and hear from it until it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from adon.errors import InvalidInput, Unavailable
from mininet_topos.standing.asked import Asked, Standing

STOP_TIMEOUT = 30.0


def brought_up(asked: Asked, tell: Callable[[str], None]) -> Standing:
    """What stands; it goes on when we end.  Interrupted before that, it is taken down again.

    :raises InvalidInput, Unavailable: what its owner says.
    """
    argv = [sys.executable, "-m", "mininet_topos.standing.owner", json.dumps(asdict(asked))]
    # A session of its own: neither Ctrl-C nor the end of this terminal is for it.
    owner = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        return _heard(owner, tell)
    except BaseException:
        owner.terminate()
        try:
            owner.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:  # all that it owns ends with it
            owner.kill()
            owner.wait()
        raise


def _heard(owner: subprocess.Popen[bytes], tell: Callable[[str], None]) -> Standing:
    assert owner.stdout is not None  # noqa: S101 - it was asked for
    assert owner.stderr is not None  # noqa: S101 - it was asked for
    for line in owner.stdout:
        said = json.loads(line)
        match said.pop("event"):
            case "tell":
                tell(said["text"])
            case "up":
                return Standing(**{**said, "folder": Path(said["folder"])})
            case "failed" if said["input"]:
                raise InvalidInput.of("", said["text"])
            case _:
                raise Unavailable(said["text"])
    words = owner.stderr.read().decode(errors="replace").strip().splitlines()
    raise Unavailable(f"the testbed does not come up: {words[-1] if words else 'its owner was ended'}")
