"""What a token is good for: a scope is a set of actions, written as ready-made sets and single actions.

A scope never gives anything: what its owner's roles do not allow, no token allows.  Kept are the words, so
that an action that a later version adds to a ready-made set is in the scopes that name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adon.access.policy import Action
from adon.errors import InvalidInput, Problem

ALL = "all"
_SUBMITTED = ("flow.", "job.", "reservation.")
_READ = ("health.read", "template.read", "path.read", "decision.read", "compute.read")

READY_MADE: Mapping[str, frozenset[Action]] = {
    ALL: frozenset(Action),
    "read": frozenset(action for action in Action if action.value.endswith(".read")) | {Action.WHAT_IF},
    "submit": frozenset(action for action in Action if action.startswith(_SUBMITTED + _READ)),
    "report": frozenset({Action.HEALTH_READ, Action.FLOW_READ, Action.FLOW_REPORT}),
    "metrics": frozenset({Action.HEALTH_READ, Action.METRICS_READ}),
}
"""By the words that a scope may hold beside the names of actions."""


def checked_scope(words: Sequence[str], field: str = "scope") -> tuple[str, ...]:
    """A scope as it is kept: each word once, in order.

    :raises InvalidInput: for an empty one, and for each word that is neither a ready-made set nor an action.
    """
    known = {*READY_MADE, *(action.value for action in Action)}
    ready = ", ".join(READY_MADE)
    problems = [
        Problem(f"{field}.{place}", f"{word[:60]!r} is no scope: {ready}, or the name of an action")
        for place, word in enumerate(words)
        if word not in known
    ]
    if not words:
        problems = [Problem(field, f"names nothing: {ready}, or the name of an action")]
    if problems:
        raise InvalidInput(problems)
    return tuple(dict.fromkeys(words))


def actions_of(words: Iterable[str]) -> frozenset[str] | None:
    """The actions of a scope; None for all.  A word that this version does not know stands for nothing."""
    given = tuple(words)
    if ALL in given:
        return None
    found: set[str] = set()
    for word in given:
        found |= {action.value for action in READY_MADE[word]} if word in READY_MADE else {word}
    return frozenset(found)


def beyond(words: Iterable[str], limit: frozenset[str] | None) -> frozenset[str]:
    """The actions of a scope that another does not hold: nobody hands on more than they have."""
    if limit is None:
        return frozenset()
    actions = actions_of(words)
    return (frozenset(action.value for action in Action) if actions is None else actions) - limit
