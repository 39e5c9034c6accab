"""Files of the user: errors for missing ones, and the check of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from adon.errors import InvalidInput, Problem
from adon.nearest_key import describe_missing
from apps.cli.common import print_json

Named = TypeVar("Named", str, Path)


def nothing_is(argument: str, name: str, forms: str, kind: str, known: Sequence[str]) -> InvalidInput:
    """Return the error for an unknown name: a missing file, or a name with the nearest known one.

    :param argument: that it was given as.
    :param forms: what it might have been but for a name of a ``kind``.
    :param known: the names of that kind that there are.
    """
    if Path(name).suffix or len(Path(name).parts) > 1:
        return InvalidInput.of(argument, f"{name}: there is no such file")
    cause = f"{name} is not a {forms}, and {describe_missing(kind, name, known)}"
    return InvalidInput.of(argument, cause, "unknown-name")


def check_all(
    argument: str,
    files: Sequence[Named] | None,
    check: Callable[[Named], tuple[Mapping[str, object], str]],
    *,
    as_json: bool,
) -> None:
    """Check each file and print the valid ones; collect the problems of the others.

    :param check: returns the facts about a valid file, as JSON and in words.
    :raises InvalidInput: with every problem of every file, or if there is no file.
    """
    if not files:
        raise InvalidInput.of(argument, "is required; at least one file")
    problems: list[Problem] = []
    good: list[Mapping[str, object]] = []
    for file in files:
        try:
            known, text = check(file)
        except InvalidInput as error:
            problems += error.problems
            continue
        good.append({"file": str(file), **known})
        if not as_json:
            typer.echo(f"{file}: {text}")
    if problems:
        raise InvalidInput(problems)
    if as_json:
        print_json(good)
