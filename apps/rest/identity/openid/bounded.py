"""HTTP towards a provider that may be slow, down or hostile: no answer takes long, and none is large."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from adon.errors import Unavailable

SECONDS = 8.0
"""A whole answer must be there by then."""
MOST_BYTES = 500_000
AT_ONCE = 4
"""Requests to one provider; the web side's threads are for others too."""


class BoundedAdapter(HTTPAdapter):
    """Reads an answer whole, up to :data:`MOST_BYTES` and for :data:`SECONDS` at most."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002
        timeout: object = None,  # noqa: ARG002
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """See :meth:`HTTPAdapter.send`.

        :raises requests.RequestException: also for an answer that is too large or too slow.
        """
        until = time.monotonic() + SECONDS
        response = super().send(request, True, (SECONDS / 2, SECONDS / 2), verify, cert, proxies)
        content = bytearray()
        for piece in response.iter_content(16_384):
            content += piece
            if len(content) > MOST_BYTES or time.monotonic() > until:
                response.close()
                raise requests.RequestException("the answer is too large or too slow")
        response._content = bytes(content)
        return response


class Line:
    """The way to one provider.

    :param title: what people call it.
    :param verify: ``system``, or a PEM file.
    """

    def __init__(self, title: str, verify: str) -> None:
        self.title = title
        self._verify: bool | str = True if verify == "system" else verify
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def prepare(self, session: requests.Session) -> None:
        """Make a session bounded, and without a proxy and without ``.netrc``."""
        session.trust_env = False
        session.verify = self._verify
        for scheme in ("https://", "http://"):
            session.mount(scheme, BoundedAdapter())

    @contextmanager
    def talking(self) -> Iterator[None]:
        """While the provider is asked; what goes wrong on the way is ours to tell.

        :raises Unavailable: if it does not answer, or too many ask it at once.
        """
        if not self._places.acquire(timeout=1.0):
            raise Unavailable(f"{self.title} is slow to answer just now; try again, or use an access token")
        try:
            yield
        except requests.RequestException as error:
            raise Unavailable(
                f"{self.title} does not answer; try again later, or use an access token"
            ) from error
        finally:
            self._places.release()

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A JSON object.

        :raises Unavailable: if there is none.
        """
        with self.talking(), requests.Session() as session:
            self.prepare(session)
            asked = {"Accept": "application/json", **(headers or {})}
            answer = session.get(url, headers=asked, allow_redirects=False)
        try:
            found = answer.json() if answer.status_code == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unavailable(
                f"{self.title} answers with something else than was asked ({answer.status_code})"
            )
        return found
