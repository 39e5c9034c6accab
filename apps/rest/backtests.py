"""Backtests that are asked for by REST: each is a process of its own, one at a time, its results kept here.

A replay takes minutes of a processor.  In this process it would take them from everybody who reads a page, so
``adon template backtest`` does it, niced, with the databases open for reading only.  What it may take is
limited: how far the past may reach and how many results it may hold, processor time, memory, and time.

Results are kept in memory, the last :data:`KEPT`; after a restart of the web process one asks again.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adon import problems, yamlfile
from adon.api.templates import BacktestState
from adon.errors import Conflict, InvalidInput, NotFound
from adon.templates_catalog.model import Template
from adon.timestamps import format_time
from adon.units import format_duration

log = logging.getLogger(__name__)

KEPT = 20
LONGEST_S = 31 * 86_400.0
"""So much of the past is replayed at most."""
MOST_RESULTS = 1_000_000
"""So many measurements; a third of a millisecond each, twice."""
PROCESSOR_S = 1_200
MEMORY_BYTES = 4 << 30
GIVEN_UP_AFTER_S = 3_600.0
NICENESS = 10
OUTPUT_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Backtest:
    """A backtest that was asked for.

    :param template: the name of the template.
    :param since, until: of the past that is replayed.
    :param found: what came of it, as ``adon template backtest --json`` says it.
    :param cause: why it failed.
    """

    id: str
    template: str
    requester: str
    asked_at: float
    since: float
    until: float
    state: BacktestState = BacktestState.RUNNING
    ended_at: float | None = None
    found: dict[str, Any] | None = None
    cause: str = ""


@dataclass(slots=True)
class Backtests:
    """See the module's text.

    :param config: the configuration file.
    :param store: the URL of the state's database.
    :param clock: tells seconds since the epoch.
    """

    config: Path
    data: Path
    store: str
    clock: Callable[[], float]
    _kept: dict[str, Backtest] = field(default_factory=dict)
    _process: subprocess.Popen[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, template: Template, since: float, until: float | None, requester: str) -> Backtest:
        """Begin to replay this time with another version of a template.

        :raises InvalidInput: for a time that is empty, not over, or too long.
        :raises Conflict: while another one runs.
        """
        now = self.clock()
        ends = now if until is None else until
        _check(since, ends, now)
        one = Backtest(f"b-{secrets.token_hex(6)}", template.name, requester, now, since, ends)
        with self._lock:
            running = next(
                (other for other in self._kept.values() if other.state is BacktestState.RUNNING), None
            )
            if running is not None:
                raise Conflict(
                    "state", f"backtest {running.id} of {running.requester} is running: one at a time"
                )
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[one.id] = one
        threading.Thread(target=self._run, args=(one, template), name="backtest", daemon=True).start()
        return one

    def get(self, identifier: str) -> Backtest:
        """One of those that are kept.

        :raises NotFound: if it is not.
        """
        with self._lock:
            if identifier not in self._kept:
                raise NotFound("backtest", identifier)
            return self._kept[identifier]

    @property
    def listed(self) -> tuple[Backtest, ...]:
        """All that are kept, the newest first."""
        with self._lock:
            return tuple(reversed(self._kept.values()))

    def cancel(self, identifier: str) -> Backtest:
        """End one that runs.

        :raises NotFound, Conflict: if it is not kept, or over.
        """
        one = self.get(identifier)
        if one.state is not BacktestState.RUNNING:
            raise Conflict("state", f"backtest {one.id} is {one.state}")
        self._put(one, BacktestState.CANCELLED)
        self._kill()
        return self.get(identifier)

    def close(self) -> None:
        """End what runs."""
        self._kill()

    # -- the process ---------------------------------------------------------------------------------------

    def _run(self, one: Backtest, template: Template) -> None:
        """Have it done, and keep what came of it; in a thread that does nothing but wait."""
        try:
            with tempfile.TemporaryDirectory(prefix="adon-backtest-") as folder:
                self._put(one, *self._replayed(one, template, Path(folder)))
        except (OSError, ValueError) as error:
            log.warning("event=backtest.failed id=%s", one.id, exc_info=True)
            self._put(one, BacktestState.FAILED, f"it could not be carried out: {type(error).__name__}")

    def _replayed(self, one: Backtest, template: Template, folder: Path) -> tuple[BacktestState, str, Any]:
        file = folder / "template.yaml"
        file.write_text(yamlfile.dump(template))
        ended = self._carried_out(
            ("template", "backtest", str(file), "--config", str(self.config), "--data", str(self.data)),
            ("--since", format_time(one.since), "--until", format_time(one.until)),
            ("--most-results", str(MOST_RESULTS), "--json"),
        )
        if ended is None:
            return BacktestState.FAILED, f"it was not done after {format_duration(GIVEN_UP_AFTER_S)}", None
        status, output, said = ended
        if status == 0 and len(output) <= OUTPUT_BYTES:
            return BacktestState.DONE, "", json.loads(output)
        if status in (1, 2) and (cause := _told(said)):
            return BacktestState.FAILED, cause[:500].replace(str(file), "template"), None
        log.warning("event=backtest.ended id=%s status=%d said=%r", one.id, status, said[-500:])
        return BacktestState.FAILED, "it took too much time or memory: replay a shorter time", None

    def _carried_out(self, *words: tuple[str, ...]) -> tuple[int, str, str] | None:
        """Status and output of ``adon`` with these words; None if it was given up."""
        command = [sys.executable, "-m", "apps.cli", *(word for some in words for word in some)]
        process = subprocess.Popen(
            command,
            # By the environment: a URL may hold a password, and everybody can read a command line.
            env={**os.environ, "ADON_STORE_URL": self.store},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 10))
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        with self._lock:
            self._process = process
        try:
            output, said = process.communicate(timeout=GIVEN_UP_AFTER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
        finally:
            with self._lock:
                self._process = None
        return process.returncode, output, said

    def _kill(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def _put(self, one: Backtest, state: BacktestState, cause: str = "", found: Any = None) -> None:
        ended = replace(one, state=state, cause=cause, found=found, ended_at=self.clock())
        with self._lock:
            # Who cancelled it was first; what the killed process said is not wanted any more.
            if one.id in self._kept and self._kept[one.id].state is BacktestState.RUNNING:
                self._kept[one.id] = ended


def _told(said: str) -> str:
    """What one line on standard error says, a problem document mostly; empty for anything longer."""
    lines = said.strip().splitlines()
    if len(lines) != 1:
        return ""
    try:
        document = json.loads(lines[0])
    except ValueError:
        return lines[0]
    return str(problems.from_document(document)) if isinstance(document, dict) else lines[0]


def _check(since: float, until: float, now: float) -> None:
    if not since < until:
        raise InvalidInput.of("until", "is not after since")
    if until > now:
        raise InvalidInput.of("until", "is not over yet")
    if until - since > LONGEST_S:
        span = f"{format_duration(until - since)} are more than {format_duration(LONGEST_S)}"
        raise InvalidInput.of("since", f"{span}: replay a shorter time")
