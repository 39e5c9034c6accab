"""Repetition of requests after 429 and 503.

Only a request that has no second effect is repeated: GET, or POST with an Idempotency-Key.  The answer must
have a Retry-After (RFC 9110 section 10.2.3); without one the server may be down for long, and the caller gets
the error at once.  A random delay keeps refused clients from returning together.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from adon.api.routes import READYZ
from adon.client.transport import Answer, Transport

ASKED_ONCE = frozenset({READYZ.path})
"""Where 503 is the answer to the question."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far repeating goes.

    :param tries: requests in all.
    :param longest: seconds of waiting in all.
    :param after: the statuses after which is asked again.
    :param spread: chance adds up to this share of the wait, at least of one second.
    """

    tries: int = 4
    longest: float = 30.0
    spread: float = 0.25
    after: frozenset[int] = frozenset({429, 503})


BOUNDS = Bounds()
IMPATIENT = Bounds(after=frozenset({429}))
"""For interactive use: an outage is reported at once."""


def repeatable(method: str, path: str, headers: Mapping[str, str] | None) -> bool:
    """Whether a request does nothing twice if it is sent twice."""
    if method == "GET":
        return path not in ASKED_ONCE
    return method == "POST" and "Idempotency-Key" in (headers or {})


def wait(
    answer: Answer, tried: int, waited: float, bounds: Bounds, now: float, chance: float
) -> float | None:
    """Seconds to wait before asking again; None to give the answer as it is.

    :param tried: requests so far; ``waited``: seconds so far.
    :param now: seconds since the epoch, for a Retry-After that names a date.
    :param chance: from 0 to 1.
    """
    if answer.status not in bounds.after or tried >= bounds.tries:
        return None
    after = retry_after(answer.headers.get("retry-after"), now)
    if after is None:
        return None
    pause = after + chance * bounds.spread * max(1.0, after)
    return pause if waited + pause <= bounds.longest else None


def retry_after(text: str | None, now: float) -> float | None:
    """A Retry-After header in seconds from now; None where there is none, or it says nothing."""
    if text is None:
        return None
    try:
        seconds = float(text) if text.strip().isdecimal() else parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class Repeating:
    """A transport that asks again over another one."""

    def __init__(
        self,
        inner: Transport,
        bounds: Bounds = BOUNDS,
        *,
        pause: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._inner = inner
        self._bounds = bounds
        self._pause = pause
        self._chance = chance
        self._clock = clock

    @property
    def base(self) -> str:
        """The API's address."""
        return self._inner.base

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """See :meth:`Transport.send`."""
        tried, waited = 0, 0.0
        while True:
            answer, tried = self._inner.send(method, path, body, query, headers), tried + 1
            if not repeatable(method, path, headers):
                return answer
            pause = wait(answer, tried, waited, self._bounds, self._clock(), self._chance())
            if pause is None:
                return answer
            self._pause(pause)
            waited += pause

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[bytes]:
        """See :meth:`Transport.lines`; a stream is not repeated: its reader knows where it was."""
        return self._inner.lines(path, query, headers)
