"""The audit log as a whole, exported or verified by a process of its own (:mod:`apps.rest.whole_log_aside`).

Going through all of it takes about a second of a processor per hundred thousand lines.  In this process
everybody who reads a page would wait for it.  The other one is niced, does one thing at a time, begins when
it is first asked, and ends when nobody has asked for a while, or when this one ends, however that is.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Literal, cast

from adon.access.audit import Verified
from adon.errors import Unavailable
from adon.store.access.audit import Wanted

Form = Literal["csv", "jsonl"]

ENVIRONMENT = "ADON_ACCESS_URL"
"""By the environment: a URL may hold a password, and everybody can read a command line."""
WAITED_S = 30.0
"""So long one waits for those before; then one is to ask again."""
MOST_AT_ONCE = 4
"""Who is answered, and who waits."""
BUSY = "the audit log is being read for others; ask again in a moment"
GIVEN_UP_AFTER_S = 300.0
_PIECE = 1 << 20


class _Ended(Exception):
    """The process is not there any more."""


@dataclass(slots=True)
class WholeLog:
    """See the module's text.

    :param url: of the access database.
    """

    url: str
    _process: subprocess.Popen[bytes] | None = None
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    _places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_AT_ONCE))
    _closed: bool = False

    def verified(self) -> Verified:
        """Whether every line is there and unchanged (:func:`adon.access.audit.verify`).

        :raises Unavailable: if the log cannot be read, or too many others ask.
        """
        return Verified(**json.loads(self._asked({"do": "verify"})))

    def exported(self, form: Form, wanted: Wanted) -> bytes:
        """Lines as a file (:mod:`adon.access.audit_export`), the oldest first.

        :raises Unavailable: as :meth:`verified`.
        """
        return self._asked({"do": "export", "form": form, "wanted": asdict(wanted)})

    def close(self) -> None:
        """End the process, if it runs, also while it answers; it is asked no more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # whoever waits for its answer is told, and lets go
        with self._one_at_a_time:
            self._end()

    def _asked(self, question: Mapping[str, Any]) -> bytes:
        # Each who waits has a thread of the web process, which others need.
        if not self._places.acquire(blocking=False):
            raise Unavailable(BUSY)
        try:
            return self._in_turn(question)
        finally:
            self._places.release()

    def _in_turn(self, question: Mapping[str, Any]) -> bytes:
        if not self._one_at_a_time.acquire(timeout=WAITED_S):
            raise Unavailable(BUSY)
        try:
            with suppress(_Ended):
                return self._told(question)
            # It ends by itself when nobody asks, which may be just now.
            self._end()
            return self._told(question)
        except _Ended:
            self._end()
            raise Unavailable("the audit log could not be read; the web process's log says why") from None
        finally:
            self._one_at_a_time.release()

    def _told(self, question: Mapping[str, Any]) -> bytes:
        process = self._running()
        try:
            cast(IO[bytes], process.stdin).write(json.dumps(question).encode() + b"\n")
        except OSError:
            raise _Ended from None
        answer = _Answer(cast(IO[bytes], process.stdout).fileno(), time.monotonic() + GIVEN_UP_AFTER_S)
        try:
            head = json.loads(answer.line())
            body = answer.exactly(head["bytes"])
        except TimeoutError:
            self._end()
            raise Unavailable("the audit log could not be read in time") from None
        if head["problem"] is not None:
            raise Unavailable(head["problem"])
        return body

    def _running(self) -> subprocess.Popen[bytes]:
        found = self._process
        if not self._closed and (found is None or found.poll() is not None):
            self._end()
            self._process = found = _begun(self.url)
        # Asked after it was begun: an end that came before found nothing to kill, one that comes now does.
        if self._closed or found is None:
            raise _Ended
        return found

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()  # it only reads
            with process:
                pass


def _begun(url: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "apps.rest.whole_log_aside"],
            env={**os.environ, ENVIRONMENT: url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
    except OSError as error:
        raise Unavailable("the audit log could not be read") from error


@dataclass(slots=True)
class _Answer:
    """What comes by a pipe: a line, then bytes; :param deadline: by the monotonic clock."""

    pipe: int
    deadline: float
    _held: bytes = b""

    def line(self) -> bytes:
        while b"\n" not in self._held:
            self._held += self._more()
        found, _, self._held = self._held.partition(b"\n")
        return found

    def exactly(self, size: int) -> bytes:
        parts, left = [self._held], size - len(self._held)
        while left > 0:
            parts.append(self._more())
            left -= len(parts[-1])
        return b"".join(parts)

    def _more(self) -> bytes:
        left = self.deadline - time.monotonic()
        if left <= 0 or not select.select([self.pipe], [], [], left)[0]:
            raise TimeoutError
        found = os.read(self.pipe, _PIECE)
        if not found:
            raise _Ended
        return found
