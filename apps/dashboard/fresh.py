"""What moves on a page, drawn as seldom as may be: once for several looks, and not when nothing has changed.

A page is a function of who looks, its address, the API's answers and the time.  So what was drawn for
somebody is good for their next look at the same address

- for :data:`SHARED_S`, without a question (two windows with the same page ask one after the other);
- for :data:`STANDS_S`, if the API, asked the same again, answers the same bytes.  Longer it is not, because
  ages are told (*3 s ago*).

A rendered page is never shown to another user or in another session of the same user: :class:`Seen` has the
whole actor, and each request to the API is made as that actor.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adon.access.identity import Actor
from adon.client.transport import Answer, Transport
from apps.dashboard.encoding import tag_of

SHARED_S = 1.0
STANDS_S = 10.0
MOST_BYTES = 32 * 2**20
"""What is kept of all people together; more than that, and the oldest goes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Who looks at what: all that a page depends on, but answers and time.

    :param zone: the reader's time zone.
    """

    actor: Actor
    zone: str
    path: str
    search: str


@dataclass(frozen=True, slots=True)
class Question:
    """A GET of the API."""

    path: str
    query: tuple[tuple[str, Any], ...]
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What moves on a page.

    :param content: JSON (:mod:`apps.dashboard.encoding`).
    :param tag: changes exactly when the content does.
    :param read: what was asked for it, each with a digest of its answer; None if more was done than to ask.
    :param at: when it was drawn, in seconds of a clock that never goes back.
    :param asked_at: when it was last known to be what the API answers.
    """

    content: bytes
    tag: str
    read: tuple[tuple[Question, bytes], ...] | None
    at: float
    asked_at: float


Draw = Callable[[Transport], bytes]
"""Draws what moves, by what the API answers over this transport."""


class Drawings:
    """What was drawn of late; any thread may use it.

    :param clock: seconds, never going back.
    :param most: bytes that are kept.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Seen, Drawn] = OrderedDict()
        self._bytes = 0

    def get(self, seen: Seen, api: Transport, draw: Draw, *, shared: bool = True) -> Drawn:
        """What moves on a page now.

        :param api: the API as ``seen.actor`` may use it.
        :param shared: whether what was drawn within :data:`SHARED_S` will do; not for somebody who opens the
            page, since they may have changed something just now.
        """
        now = self._clock()
        with self._lock:
            before = self._kept.get(seen)
        if shared and before is not None and now - before.asked_at < SHARED_S:
            return before
        noting = Noting(api)
        if before is not None and now - before.at < STANDS_S and noting.same(before.read):
            return self._keep(seen, replace(before, asked_at=now))
        content = draw(noting)
        return self._keep(seen, Drawn(content, tag_of(content), noting.read(), now, now))

    @property
    def held(self) -> int:
        """Bytes that are kept now."""
        with self._lock:
            return self._bytes

    def _keep(self, seen: Seen, drawn: Drawn) -> Drawn:
        with self._lock:
            self._drop(seen)
            self._kept[seen] = drawn
            self._bytes += _weight(seen, drawn)
            while self._kept:
                oldest, there = next(iter(self._kept.items()))
                if self._bytes <= self._most and drawn.asked_at - there.asked_at < STANDS_S:
                    break
                self._drop(oldest)
        return drawn

    def _drop(self, seen: Seen) -> None:
        before = self._kept.pop(seen, None)
        if before is not None:
            self._bytes -= _weight(seen, before)


class Noting:
    """A transport that notes what is asked, and asks the same only once.

    So all parts of a page tell of the same moment.
    """

    def __init__(self, api: Transport) -> None:
        self._api = api
        self._answers: dict[Question, Answer] = {}
        self._asked: dict[Question, bytes] = {}
        self._only_asked = True

    @property
    def base(self) -> str:
        """See :class:`adon.client.Transport`."""
        return self._api.base

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """See :meth:`adon.client.Transport.send`."""
        if method != "GET":
            self._only_asked = False
            return self._api.send(method, path, body, query, headers)
        question = Question(path, tuple((query or {}).items()), tuple((headers or {}).items()))
        answer = self._answer(question)
        self._asked[question] = _digest(answer)
        return answer

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[bytes]:
        """See :meth:`adon.client.Transport.lines`."""
        self._only_asked = False
        return self._api.lines(path, query, headers)

    def same(self, read: Iterable[tuple[Question, bytes]] | None) -> bool:
        """Whether all of this is answered as it was; what is asked for that is not asked again."""
        return read is not None and all(
            _digest(self._answer(question)) == before for question, before in read
        )

    def read(self) -> tuple[tuple[Question, bytes], ...] | None:
        """What was asked by :meth:`send`; None if something was done besides."""
        return tuple(self._asked.items()) if self._only_asked else None

    def _answer(self, question: Question) -> Answer:
        known = self._answers.get(question)
        if known is None:
            asked = dict(question.query), dict(question.headers)
            known = self._answers[question] = self._api.send("GET", question.path, None, *asked)
        return known


def _digest(answer: Answer) -> bytes:
    return hashlib.sha256(b"%d %s" % (answer.status, answer.content)).digest()


def _weight(seen: Seen, drawn: Drawn) -> int:
    return len(drawn.content) + len(seen.path) + len(seen.search) + 1000 + 500 * len(drawn.read or ())
