"""What a run says of itself, as JSON: ``run.json``.  Times are RFC 3339 in UTC."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from adon import yamlfile
from adon.errors import InvalidInput, Problem
from adon.experiments.results import About

FORMAT = "adon-experiment-run/1"


@cache
def _adapter() -> TypeAdapter[About]:
    return TypeAdapter(About)


def to_text(about: About) -> str:
    """The file's text."""
    data = _adapter().dump_python(about, mode="json")
    return json.dumps({"format": FORMAT, **data}, indent=1) + "\n"


def from_text(text: str, file: str = "run.json") -> About:
    """What a file's text says.

    :raises InvalidInput: if it is no such file; it names the field.
    """
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise InvalidInput(Problem("", f"is not JSON: {error}", file)) from error
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise InvalidInput(Problem("format", f"is not {FORMAT!r}", file))
    try:
        return _adapter().validate_python(data)
    except ValidationError as error:
        raise InvalidInput(yamlfile.problems(error, data, file)) from error
