"""Scopes of tokens: a scope is a set of actions, written as ready-made sets and single actions.

A scope only limits: a token never allows an action that its owner's roles refuse.  The words are stored, so
that an action that a later version adds to a ready-made set is in the scopes that name the set.
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
"""Actions by the words that a scope may contain in addition to names of actions."""


def check_scope(words: Sequence[str], field: str = "scope") -> tuple[str, ...]:
    """Return a scope for storage: each word once, in order.

    :raises InvalidInput: for an empty scope, and for each unknown word.
    """
    known = {*READY_MADE, *(action.value for action in Action)}
    ready = ", ".join(READY_MADE)
    problems = [
        Problem(f"{field}.{place}", f"{word[:60]!r} is not a scope; expected {ready}, or an action")
        for place, word in enumerate(words)
        if word not in known
    ]
    if not words:
        problems = [Problem(field, f"is empty; expected {ready}, or the name of an action")]
    if problems:
        raise InvalidInput(problems)
    return tuple(dict.fromkeys(words))


def actions_of(words: Iterable[str]) -> frozenset[str] | None:
    """Return the actions of a scope; None for all.  Unknown words add no allowed action."""
    given = tuple(words)
    if ALL in given:
        return None
    found: set[str] = set()
    for word in given:
        found |= {action.value for action in READY_MADE[word]} if word in READY_MADE else {word}
    return frozenset(found)


def find_excess_actions(words: Iterable[str], limit: frozenset[str] | None) -> frozenset[str]:
    """Return the actions of a scope that exceed a limit: a user cannot delegate more than they have."""
    if limit is None:
        return frozenset()
    actions = actions_of(words)
    return (frozenset(action.value for action in Action) if actions is None else actions) - limit
