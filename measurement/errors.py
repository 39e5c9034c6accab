"""Every exception of the measurement plane, and the one place where foreign ones are translated.

::

    MeasurementError
    ├── Stopped              we are shutting down; nothing is wrong
    ├── ArchiveError         the measurement archive cannot be used
    │   ├── ArchiveUnavailable   its database does not answer now            (temporary)
    │   └── LeaseLost        another collector has taken over: nothing more may be written
    ├── ExchangeError        a file of values cannot be read or written
    └── PointError           something about one measurement point; names the host
        ├── PointRefused     nobody listens there, or no route to it             (temporary)
        ├── PointTimeout     it does not answer in time                          (temporary)
        ├── PointUnavailable it answers that it cannot now: 429, 502, 503, 504   (temporary)
        ├── PointUntrusted   its certificate is not the one we were told to trust
        ├── Rejected         it answers, and refuses this request for good
        ├── BadAnswer        it answers something that the API does not allow
        │   └── AnswerTooLarge   and it would not end
        └── RunFailed        the run ended without a result

This package does not know ADON, hence a family of its own.  The texts go to logs and screens: they are
one line, shortened, and free of keys and tokens (a pScheduler ``_key`` travels in a URL's query).

Each class has a ``code`` that is stable, while texts may change. An error can be raised with a more specific
code (``RunFailed(host, cause, code="run-canceled")``). docs/reference/codes.md lists all codes.
:class:`InvalidValue` is the ``ValueError`` with a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

SHOWN = 300
_SECRET = re.compile(r"(_?key[\"']?\s*[=:]\s*[\"']?)[^&\"'\s,}]+", re.IGNORECASE)
_BEARER = re.compile(r"(Bearer\s+)[^\s\"',}]+", re.IGNORECASE)
_PIN_DIFFERS = "Fingerprints did not match"  # urllib3's words; it has no exception of its own for this


def shorten(text: str, limit: int = SHOWN) -> str:
    """Foreign text made fit for one log line: no control characters, no keys, at most ``limit`` long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    line = _BEARER.sub(r"\1***", _SECRET.sub(r"\1***", line))
    return line if len(line) <= limit else line[: limit - 1] + "…"


class InvalidValue(ValueError):
    """A value is invalid.

    :param text: what is wrong; ``field: cause`` names the field. Each further line is a further problem.
    :ivar code: the stable code of the cause.
    """

    def __init__(self, text: str, code: str = "invalid") -> None:
        self.code = code
        super().__init__(text)


def locate(place: object, error: ValueError) -> InvalidValue:
    """The error with the file, line or object that holds the value; it keeps its code."""
    return InvalidValue(f"{place}: {error}", error.code if isinstance(error, InvalidValue) else "invalid")


class MeasurementError(Exception):
    """Root of the family.

    :param code: a more specific code than that of the class.
    """

    code = "measurement-error"

    def __init__(self, *args: object, code: str | None = None) -> None:
        super().__init__(*args)
        if code is not None:
            self.code = code


class Stopped(MeasurementError):
    """The program is shutting down, so a wait was given up."""

    code = "stopped"


class ArchiveError(MeasurementError):
    """The archive cannot be opened, read or written, or another version of this program wrote it."""

    code = "archive-error"


class ArchiveUnavailable(ArchiveError):
    """The archive's database does not answer now; the same request may succeed later."""

    code = "archive-unavailable"


class LeaseLost(ArchiveError):
    """Another holder has the lease under which this one wrote; nothing was written."""

    code = "lease-lost"


class ExchangeError(MeasurementError):
    """A file of values to import, or to export to, is of no use; the archive is as it was."""

    code = "exchange-error"


class PointError(MeasurementError):
    """Something is wrong with, or at, one measurement point.

    :ivar host: the point, as ``host:port``.
    :ivar cause: what is wrong, in words.
    """

    code = "point-error"
    temporary = False

    def __init__(self, host: str, cause: str, *, code: str | None = None) -> None:
        self.host = host
        self.cause = shorten(cause)
        super().__init__(f"{host}: {self.cause}", code=code)


class PointRefused(PointError):
    """No connection could be made, or it broke."""

    code = "point-refused"
    temporary = True


class PointTimeout(PointError):
    """No answer, or no complete one, within the time allowed."""

    code = "point-timeout"
    temporary = True


class PointUnavailable(PointError):
    """The web server answers that the service behind it does not (429, 502, 503, 504)."""

    code = "point-unavailable"
    temporary = True


class PointUntrusted(PointError):
    """TLS failed: the certificate is not signed by, or is not, the one configured."""

    code = "point-untrusted"


class Rejected(PointError):
    """The point understood the request and refuses it.

    :ivar status: the HTTP status; 404 may mean "not yet" (see the client).
    """

    code = "rejected"

    def __init__(self, host: str, status: int, cause: str, *, code: str | None = None) -> None:
        self.status = status
        super().__init__(host, f"HTTP {status}: {cause}", code=code)


class BadAnswer(PointError):
    """The answer is not what the API promises: HTML, a missing field, NaN, a negative throughput."""

    code = "bad-answer"


class AnswerTooLarge(BadAnswer):
    """The answer was longer than what is read of one; a narrower question may have a shorter one."""

    code = "answer-too-large"


class RunFailed(PointError):
    """The run ended without a result; the cause is the point's own."""

    code = "run-failed"


def _chain(error: BaseException) -> Iterator[BaseException]:
    # requests wraps urllib3 wraps OSError, by argument, by ``reason`` and by context.
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        found = pending.pop()
        if isinstance(found, BaseException) and id(found) not in seen:
            seen.add(id(found))
            yield found
            pending += [*found.args, getattr(found, "reason", None), found.__cause__, found.__context__]


def _system_cause(error: BaseException) -> str:
    # The wrappers' own texts hold the URL, and with it the key; the innermost OSError's does not.
    import requests

    for found in _chain(error):
        if str(found).startswith(_PIN_DIFFERS):
            return "it is not the one pinned"
        if isinstance(found, OSError) and found.strerror and not isinstance(found, requests.RequestException):
            return str(getattr(found, "verify_message", "") or found.strerror).lower()
    return type(error).__name__


def translate(host: str, error: requests.RequestException) -> PointError:
    """The member of this family that says what ``requests`` found."""
    import requests  # here, so that programs that only raise InvalidValue do not load it

    if isinstance(error, requests.exceptions.SSLError):
        return PointUntrusted(host, f"certificate not trusted: {_system_cause(error)}")
    if isinstance(error, requests.Timeout):
        return PointTimeout(host, "no answer in time")
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return BadAnswer(host, "the answer breaks off")
    if isinstance(error, requests.ConnectionError):
        return PointRefused(host, f"the connection failed: {_system_cause(error)}")
    return BadAnswer(host, f"cannot be asked: {type(error).__name__}")
