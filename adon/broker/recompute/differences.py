"""Two records of a decision, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adon.broker.decision import Decision

ABSENT = "nothing"
"""What is shown where only one of the two has something."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not the same: ``candidates.1.q``, as it was recorded and as it is worked out now."""

    field: str
    recorded: object
    again: object


def differences(recorded: Decision, again: Decision) -> tuple[Difference, ...]:
    """Where two records differ, in the order of the fields; nothing if they are equal in every bit."""
    return tuple(_different("", _plain(recorded), _plain(again)))


def _plain(decision: Decision) -> Any:
    return json.loads(json.dumps(decision.body()))


def _different(field: str, one: Any, other: Any) -> Iterator[Difference]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            yield from _different(_below(field, name), one.get(name, ABSENT), other.get(name, ABSENT))
    elif isinstance(one, list) and isinstance(other, list):
        for place in range(max(len(one), len(other))):
            left, right = (each[place] if place < len(each) else ABSENT for each in (one, other))
            yield from _different(_below(field, str(place)), left, right)
    elif one != other:
        yield Difference(field, one, other)


def _below(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name
