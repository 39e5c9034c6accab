"""Templates of the catalog that a specification is like, how they fared, and whether that is enough.

What is compared comes from the databases; whether it is enough is said by :mod:`adon.access.self_service`.
"""

from __future__ import annotations

from dataclasses import dataclass

from adon.access.policy import Permission
from adon.access.self_service import Precedent, Terms, may_register
from adon.errors import NotFound
from adon.templates_catalog.model import Template
from adon.templates_catalog.similarity import Similarity, Success, excess, ranked, success
from apps.rest.api.templates import latest
from apps.rest.guard import requester
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

    @property
    def precedent(self) -> Precedent:
        """As the policy looks at it."""
        fared = self.success
        return Precedent(
            self.similarity.reference, self.similarity.value, fared.outcomes, fared.at_least, self.excess
        )


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


def permission(template: Template, found: list[Found]) -> Permission:
    """Whether who asks may register this by self-service, and why."""
    wanted = services().self_service
    terms = None if wanted is None else Terms(wanted.similarity, wanted.outcomes, wanted.kept)
    return may_register(requester(), terms, [one.precedent for one in found], _owner(template.name))


def _owner(name: str) -> str | None:
    """Who saved a template of this name, or, of several, somebody who is not the one who asks."""
    versions = [saved for saved in services().store.templates() if saved.template.name == name]
    others = [saved.author for saved in versions if saved.author != requester().name]
    return others[0] if others else versions[0].author if versions else None


def next_version(name: str) -> int:
    """The version that a template would be saved as."""
    try:
        return services().store.template(name).template.version + 1
    except NotFound:
        return 1
