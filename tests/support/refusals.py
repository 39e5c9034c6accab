"""Checks of refusals by code and field; tests do not compare the text of an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from adon import yamlfile
from adon.errors import Conflict, InvalidInput, Problem, problems_of


@dataclass
class Refusal:
    """The error that a block raised; it is set when the block has ended."""

    error: Exception = Exception("the block has not ended")  # noqa: RUF009


@contextmanager
def refused(expected: str | type[Exception], field: str | None = None) -> Iterator[Refusal]:
    """Check that a block raises an error with a code, or of a class.

    :param expected: the error's code, the code of one of its problems, or a class.
    :param field: that problem's field, as a dotted path; a class is compared with all problems.
    """
    refusal = Refusal()
    try:
        yield refusal
    except Exception as error:
        refusal.error = error
        found = _problems(error)
        if isinstance(expected, type):
            fits = isinstance(error, expected) and (field is None or any(one.field == field for one in found))
        else:
            own = field is None and getattr(error, "code", None) == expected
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
        case ValidationError():
            details = error.errors(include_url=False)
            return [
                one.under(".".join(map(str, detail["loc"]))) if detail["loc"] else one
                for detail in details
                for one in yamlfile.causes(detail)
            ]
        case ValueError():
            return list(problems_of(error))
        case _:
            return []
