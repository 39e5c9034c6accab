"""Exceptions of ADON, by their cause.

::

    AdonError
    ├── InvalidInput       an input is wrong; has all problems that were found
    ├── NotFound           the named object does not exist
    ├── Conflict           the request contradicts the present state
    ├── NotAuthenticated   the requester is unknown
    ├── Forbidden          the requester is known and lacks the permission
    ├── TooManyRequests    the requester exceeds a rate limit
    └── Unavailable        a part of ADON, or a system it relies on, does not answer
        ├── DatabaseUnavailable   the database does not answer now
        └── UnknownSchema         the database was made by another version of ADON

The border modules translate: the command line prints one line per problem and exits with 2, the REST
API answers ``application/problem+json`` with :attr:`AdonError.status`.  Foreign exceptions are
translated where they enter, with their cause kept.

Every error and every problem has a ``code``.  Codes are stable and texts are not: programs and tests compare
codes.  A class has a default code, and an error can be raised with a more specific one:
``Conflict("flow", "has ended", code="flow-ended")``.  docs/reference/codes.md lists all codes.

A validator of a pydantic model raises :class:`~measurement.errors.InvalidValue` for one problem and
:class:`InvalidFields` for several; :mod:`adon.yamlfile` keeps their codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from measurement.errors import InvalidValue, MeasurementError

K = TypeVar("K")
S = TypeVar("S")
T = TypeVar("T")

INVALID = "invalid"
"""Code of a problem without a specific code."""
EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_DATABASE = 74
"""EX_IOERR of sysexits.h."""
_RELATIVE = re.compile(r"(?P<field>[\w-]+(?:\.[\w-]+)*): (?P<cause>.+)")


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem of an input.

    :param field: place of the problem, as a dotted path (``qspec.throughput.min``).
    :param cause: cause of the problem and the expected input, in words.
    :param file: the file it was read from, if any.
    :param line: the line in that file, counted from 1, if known.
    :param column: the column in that line, counted from 1, if known.
    :param code: the stable name of the cause.
    """

    field: str
    cause: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    code: str = INVALID

    def __str__(self) -> str:
        place = self.file or ""
        if place and self.line is not None:
            place = f"{place}:{self.line}"
        return ": ".join(part for part in (place, self.field, self.cause) if part)

    def under(self, field: str) -> Problem:
        """Return the problem with its field below ``field``."""
        return replace(self, field=f"{field}.{self.field}" if self.field else field)


class InvalidFields(InvalidValue):
    """Problems that a validator of a model found, with fields relative to the model.

    :param problems: each a :class:`Problem`, or a line ``field: cause``.
    """

    def __init__(self, problems: Iterable[str | Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            one if isinstance(one, Problem) else _parse_line(one, INVALID) for one in problems
        )
        super().__init__("\n".join(str(one) for one in self.problems))


def problems_of(error: ValueError, under: str = "") -> tuple[Problem, ...]:
    """Return the problems of a validator's error, one per line of a plain error.

    :param under: the field whose value the error is about.
    """
    if isinstance(error, InvalidFields):
        found = error.problems
    else:
        found = tuple(_parse_line(line, code_of(error)) for line in str(error).splitlines())
    return tuple(problem.under(under) for problem in found) if under else found


def read_each(items: Iterable[tuple[K, S]], read: Callable[[K, S], T], under: str = "") -> dict[K, T]:
    """Return the result of ``read`` for each item, by its key.

    :param under: the field that the items stand in.
    :raises InvalidFields: with the problems of all items that ``read`` refuses, each with its key as field.
    """
    found: dict[K, T] = {}
    wrong: list[Problem] = []
    for key, item in items:
        try:
            found[key] = read(key, item)
        except ValueError as error:
            wrong += problems_of(error, f"{under}.{key}" if under else str(key))
    if wrong:
        raise InvalidFields(wrong)
    return found


def code_of(error: BaseException) -> str:
    """Return the code of an error of ADON; ``invalid`` for other errors."""
    return error.code if isinstance(error, AdonError | MeasurementError | InvalidValue) else INVALID


def _parse_line(line: str, code: str) -> Problem:
    found = _RELATIVE.fullmatch(line)
    field, cause = ("", line) if found is None else found.groups()
    return Problem(field, cause, code=code)


class AdonError(Exception):
    """Base of ADON's exceptions.  :attr:`status` is the HTTP status of the REST API's answer.

    :param code: a more specific code than that of the class.
    """

    code = "internal-error"
    status = 500
    title = "Internal error"

    def __init__(self, *args: object, code: str | None = None) -> None:
        super().__init__(*args)
        if code not in (None, self.code):
            self.code = code


class InvalidInput(AdonError):
    """Invalid input of a user or a program, with all problems that were found."""

    code = "invalid-input"
    status = 422
    title = "Invalid input"

    def __init__(self, problems: Problem | Iterable[Problem], *, code: str | None = None) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems), code=code)

    @classmethod
    def of(cls, field: str, cause: str | Exception, code: str | None = None) -> InvalidInput:
        """Return the error of one problem.

        :param cause: the cause in words, or the error of another family with the cause.
        :param code: of the problem; by default that of the other family's error, else ``invalid``.
        """
        default = code_of(cause) if isinstance(cause, Exception) else INVALID
        return cls(Problem(field, str(cause), code=code or default))


class NotFound(AdonError):
    """Missing object."""

    code = "not-found"
    status = 404
    title = "Not found"

    def __init__(self, kind: str, name: str, *, code: str | None = None) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} {name!r}", code=code)


class Conflict(AdonError):
    """Contradiction of a request to the present state (an existing version, an ended flow)."""

    code = "conflict"
    status = 409
    title = "Conflict"

    def __init__(self, field: str, cause: str, *, code: str | None = None) -> None:
        self.field = field
        self.cause = cause
        super().__init__(f"{field}: {cause}", code=code)


class NotAuthenticated(AdonError):
    """Missing identity, or an identity that cannot be verified."""

    code = "not-authenticated"
    status = 401
    title = "Not authenticated"


class Forbidden(AdonError):
    """Refusal of an action of a known actor."""

    code = "forbidden"
    status = 403
    title = "Forbidden"


class TooManyRequests(AdonError):
    """Refusal of a request above a rate limit.

    :param wait_s: seconds until the next permitted request.
    """

    code = "too-many-requests"
    status = 429
    title = "Too many requests"

    def __init__(self, detail: str, wait_s: float = 1.0, *, code: str | None = None) -> None:
        self.wait_s = wait_s
        super().__init__(detail, code=code)


class Unavailable(AdonError):
    """Missing answer of a required system; a later attempt may succeed."""

    code = "unavailable"
    status = 503
    title = "Unavailable"


class DatabaseUnavailable(Unavailable):
    """Missing answer of a database."""

    code = "database-unavailable"


class UnknownSchema(Unavailable):
    """Schema of another version of ADON in a database."""

    code = "database-schema"


BY_STATUS: Mapping[object, type[AdonError]] = {
    **{one.status: one for one in AdonError.__subclasses__()},
    412: Conflict,
    502: Unavailable,
    504: Unavailable,
}
"""Class of an HTTP status; other statuses of client errors are :class:`InvalidInput`."""


def exit_status(error: AdonError) -> int:
    """Return the exit status of a process that ends with an error.

    :data:`EXIT_INPUT` is for input only: configuration, URL, or a database of another version.  A new process
    would refuse it again, so ``adon serve`` ends; it starts a process again that ended with another status.
    """
    if isinstance(error, DatabaseUnavailable):
        return EXIT_DATABASE
    return EXIT_INPUT if error.status < 500 or isinstance(error, UnknownSchema) else EXIT_FAILED
