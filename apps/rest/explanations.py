"""Why-not answers and backtests, each computed by ``adon`` in a niced process.

Both replay decisions, which takes seconds to minutes of a processor.  A process of its own keeps the web
process free, and opens the databases for reading only.  Decisions and their inputs never change, so a
why-not answer is kept.  A backtest has limits of period, results, processor time, memory and time; the last
:data:`KEPT_BACKTESTS` are kept until the web process ends.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from adon import problems, yamlfile
from adon.api.decisions import WhyNotView
from adon.api.templates import BacktestResult, BacktestState, BacktestView
from adon.errors import Conflict, InvalidInput, NotFound, Unavailable
from adon.templates_catalog.model import Template
from adon.timestamps import format_time
from adon.units import format_duration

log = logging.getLogger(__name__)

NICENESS = 10
KEPT_ANSWERS = 256
WHY_NOT_S = 120.0
"""Seconds after which a why-not answer is given up."""
WAIT_S = 30.0
"""Seconds to wait for earlier requests."""
KEPT_BACKTESTS = 20
LONGEST_S = 31 * 86_400.0
"""Longest period of a backtest in seconds."""
MOST_RESULTS = 1_000_000
"""Measurements in that period."""
PROCESSOR_S = 1_200
MEMORY_BYTES = 4 << 30
BACKTEST_S = 3_600.0
OUTPUT_BYTES = 50_000_000


def _start(words: Sequence[str], store: str) -> subprocess.Popen[str]:
    """Start ``adon`` with these words, niced.

    :param store: URL of the state's database.  It is in the environment, because it may hold a password.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "apps.cli", *words],
        env={**os.environ, "ADON_STORE_URL": store},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
    return process


def _finish(process: subprocess.Popen[str], seconds: float) -> tuple[str, str] | None:
    """Return output and errors of a process; None if it was killed after so many seconds."""
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None


class WhyNots:
    """Why-not answers, one computed at a time, the latest of them kept.

    :param store: URL of the state's database.
    """

    def __init__(self, store: str) -> None:
        self._store = store
        self._one_at_a_time = threading.Lock()
        self.of = lru_cache(KEPT_ANSWERS)(self._compute)

    def _compute(self, decision: str) -> WhyNotView:
        """Return why the decision selected nothing else.

        :raises Unavailable: if it cannot be computed, or too many others are requested.
        """
        if not self._one_at_a_time.acquire(timeout=WAIT_S):
            raise Unavailable("other answers are being computed; try again")
        try:
            return explain_decision(decision, self._store)
        finally:
            self._one_at_a_time.release()


def explain_decision(decision: str, store: str) -> WhyNotView:
    """Return the answer of ``adon decision why-not`` about a decision that is recorded with its inputs.

    :raises Unavailable: with the reason of a failure.
    """
    try:
        process = _start(("decision", "why-not", "--json", "--", decision), store)
    except OSError as error:
        raise Unavailable("the answer could not be computed") from error
    ended = _finish(process, WHY_NOT_S)
    if ended is None:
        raise Unavailable("the answer could not be computed in time")
    output, errors = ended
    if process.returncode != 0:
        lines = errors.strip().splitlines()
        raise Unavailable(lines[-1][:300] if lines else "the answer could not be computed")
    return WhyNotView.model_validate_json(output)


@dataclass(slots=True)
class Backtests:
    """Backtests, one at a time, with their results.

    :param config: the configuration file.
    :param store: URL of the state's database.
    :param clock: seconds since the epoch.
    """

    config: Path
    data: Path
    store: str
    clock: Callable[[], float]
    _kept: dict[str, BacktestView] = field(default_factory=dict)
    _process: subprocess.Popen[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, template: Template, since: float, until: float | None, requester: str) -> BacktestView:
        """Start to replay a period with another version of a template.

        :raises InvalidInput: for a period that is empty, in the future, or too long.
        :raises Conflict: while another backtest runs.
        """
        now = self.clock()
        ends = now if until is None else until
        _check_period(since, ends, now)
        one = BacktestView(
            id=f"b-{secrets.token_hex(6)}",
            template=template.name,
            requester=requester,
            asked_at=now,
            since=since,
            until=ends,
            state=BacktestState.RUNNING,
            ended_at=None,
            cause="",
            found=None,
        )
        with self._lock:
            running = [other for other in self._kept.values() if other.state is BacktestState.RUNNING]
            if running:
                cause = f"backtest {running[0].id} of {running[0].requester} is running: one at a time"
                raise Conflict("state", cause)
            while len(self._kept) >= KEPT_BACKTESTS:
                del self._kept[next(iter(self._kept))]
            self._kept[one.id] = one
        threading.Thread(target=self._run, args=(one, template), name="backtest", daemon=True).start()
        return one

    def get(self, identifier: str) -> BacktestView:
        """Return a backtest.

        :raises NotFound: if it is not kept.
        """
        with self._lock:
            if identifier not in self._kept:
                raise NotFound("backtest", identifier)
            return self._kept[identifier]

    @property
    def listed(self) -> tuple[BacktestView, ...]:
        """All kept backtests, the newest first."""
        with self._lock:
            return tuple(reversed(self._kept.values()))

    def cancel(self, identifier: str) -> BacktestView:
        """End a running backtest.

        :raises NotFound, Conflict: if it is not kept, or has ended.
        """
        one = self.get(identifier)
        if one.state is not BacktestState.RUNNING:
            raise Conflict("state", f"backtest {one.id} is {one.state}")
        self._put(one, BacktestState.CANCELLED)
        self.close()
        return self.get(identifier)

    def close(self) -> None:
        """End the running process, if any."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def _run(self, one: BacktestView, template: Template) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="adon-backtest-") as folder:
                file = Path(folder, "template.yaml")
                file.write_text(yamlfile.dump(template))
                self._put(one, *self._replay(one, file))
        except (OSError, ValueError) as error:
            log.warning("event=backtest.failed id=%s", one.id, exc_info=True)
            self._put(one, BacktestState.FAILED, f"it could not be carried out: {type(error).__name__}")

    def _replay(self, one: BacktestView, file: Path) -> tuple[BacktestState, str, Any]:
        period = ("--since", format_time(one.since), "--until", format_time(one.until))
        where = ("--config", str(self.config), "--data", str(self.data))
        limit = ("--most-results", str(MOST_RESULTS), "--json")
        process = _start(("template", "backtest", str(file), *where, *period, *limit), self.store)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 10))
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        with self._lock:
            self._process = process
        try:
            ended = _finish(process, BACKTEST_S)
        finally:
            with self._lock:
                self._process = None
        if ended is None:
            return BacktestState.FAILED, f"it was not done after {format_duration(BACKTEST_S)}", None
        output, errors = ended
        if process.returncode == 0 and len(output) <= OUTPUT_BYTES:
            return BacktestState.DONE, "", BacktestResult.model_validate_json(output)
        if process.returncode in (1, 2) and (cause := _reported_cause(errors)):
            return BacktestState.FAILED, cause[:500].replace(str(file), "template"), None
        log.warning(
            "event=backtest.ended id=%s status=%d errors=%r", one.id, process.returncode, errors[-500:]
        )
        return BacktestState.FAILED, "it took too much time or memory: replay a shorter time", None

    def _put(self, one: BacktestView, state: BacktestState, cause: str = "", found: Any = None) -> None:
        change = {"state": state, "cause": cause, "found": found, "ended_at": self.clock()}
        with self._lock:
            # A cancelled backtest stays cancelled, whatever its killed process reports.
            if one.id in self._kept and self._kept[one.id].state is BacktestState.RUNNING:
                self._kept[one.id] = one.model_copy(update=change)


def _reported_cause(errors: str) -> str:
    """Return the one line on standard error, usually a problem document; empty for several lines."""
    lines = errors.strip().splitlines()
    if len(lines) != 1:
        return ""
    try:
        document = json.loads(lines[0])
    except ValueError:
        return lines[0]
    return str(problems.from_document(document)) if isinstance(document, dict) else lines[0]


def _check_period(since: float, until: float, now: float) -> None:
    if not since < until:
        cause = "is not after since; expected a later time, for example 2026-11-21T08:00:00Z"
        raise InvalidInput.of("until", cause)
    if until > now:
        cause = "is in the future; expected a time before now, for example 2026-11-21T08:00:00Z"
        raise InvalidInput.of("until", cause)
    if until - since > LONGEST_S:
        span = f"{format_duration(until - since)} are more than {format_duration(LONGEST_S)}"
        raise InvalidInput.of("since", f"{span}; expected a shorter time, for example the last 7 days")
