"""Whether somebody may register a template without a performance engineer ([ADON] 3.1, "self-service").

The policy says how similar an earlier specification must be and how well its flows must have fared; what is
asked for must be within what that one gives, and the name must be free or one's own.  Everything that is
compared was worked out elsewhere: here is only the answer, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adon.access.identity import Actor
from adon.access.policy import Permission


@dataclass(frozen=True, slots=True)
class Terms:
    """What the policy asks of a precedent.

    :param similarity: 0 to 1, at least.
    :param outcomes: of its flows, at least.
    :param kept: share of them that kept the QSpec, at least, by the lower end of its interval.
    """

    similarity: float
    outcomes: int
    kept: float


@dataclass(frozen=True, slots=True)
class Precedent:
    """A template of the catalog that a specification is like.

    :param excess: what is asked for beyond what this one gives, one text per field.
    """

    reference: str
    similarity: float
    outcomes: int
    kept: float
    excess: tuple[str, ...] = ()


def lacking(terms: Terms, precedent: Precedent) -> list[str]:
    """Why this precedent does not allow it; nothing if it does."""
    found = []
    if precedent.similarity < terms.similarity:
        found.append(f"similarity {precedent.similarity:.2f} is below {terms.similarity:.2f}")
    if precedent.outcomes < terms.outcomes:
        found.append(f"{precedent.outcomes} outcomes, and {terms.outcomes} are needed")
    elif precedent.kept < terms.kept:
        found.append(f"the QSpec was kept by {precedent.kept:.0%} at least, and {terms.kept:.0%} are needed")
    return [*found, *precedent.excess]


def may_register(
    actor: Actor, terms: Terms | None, precedents: Sequence[Precedent], owner: str | None
) -> Permission:
    """Whether an actor may register a template by self-service.

    :param terms: None where the policy does not allow self-service.
    :param precedents: the most similar first.
    :param owner: who saved the template that has this name already; None if the name is free.
    """
    if terms is None:
        return Permission(False, "self-service is off (policy.self_service): a performance engineer adds it")
    if owner is not None and owner != actor.name:
        return Permission(False, "name: a template of this name belongs to somebody else")
    for precedent in precedents:
        if not lacking(terms, precedent):
            similar = f"like {precedent.reference} ({precedent.similarity:.2f})"
            return Permission(
                True, f"{similar}, whose flows kept their QSpec by {precedent.kept:.0%} at least"
            )
    if not precedents:
        return Permission(False, "nothing in the catalog is like it")
    nearest = precedents[0]
    return Permission(False, f"like {nearest.reference}: {'; '.join(lacking(terms, nearest))}")
