"""What somebody reads of a drawn page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component


def text(drawn: Any) -> str:
    """Every word of it, in order; a space is a space, whether lines may be broken there or not."""
    return " ".join(_words(drawn)).replace("\N{NO-BREAK SPACE}", " ")


def parts(drawn: Any) -> Iterator[Component]:
    """Every component of it."""
    if isinstance(drawn, Component):
        yield drawn
        yield from parts(getattr(drawn, "children", None))
    elif isinstance(drawn, list | tuple):
        for one in drawn:
            yield from parts(one)


def links(drawn: Any) -> list[str]:
    """Where its links lead."""
    return [one.href for one in parts(drawn) if getattr(one, "href", None)]


def classes(drawn: Any) -> set[str]:
    """The CSS classes that it has: ``empty``, ``notice`` with ``wait`` or ``bad``, and others."""
    return {name for one in parts(drawn) for name in (getattr(one, "className", None) or "").split()}


def _words(drawn: Any) -> Iterator[str]:
    if isinstance(drawn, str):
        yield drawn
    elif isinstance(drawn, Component):
        yield from _words(getattr(drawn, "children", None))
    elif isinstance(drawn, list | tuple):
        for one in drawn:
            yield from _words(one)
