"""Suggestions for unknown keys and names in input."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from adon.errors import Problem
from adon.json_schema import find_keys

ALIKE = 0.7
"""Minimum similarity of two words by :func:`difflib.get_close_matches`: one letter of five may differ."""


SHOWN = 20
"""Maximum number of known words in a message."""


def nearest_key(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Return the key of the model that is similar to the last key of the place; empty without one.

    :param place: keys from the root to the unknown key.
    """
    word = str(place[-1])
    # A key that is valid in another alternative at this place is not a typing error.
    return _nearest(word, [key for key in find_keys(model, place[:-1]) if key != word])


def suggest_key(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Return ``; did you mean policy?`` for a key that the model does not know, else ``; known are ...``."""
    nearest = nearest_key(model, place) if place else ""
    return f"; did you mean {nearest}?" if nearest else _list(find_keys(model, place[:-1]))


def describe_missing(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the cause for an unknown name: ``there is no switch 'mu-egde'; did you mean mu-edge?``.

    :param known: the existing names.
    """
    names = sorted(known)
    return f"there is no {kind} {name!r}{suggest(name, names) or _list(names)}"


def unknown_name_problem(field: str, kind: str, name: str, known: Iterable[str]) -> Problem:
    """Return the problem of a field with an unknown name."""
    return Problem(field, describe_missing(kind, name, known), code="unknown-name")


def suggest(text: str, known: Sequence[str]) -> str:
    """Return ``; did you mean policy?``, or an empty text without a similar known word."""
    nearest = _nearest(text, known)
    return f"; did you mean {nearest}?" if nearest else ""


def _list(known: Sequence[str]) -> str:
    return f"; known are {', '.join(known[:SHOWN])}" if known else "; none is known"


def _nearest(text: str, known: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(text, known, n=1, cutoff=ALIKE)), "")
