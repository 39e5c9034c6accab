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

The border modules translate: the command line prints one line per problem and exits with 2, the REST
API answers ``application/problem+json`` with :attr:`AdonError.status`.  Foreign exceptions are
translated where they enter, with their cause kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    :param field: where, as a dotted path (``qspec.throughput.min``).
    :param cause: what is wrong with it, in words a person can act on.
    :param file: the file it was read from, if any.
    :param line: the line in that file, counted from 1, if known.
    :param column: the column in that line, counted from 1, if known.
    """

    field: str
    cause: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        return f"{place}{self.field}: {self.cause}" if self.field else f"{place}{self.cause}"


class AdonError(Exception):
    """Root of the family.  :attr:`status` is the HTTP status the REST border answers with."""

    status = 500
    title = "Internal error"


class InvalidInput(AdonError):
    """Something that a person or a program wrote is wrong; all problems found are reported."""

    status = 422
    title = "Invalid input"

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))

    @classmethod
    def of(cls, field: str, cause: str) -> InvalidInput:
        """One problem, for the common case."""
        return cls(Problem(field, cause))


class NotFound(AdonError):
    """There is no such thing."""

    status = 404
    title = "Not found"

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} {name!r}")


class Conflict(AdonError):
    """The request contradicts the present state (a version that exists, a flow that has ended)."""

    status = 409
    title = "Conflict"

    def __init__(self, field: str, cause: str) -> None:
        self.field = field
        self.cause = cause
        super().__init__(f"{field}: {cause}")


class NotAuthenticated(AdonError):
    """No identity, or one that cannot be verified."""

    status = 401
    title = "Not authenticated"


class Forbidden(AdonError):
    """The actor is known and may not do this."""

    status = 403
    title = "Forbidden"


class TooManyRequests(AdonError):
    """Somebody asks more often than one may.

    :param wait_s: seconds until it may be tried again.
    """

    status = 429
    title = "Too many requests"

    def __init__(self, detail: str, wait_s: float = 1.0) -> None:
        self.wait_s = wait_s
        super().__init__(detail)


class Unavailable(AdonError):
    """A part that is needed does not answer now; trying again later may help."""

    status = 503
    title = "Unavailable"
