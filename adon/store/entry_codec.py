"""Rules, groups and meters as plain JSON values, readable in the database, and back, exactly.

Actions carry their type's name (several of them have the same fields), what is not set is left out, 64-bit
numbers are hexadecimal text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

from adon.flowvisor.rules.action import (
    Action,
    Normal,
    Output,
    PopVlan,
    PushVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    SetVlan,
    ToController,
    ToGroup,
)
from adon.flowvisor.rules.match import MaskedNumber, Match
from adon.flowvisor.rules.rule import Bucket, Entry, GroupEntry, MeterEntry, Rule, Slot
from adon.flowvisor.topology.path import dpid_text

Json = dict[str, Any]
T = TypeVar("T")

ACTIONS: Mapping[str, type[Action]] = {
    "push_vlan": PushVlan,
    "pop_vlan": PopVlan,
    "set_vlan": SetVlan,
    "set_eth_src": SetEthSrc,
    "set_eth_dst": SetEthDst,
    "set_dscp": SetDscp,
    "set_queue": SetQueue,
    "group": ToGroup,
    "output": Output,
    "normal": Normal,
    "controller": ToController,
}
"""The names of the action types."""

_NAMES = {kind: name for name, kind in ACTIONS.items()}
_OPTIONAL = {"idle_timeout": 0, "hard_timeout": 0, "meter": None, "goto": None}
"""The fields of a rule that are left out where they say nothing, with what they are then."""


def encode_match(match: Match) -> Json:
    """The fields a match asks for."""
    body = {name: value for name, value in _shallow(match).items() if value not in (None, "")}
    return body if match.metadata is None else {**body, "metadata": str(match.metadata)}


def decode_match(body: Mapping[str, Any]) -> Match:
    """The match that :func:`encode_match` wrote.

    :raises ValueError: for a field this version does not know.
    """
    return _built(Match, {**body, "metadata": _masked(body.get("metadata"))})


def encode_action(action: Action) -> Json:
    """An action with its type's name."""
    return {"type": _NAMES[type(action)], **_shallow(action)}


def decode_action(body: Mapping[str, Any]) -> Action:
    """The action that :func:`encode_action` wrote.

    :raises ValueError: for a type or a field this version does not know.
    """
    kind = ACTIONS.get(str(body.get("type")))
    if kind is None:
        raise ValueError(f"there is no action {body.get('type')!r}")
    return _built(kind, {name: value for name, value in body.items() if name != "type"})


def encode_entry(entry: Entry) -> Json:
    """A rule, group or meter as JSON values."""
    match entry:
        case Rule():
            return _encode_rule(entry)
        case GroupEntry():
            ways = [_encode_bucket(bucket) for bucket in entry.buckets]
            return {
                "dpid": dpid_text(entry.dpid),
                "group": entry.number,
                "kind": entry.kind,
                "buckets": ways,
            }
        case MeterEntry():
            return {
                "dpid": dpid_text(entry.dpid),
                "meter_entry": entry.number,
                "rate": entry.rate,
                "burst": entry.burst,
                **({} if entry.owner is None else {"owner": entry.owner}),
            }


def decode_entry(body: Mapping[str, Any]) -> Entry:
    """What :func:`encode_entry` wrote.

    :raises ValueError: for a body that is none of this version's entries.
    """
    read: Callable[[Mapping[str, Any]], Entry] = _decode_rule
    if "group" in body:
        read = _decode_group
    elif "meter_entry" in body:
        read = _decode_meter
    try:
        return read(body)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a rule: {error!r}") from error


def cookie_text(cookie: int) -> str:
    """A cookie as 0x and 16 hex digits."""
    return f"0x{cookie:016x}"


@lru_cache(maxsize=8192)
def slot_text(slot: Slot) -> str:
    """What a switch identifies an entry by, as one text; equal slots have equal texts and no others."""
    if len(slot) == 3:
        dpid, kind, number = slot
        return f"{dpid_text(dpid)}/{kind}/{number}"
    dpid, table, priority, match = slot
    return f"{dpid_text(dpid)}/{table}/{priority}/{json.dumps(encode_match(match), sort_keys=True)}"


def _encode_rule(rule: Rule) -> Json:
    extra = {name: getattr(rule, name) for name, none in _OPTIONAL.items() if getattr(rule, name) != none}
    if rule.metadata is not None:
        extra["metadata"] = str(rule.metadata)
    return {
        "dpid": dpid_text(rule.dpid),
        "table": rule.table,
        "priority": rule.priority,
        "match": encode_match(rule.match),
        "actions": [encode_action(action) for action in rule.actions],
        "cookie": cookie_text(rule.cookie),
        **extra,
    }


def _decode_rule(body: Mapping[str, Any]) -> Rule:
    return Rule(
        dpid=int(body["dpid"], 16),
        table=body["table"],
        priority=body["priority"],
        match=decode_match(body["match"]),
        actions=tuple(decode_action(action) for action in body["actions"]),
        cookie=int(body["cookie"], 16),
        metadata=_masked(body.get("metadata")),
        **{name: body.get(name, none) for name, none in _OPTIONAL.items()},
    )


def _encode_bucket(bucket: Bucket) -> Json:
    actions = [encode_action(action) for action in bucket.actions]
    return {
        "actions": actions,
        **({} if bucket.watch_port is None else {"watch_port": bucket.watch_port}),
    }


def _decode_group(body: Mapping[str, Any]) -> GroupEntry:
    buckets = tuple(
        Bucket(tuple(decode_action(action) for action in way["actions"]), way.get("watch_port"))
        for way in body["buckets"]
    )
    return GroupEntry(int(body["dpid"], 16), body["group"], body["kind"], buckets)


def _decode_meter(body: Mapping[str, Any]) -> MeterEntry:
    number, owner = body["meter_entry"], body.get("owner")
    return MeterEntry(int(body["dpid"], 16), number, body["rate"], body["burst"], owner)


def _masked(text: str | None) -> MaskedNumber | None:
    if text is None:
        return None
    value, _, mask = text.partition("/")
    return MaskedNumber(int(value, 16), int(mask, 16))


def _shallow(value: Match | Action) -> Json:
    """The fields of a value, as they are: :func:`dataclasses.asdict` copies each, and a move waits for it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _built(kind: type[T], named: Mapping[str, Any]) -> T:
    try:
        return kind(**named)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from error
