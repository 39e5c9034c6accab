"""Rules, groups and meters as JSON values, and back.

Each value is an object with its type's name and the fields that differ from their defaults.  Several actions
have the same fields, so that their types cannot be recognised by them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, get_args

from adon.flowvisor.rules.action import Action
from adon.flowvisor.rules.match import MaskedNumber, Match
from adon.flowvisor.rules.rule import Bucket, Entry, GroupEntry, MeterEntry, Rule, Slot
from adon.flowvisor.topology.path import dpid_text

_KINDS = (Rule, GroupEntry, MeterEntry, Bucket, Match, MaskedNumber, *get_args(Action))
TYPES: Mapping[str, Any] = {kind.__name__: kind for kind in _KINDS}
"""The types of entries and their parts by name."""


def encode_entry(entry: Entry) -> dict[str, Any]:
    """Return a rule, group or meter as JSON values."""
    body: dict[str, Any] = _encode(entry)
    return body


def decode_entry(body: object) -> Entry:
    """Return the entry that :func:`encode_entry` wrote.

    :raises ValueError: for a body that is none of this version's entries.
    """
    try:
        entry = _decode(body)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a rule: {error!r}") from error
    if not isinstance(entry, Entry):
        raise ValueError(f"not a rule: {type(entry).__name__}")
    return entry


@lru_cache(maxsize=8192)
def slot_text(slot: Slot) -> str:
    """Return the slot of an entry as text; only equal slots have equal texts."""
    if len(slot) == 3:
        dpid, kind, number = slot
        return f"{dpid_text(dpid)}/{kind}/{number}"
    dpid, table, priority, match = slot
    return f"{dpid_text(dpid)}/{table}/{priority}/{json.dumps(_encode(match), sort_keys=True)}"


@cache
def _defaults(kind: Any) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, field.default) for field in fields(kind))


def _encode(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_encode(part) for part in value]
    kind: Any = type(value)
    if kind.__name__ not in TYPES:
        return value
    body = {"type": kind.__name__}
    for name, default in _defaults(kind):
        part = getattr(value, name)
        if part != default:
            body[name] = _encode(part)
    return body


def _decode(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_decode(part) for part in data)
    if not isinstance(data, dict):
        return data
    parts = {name: _decode(part) for name, part in data.items() if name != "type"}
    return TYPES[data["type"]](**parts)
