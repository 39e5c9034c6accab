"""One measurement point over HTTP: connections, certificates, limits, retries; knows no test or task.

Whatever the other side does, a call ends: every read has a time-out, the whole answer has a deadline
and a size limit, redirects lead to the same host or nowhere.  Only requests that may be repeated
without harm (GET, DELETE) are, and only after a temporary error, a bounded number of times, with
jitter (many clients of a host that comes back must not come back together).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from measurement.errors import (
    AnswerTooLarge,
    BadAnswer,
    PointError,
    PointRefused,
    PointTimeout,
    PointUnavailable,
    Rejected,
    shorten,
    translate,
)
from measurement.pscheduler.connections import NO_CREDENTIALS, Connections, Credentials, Pinned, Verify

__all__ = ["NO_CREDENTIALS", "Answer", "Credentials", "Pinned", "Timeouts", "Transport", "Verify"]

LARGEST_ANSWER = 8 * 2**20
_CHUNK = 65_536
_REDIRECTS = 3
_JSON = {"Content-Type": "application/json"}
CONCURRENT = 4  # a stock pScheduler has ten workers for everybody


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, to wait for each piece of an answer, and to post a task.

    Posting takes long: the server asks every other participant before it answers.
    """

    connect: float = 5.0
    read: float = 15.0
    post: float = 60.0


DEFAULT_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back with status 2xx."""

    host: str
    text: str

    def json(self) -> object:
        """The body as JSON.

        :raises BadAnswer: for anything else, such as a proxy's HTML page.
        """
        try:
            found: object = json.loads(self.text)
        except (ValueError, RecursionError):
            raise BadAnswer(self.host, f"expected JSON, got {shorten(self.text, 60)!r}") from None
        return found


class Transport:
    """Requests to one base URL.  Any number of threads may share one.

    :param base_url: ``https://HOST[:PORT][/pscheduler]``.
    :param verify: how its certificate is checked, see :data:`Verify`.
    :param attempts: how often a repeatable request is tried in all.
    :param credentials: who we are.
    :param concurrent: how many requests may be under way at once; further ones wait for them.
    :param pause: sleeps; may raise to end a wait early (shutdown).
    :param chance: uniform in [0, 1), for jitter.
    :raises ValueError: for a URL that is not such a base URL, certificate files that cannot be used, or
        a token that would go in the clear.
    """

    def __init__(
        self,
        base_url: str,
        verify: Verify = True,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        *,
        attempts: int = 2,
        credentials: Credentials = NO_CREDENTIALS,
        concurrent: int = CONCURRENT,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError(f"{shorten(base_url)!r} is not a URL such as https://host/pscheduler")
        self.host = parts.netloc
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/') or '/pscheduler'}"
        self.timeouts = timeouts
        self._connections = Connections(parts, verify, credentials, concurrent)
        self._attempts = attempts
        self._pause = pause
        self._chance = chance

    def get(self, path: str, params: Mapping[str, str] | None = None, *, wait: float = 0.0) -> Answer:
        """GET ``path`` below the base URL; ``wait`` is how long the server was asked to hold the answer."""
        return self._repeat("GET", path, params or {}, self.timeouts.read + wait)

    def delete(self, path: str, params: Mapping[str, str] | None = None) -> Answer:
        """DELETE ``path`` below the base URL."""
        return self._repeat("DELETE", path, params or {}, self.timeouts.read)

    def post(self, path: str, body: object, params: Mapping[str, str] | None = None) -> Answer:
        """POST JSON, escaped to ASCII as pScheduler needs it.  Never repeated here."""
        return self._once("POST", path, params or {}, self.timeouts.post, json.dumps(body).encode("ascii"))

    def close(self) -> None:
        """Close the connections that are open; a later request opens anew."""
        self._connections.close()

    def _repeat(self, method: str, path: str, params: Mapping[str, str], read: float) -> Answer:
        for attempt in range(1, self._attempts):
            try:
                return self._once(method, path, params, read)
            except PointError as error:
                if not error.temporary:
                    raise
            self._pause(2 ** (attempt - 1) * (0.25 + 0.5 * self._chance()))
        return self._once(method, path, params, read)

    def _once(
        self, method: str, path: str, params: Mapping[str, str], read: float, body: bytes | None = None
    ) -> Answer:
        allowed = self.timeouts.connect + read
        deadline = time.monotonic() + allowed
        with self._connections.session(allowed) as session:
            if session is None:
                raise PointTimeout(self.host, "too many of our own requests to it are under way")
            return self._follow(session, method, path, params, body, read, deadline)

    def _follow(
        self,
        session: requests.Session,
        method: str,
        path: str,
        params: Mapping[str, str],
        body: bytes | None,
        read: float,
        deadline: float,
    ) -> Answer:
        url = self.url + path
        for _ in range(_REDIRECTS):
            try:
                with session.request(
                    method,
                    url,
                    params=params,
                    data=body,
                    headers=None if body is None else _JSON,
                    timeout=(self.timeouts.connect, read),
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    if not response.is_redirect:
                        return self._answer(response, deadline)
                    url = self._redirect_target(url, response)
            except requests.RequestException as error:
                raise translate(self.host, error) from None
            except ValueError:
                # requests reads a redirect's target even when told not to follow it.
                raise BadAnswer(self.host, "redirects to what is no URL", code="redirect") from None
            method, params, body = "GET", {}, None
        raise BadAnswer(self.host, "redirects without end", code="redirect")

    def _redirect_target(self, url: str, response: requests.Response) -> str:
        # A redirect elsewhere would send the request, and perhaps a key, to a host that is not configured.
        target = urljoin(url, response.headers["location"])
        place = urlsplit(target)
        if place[:2] != urlsplit(self.url)[:2]:
            raise BadAnswer(
                self.host, f"redirects to {place.scheme}://{place.netloc}: not followed", code="redirect"
            )
        return target

    def _answer(self, response: requests.Response, deadline: float) -> Answer:
        text = self._body(response, deadline)
        status = response.status_code
        if status in (429, 502, 503, 504):
            raise PointUnavailable(self.host, f"HTTP {status}: {text}")
        if not 200 <= status < 300:
            raise Rejected(self.host, status, text)
        return Answer(self.host, text)

    def _body(self, response: requests.Response, deadline: float) -> str:
        held = bytearray()
        try:
            while piece := response.raw.read1(_CHUNK, decode_content=False):
                held += piece
                if len(held) > LARGEST_ANSWER:
                    raise AnswerTooLarge(self.host, f"the answer is larger than {LARGEST_ANSWER} bytes")
                if time.monotonic() > deadline:
                    raise PointTimeout(self.host, "the answer does not end")
        except urllib3.exceptions.ReadTimeoutError:
            raise PointTimeout(self.host, "the answer stops in the middle") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise PointRefused(self.host, f"the connection broke: {type(error).__name__}") from None
        return held.decode("utf-8", errors="replace")
