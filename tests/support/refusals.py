"""Checks of refusals by code and field; tests do not compare the text of an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from adon import yamlfile
from adon.errors import INVALID, Conflict, InvalidFields, InvalidInput, NotFound, Problem

_FIELD = re.compile(r"[\w.\[\]-]+")


@dataclass
class Refusal:
    """The error that a block raised; it is set when the block has ended."""

    error: Exception = Exception("the block has not ended")  # noqa: RUF009


@contextmanager
def refused(
    expected: str | type[Exception], field: str | None = None, line: int | None = None
) -> Iterator[Refusal]:
    """Check that a block raises an error with a code, or of a class.

    :param expected: the error's code, the code of one of its problems, or a class.
    :param field: that problem's field, as a dotted path; a class is compared with all problems.  The field of
        an error that is only a text is what it has before a colon: of ``a.toml: known.0.may: is empty`` it is
        ``known.0.may`` or ``a.toml``.  The field of :class:`NotFound` is the kind.
    :param line: that problem's line in its file; None: any.
    """
    refusal = Refusal()
    try:
        yield refusal
    except Exception as error:
        refusal.error = error
        found = [one for one in _problems(error) if line in (None, one.line)]
        if isinstance(expected, type):
            fits = isinstance(error, expected) and (field is None or any(one.field == field for one in found))
        else:
            own = field is None and line is None and getattr(error, "code", None) == expected
            fits = own or any(one.code == expected and field in (None, one.field) for one in found)
        if fits:
            return
        codes = [(getattr(error, "code", None), None), *((one.code, one.field) for one in found)]
        raise AssertionError(f"expected {(expected, field)}, got {codes}: {error!r}") from error
    raise AssertionError(f"expected {(expected, field)}, but nothing was refused")


def _problems(error: Exception) -> list[Problem]:
    match error:
        case InvalidInput():
            return list(error.problems)
        case Conflict():
            return [Problem(error.field, error.cause, code=error.code)]
        case NotFound():
            return [Problem(error.kind, str(error), code=error.code)]
        case InvalidFields():
            return list(error.problems)
        case ValidationError():
            details = error.errors(include_url=False)
            return [
                one.under(".".join(map(str, detail["loc"]))) if detail["loc"] else one
                for detail in details
                for one in yamlfile.causes(detail)
            ]
        case _:
            code = getattr(error, "code", INVALID)
            return [problem for line in str(error).splitlines() for problem in _named(line, code)]


def _named(line: str, code: str) -> Iterator[Problem]:
    *names, cause = line.split(": ")
    fields = [name for name in names if _FIELD.fullmatch(name)]
    yield from (Problem(field, cause, code=code) for field in fields or [""])
