"""What somebody may have meant who wrote a key that a model does not know, or a name that nothing has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from adon.errors import Problem
from adon.json_schema import find_keys

ALIKE = 0.7
"""How alike two words must be, by :func:`difflib.get_close_matches`: one letter of five may be wrong."""


SHOWN = 20
"""Known words that a message lists at most."""


def nearest_key(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Return the key that was meant; empty if no key of the model is much like the last of the place.

    :param place: where the key stands, from the outermost on.
    """
    word = str(place[-1])
    # The word itself may be a key of another kind that may stand there: whoever wrote it knows that one.
    return _nearest(word, [key for key in find_keys(model, place[:-1]) if key != word])


def known_keys(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Return ``; did you mean policy?`` for a key that the model does not know, else ``; known are ...``."""
    nearest = nearest_key(model, place) if place else ""
    return f"; did you mean {nearest}?" if nearest else _list(find_keys(model, place[:-1]))


def absent(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the cause for a name that nothing has: ``there is no switch 'mu-egde'; did you mean mu-edge?``.

    :param known: the names that there are.
    """
    names = sorted(known)
    return f"there is no {kind} {name!r}{suggest(name, names) or _list(names)}"


def unknown_name(field: str, kind: str, name: str, known: Iterable[str]) -> Problem:
    """Return the problem of a field that names what there is not."""
    return Problem(field, absent(kind, name, known), code="unknown-name")


def suggest(text: str, known: Sequence[str]) -> str:
    """``; did you mean policy?``, or nothing if no known word is much like the text."""
    nearest = _nearest(text, known)
    return f"; did you mean {nearest}?" if nearest else ""


def _list(known: Sequence[str]) -> str:
    return f"; known are {', '.join(known[:SHOWN])}" if known else "; none is known"


def _nearest(text: str, known: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(text, known, n=1, cutoff=ALIKE)), "")
