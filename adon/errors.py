"""Every exception of ADON's own, as one family, sorted by whose fault it is.

::

    AdonError
    ├── InvalidInput       the caller wrote something wrong; carries every problem found
    ├── NotFound           the caller named something that does not exist
    ├── Conflict           the request contradicts what is already there
    ├── NotAuthenticated   we do not know who asks
    ├── Forbidden          we know, and the answer is no
    ├── TooManyRequests    they ask more often than one may
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
"""The code of a problem that needs no code of its own."""
EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_DATABASE = 74
"""EX_IOERR of sysexits.h."""
_RELATIVE = re.compile(r"(?P<field>[\w-]+(?:\.[\w-]+)*): (?P<cause>.+)")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    :param field: where, as a dotted path (``qspec.throughput.min``).
    :param cause: what is wrong with it, in words a person can act on.
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
        """The same problem, seen from the value that has this one as ``field``."""
        return replace(self, field=f"{field}.{self.field}" if self.field else field)


class InvalidFields(InvalidValue):
    """All problems that a validator of a model found, with fields relative to the model.

    :param problems: each a :class:`Problem`, or a line ``field: cause``.
    """

    def __init__(self, problems: Iterable[str | Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            one if isinstance(one, Problem) else _parse_line(one, INVALID) for one in problems
        )
        super().__init__("\n".join(str(one) for one in self.problems))


def problems_of(error: ValueError, under: str = "") -> tuple[Problem, ...]:
    """The problems that a validator's error reports, one per line of a plain error.

    :param under: the field whose value the error is about.
    """
    if isinstance(error, InvalidFields):
        found = error.problems
    else:
        found = tuple(_parse_line(line, code_of(error)) for line in str(error).splitlines())
    return tuple(problem.under(under) for problem in found) if under else found


def read_each(items: Iterable[tuple[K, S]], read: Callable[[K, S], T], under: str = "") -> dict[K, T]:
    """Return what ``read`` makes of each item, by its key.

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
    """The code of an error of our families; ``invalid`` for any other."""
    return error.code if isinstance(error, AdonError | MeasurementError | InvalidValue) else INVALID


def _parse_line(line: str, code: str) -> Problem:
    found = _RELATIVE.fullmatch(line)
    field, cause = ("", line) if found is None else found.groups()
    return Problem(field, cause, code=code)


class AdonError(Exception):
    """Root of the family.  :attr:`status` is the HTTP status the REST border answers with.

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
    """Something that a person or a program wrote is wrong; all problems found are reported."""

    code = "invalid-input"
    status = 422
    title = "Invalid input"

    def __init__(self, problems: Problem | Iterable[Problem], *, code: str | None = None) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems), code=code)

    @classmethod
    def of(cls, field: str, cause: str | Exception, code: str | None = None) -> InvalidInput:
        """One problem, for the common case.

        :param cause: in words, or the error of another family that says it.
        :param code: of the problem; by default that of the other family's error, else ``invalid``.
        """
        default = code_of(cause) if isinstance(cause, Exception) else INVALID
        return cls(Problem(field, str(cause), code=code or default))


class NotFound(AdonError):
    """There is no such thing."""

    code = "not-found"
    status = 404
    title = "Not found"

    def __init__(self, kind: str, name: str, *, code: str | None = None) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} {name!r}", code=code)


class Conflict(AdonError):
    """The request contradicts the present state (a version that exists, a flow that has ended)."""

    code = "conflict"
    status = 409
    title = "Conflict"

    def __init__(self, field: str, cause: str, *, code: str | None = None) -> None:
        self.field = field
        self.cause = cause
        super().__init__(f"{field}: {cause}", code=code)


class NotAuthenticated(AdonError):
    """No identity, or one that cannot be verified."""

    code = "not-authenticated"
    status = 401
    title = "Not authenticated"


class Forbidden(AdonError):
    """The actor is known and may not do this."""

    code = "forbidden"
    status = 403
    title = "Forbidden"


class TooManyRequests(AdonError):
    """Somebody asks more often than one may.

    :param wait_s: seconds until it may be tried again.
    """

    code = "too-many-requests"
    status = 429
    title = "Too many requests"

    def __init__(self, detail: str, wait_s: float = 1.0, *, code: str | None = None) -> None:
        self.wait_s = wait_s
        super().__init__(detail, code=code)


class Unavailable(AdonError):
    """A part that is needed does not answer now; trying again later may help."""

    code = "unavailable"
    status = 503
    title = "Unavailable"


class DatabaseUnavailable(Unavailable):
    """A database does not answer now."""

    code = "database-unavailable"


class UnknownSchema(Unavailable):
    """A database has the schema of another version of ADON."""

    code = "database-schema"


BY_STATUS: Mapping[object, type[AdonError]] = {
    **{one.status: one for one in AdonError.__subclasses__()},
    412: Conflict,
    502: Unavailable,
    504: Unavailable,
}
"""The class that an HTTP status stands for; other statuses of a client's error are :class:`InvalidInput`."""


def exit_status(error: AdonError) -> int:
    """Return the exit status of a process that ends with an error.

    :data:`EXIT_INPUT` is for input only: configuration, URL, or a database of another version.  A new process
    would refuse it again, so ``adon serve`` ends; it starts a process again that ended with another status.
    """
    if isinstance(error, DatabaseUnavailable):
        return EXIT_DATABASE
    return EXIT_INPUT if error.status < 500 or isinstance(error, UnknownSchema) else EXIT_FAILED
