"""Templates of the catalog that a specification is like, and how they fared."""

from __future__ import annotations

from dataclasses import dataclass

from adon.errors import NotFound
from adon.templates_catalog.model import Template
from adon.templates_catalog.similarity import Similarity, Success, excess, ranked, success
from apps.rest.api.templates import latest
from apps.rest.services import services

SHOWN = 5
"""The most similar ones; of others nobody wants to know."""
RECENT = 1000
"""So many of a template's latest flows tell how it fares."""


@dataclass(frozen=True, slots=True)
class Found:
    """A template of the catalog: how like it is, how its flows fared, what would be more than it gives."""

    similarity: Similarity
    success: Success
    excess: tuple[str, ...]


def similar(template: Template) -> list[Found]:
    """The templates that a specification is like, the most similar first."""
    known = {one.reference: one for one in latest()}
    store = services().store
    return [
        Found(
            one,
            success(one.reference, store.experience(known[one.reference].name, RECENT)),
            excess(template, known[one.reference]),
        )
        for one in ranked(template, known.values())[:SHOWN]
    ]


def next_version(name: str) -> int:
    """The version that a template would be saved as."""
    try:
        return services().store.template(name).template.version + 1
    except NotFound:
        return 1
