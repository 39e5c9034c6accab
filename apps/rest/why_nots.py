"""Why a decision took nothing else: worked out by a process of its own, niced, and kept by the decision's id.

A decision may have to be made again thousands of times, which takes some seconds of a processor: in this
process everybody who reads a page would wait for it.  Decisions never change, nor does what they saw, so what
was found once is told again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from adon.errors import Unavailable

KEPT = 256
NICENESS = 10
GIVEN_UP_AFTER_S = 120.0
WAITED_S = 30.0
"""So long one waits for those before; then one is to ask again."""


@dataclass(slots=True)
class WhyNots:
    """See the module's text.

    :param store: the URL of the state's database.
    """

    store: str
    _kept: OrderedDict[str, dict[str, Any]] = field(default_factory=OrderedDict)
    _kept_lock: threading.Lock = field(default_factory=threading.Lock)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def of(self, decision: str) -> dict[str, Any]:
        """What ``adon decision why-not --json`` says.

        :param decision: the id of one that is recorded, with what it saw.
        :raises Unavailable: if it cannot be worked out, or too many others ask.
        """
        found = self._known(decision)
        if found is not None:
            return found
        if not self._one_at_a_time.acquire(timeout=WAITED_S):
            raise Unavailable("others are being worked out; ask again in a moment")
        try:
            found = self._known(decision)
            return self._keep(decision, _worked_out(decision, self.store)) if found is None else found
        finally:
            self._one_at_a_time.release()

    def _known(self, decision: str) -> dict[str, Any] | None:
        with self._kept_lock:
            found = self._kept.get(decision)
            if found is not None:
                self._kept.move_to_end(decision)
            return found

    def _keep(self, decision: str, found: dict[str, Any]) -> dict[str, Any]:
        with self._kept_lock:
            self._kept[decision] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


def _worked_out(decision: str, store: str) -> dict[str, Any]:
    # By the environment: a URL may hold a password, and everybody can read a command line.
    environment = {**os.environ, "ADON_STORE_URL": store}
    command = [sys.executable, "-m", "apps.cli", "decision", "why-not", "--json", "--", decision]
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    except OSError as error:
        raise Unavailable("it could not be worked out") from error
    with process:
        os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        try:
            output, said = process.communicate(timeout=GIVEN_UP_AFTER_S)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise Unavailable("it could not be worked out in time") from error
    if process.returncode != 0:
        lines = said.strip().splitlines()
        raise Unavailable(lines[-1][:300] if lines else "it could not be worked out")
    found: dict[str, Any] = json.loads(output)
    return found
