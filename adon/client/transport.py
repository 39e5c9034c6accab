"""How a client's requests reach the API, and how its answers come back.

Over HTTP, the token goes into the Authorization header and nowhere else: redirects are not followed, and
neither ``.netrc`` nor a proxy from the environment is asked.  A program that holds the application itself
calls it without a socket (``apps.rest.authentication``); the client does not see the difference.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import requests

from adon.api.base import PREFIX
from adon.errors import InvalidInput, Unavailable

TIMEOUT = 30.0
"""Seconds to wait for an answer; the web process itself waits 10 for the controller."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API answered, whole.

    :param headers: names in lower case.
    """

    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """The content's value.

        :raises ValueError: if it is not JSON.
        """
        return json.loads(self.content)

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode(errors="replace")


class Transport(Protocol):
    """Carries requests of one actor to the API."""

    @property
    def base(self) -> str:
        """The API's address, as people are told it."""

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request and its answer, whatever its status; a query's None is left out.

        :param path: below the API's root (``/flows``).
        :raises Unavailable: if there is no answer.
        """

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[bytes]:
        """The lines of an answer that goes on.

        :raises Unavailable: if there is no answer, or it breaks off.
        :raises Refused: with any other answer than 200.
        """


class Refused(Exception):
    """A stream was answered with something else."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class HttpTransport:
    """Over HTTP, with an access token; several threads may use it, each over a connection of its own.

    :param timeout: seconds to wait for a connection, and for each part of an answer.
    :param ca_file: certificates to trust (PEM) instead of the usual ones.
    """

    def __init__(
        self, url: str, token: str | None, *, timeout: float = TIMEOUT, ca_file: str | None = None
    ) -> None:
        self.base = url.rstrip("/") + PREFIX
        self._token = token
        self._timeout = timeout
        self._ca_file = ca_file
        self._own = threading.local()

    @property
    def _session(self) -> requests.Session:
        found: requests.Session | None = getattr(self._own, "session", None)
        if found is None:
            found = self._own.session = requests.Session()
            found.trust_env = False
            found.verify = True if self._ca_file is None else self._ca_file
            if self._token is not None:
                found.headers["Authorization"] = f"Bearer {self._token}"
        return found

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """See :meth:`Transport.send`."""
        try:
            answer = self._session.request(
                method,
                self.base + path,
                json=body,
                params=query,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.exceptions.SSLError as error:
            raise Unavailable(f"{self.base}: {_cause(error)}") from error
        except requests.ConnectionError as error:
            raise Unavailable(f"nothing answers at {self.base}; is 'adon serve' running?") from error
        except requests.exceptions.InvalidURL as error:
            raise InvalidInput.of("url", f"{self.base[:200]!r} is no address of a server") from error
        except (requests.RequestException, OSError) as error:  # OSError: certificates that cannot be read
            raise Unavailable(f"{self.base}: {_cause(error)}") from error
        return _answer(answer)

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[bytes]:
        """See :meth:`Transport.lines`."""
        try:
            with self._session.get(
                self.base + path,
                params=query,
                headers=headers,
                timeout=self._timeout,
                stream=True,
                allow_redirects=False,
            ) as answer:
                if answer.status_code != 200:
                    raise Refused(_answer(answer))
                yield from answer.iter_lines(chunk_size=1)
        except requests.RequestException as error:
            raise Unavailable(f"{self.base}: {_cause(error)}") from error


def _answer(answer: requests.Response) -> Answer:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Answer(answer.status_code, answer.content, headers)


def _cause(error: Exception) -> str:
    match error:
        case requests.Timeout():
            return "does not answer in time"
        case requests.exceptions.InvalidSchema() | requests.exceptions.MissingSchema():
            return "is not an http:// or https:// address"
        case requests.exceptions.InvalidHeader():
            return "the token holds what no token can"
        case requests.exceptions.SSLError():
            return "its certificate is not trusted; ADON_CA_FILE names certificates to trust"
        case requests.RequestException():
            return type(error).__name__
    return str(error)
