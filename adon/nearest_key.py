"""What somebody may have meant who wrote a key that a model does not know, or a name that nothing has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from adon.errors import Problem

ALIKE = 0.7
"""How alike two words must be, by :func:`difflib.get_close_matches`: one letter of five may be wrong."""


def nearest_key(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """``; did you mean policy?``, or nothing if no key of the model is much like the last of the place.

    :param place: where the key stands, from the outermost on.
    """
    word = str(place[-1])
    known = {name for found in _at(model, place[:-1]) for name in _keys(found)}
    # The word itself may be a key of another kind that may stand there: whoever wrote it knows that one.
    return suggest(word, sorted(known - {word}))


def absent(kind: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that nothing has: ``there is no switch 'mu-egde'; did you mean mu-edge?``.

    :param known: the names that there are.
    """
    return f"there is no {kind} {name!r}{suggest(name, sorted(known))}"


def unknown_name(field: str, kind: str, name: str, known: Iterable[str]) -> Problem:
    """The problem of a field that names what there is not."""
    return Problem(field, absent(kind, name, known), code="unknown-name")


def suggest(text: str, known: Sequence[str]) -> str:
    """``; did you mean policy?``, or nothing if no known word is much like the text."""
    near = difflib.get_close_matches(text, known, n=1, cutoff=ALIKE)
    return f"; did you mean {near[0]}?" if near else ""


def _keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name


def _at(model: type[BaseModel], place: Sequence[str | int]) -> list[type[BaseModel]]:
    """The models that may stand at a place; several where a section has several kinds."""
    found: list[Any] = [model]
    for step in place:
        found = [one for annotation in found for one in _inside(annotation, step)]
    return [one for annotation in found for one in _kinds(annotation) if _is_model(one)]


def _inside(annotation: Any, step: str | int) -> Iterator[Any]:
    for kind in _kinds(annotation):
        if _is_model(kind):
            for name, field in kind.model_fields.items():
                if step == (field.alias or name):
                    yield field.annotation
        else:
            yield from get_args(kind)  # of a mapping or a sequence: what its members are


def _kinds(annotation: Any) -> Iterator[Any]:
    """What an annotation may be, without its conditions."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for one in get_args(annotation):
            yield from _kinds(one)
    else:
        yield annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
