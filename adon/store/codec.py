"""From the core's values to plain JSON values and back, exactly.

Models go through pydantic, so that a new field with a default reads old bodies.  Rules have a form of
their own, readable in the database: actions carry their type's name (two of them have the same
fields), unset match fields are left out, 64-bit numbers are hexadecimal text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.flowvisor.rule import (
    Action,
    Match,
    Output,
    PopVlan,
    PushVlan,
    Rule,
    SetEthDst,
    SetEthSrc,
    Slot,
    ToController,
    dpid_text,
)
from adon.templates_catalog.model import Template

Json = dict[str, Any]
T = TypeVar("T")

ACTIONS: Mapping[str, type[Action]] = {
    "push_vlan": PushVlan,
    "pop_vlan": PopVlan,
    "set_eth_src": SetEthSrc,
    "set_eth_dst": SetEthDst,
    "output": Output,
    "controller": ToController,
}
"""The names of the action types."""

_NAMES = {kind: name for name, kind in ACTIONS.items()}


@cache
def _flows() -> TypeAdapter[Flow]:
    return TypeAdapter(Flow)


@cache
def _decisions() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)


def encode_flow(flow: Flow) -> Json:
    """A flow as JSON values; its request is written with units, as at the border."""
    body: Json = _flows().dump_python(flow, mode="json")
    return body


def decode_flow(body: Mapping[str, Any]) -> Flow:
    """The flow that :func:`encode_flow` wrote.

    :raises ValueError: for a body that is no flow of this version.
    """
    return _flows().validate_python(body)


def encode_decision(decision: Decision) -> Json:
    """A decision as JSON values: :meth:`Decision.body`."""
    return decision.body()


def decode_decision(body: Mapping[str, Any]) -> Decision:
    """The decision whose body this is; ``"inf"`` is a number again where a number belongs.

    :raises ValueError: for a body that is no decision of this version.
    """
    return _decisions().validate_python(body)


def encode_template(template: Template) -> Json:
    """A template version as JSON values, quantities with their units."""
    return template.model_dump(mode="json")


def decode_template(body: Mapping[str, Any]) -> Template:
    """The template that :func:`encode_template` wrote.

    :raises ValueError: for a body that is no template of this version.
    """
    return Template.model_validate(body)


def encode_match(match: Match) -> Json:
    """The fields a match asks for."""
    return {name: value for name, value in asdict(match).items() if value not in (None, "")}


def decode_match(body: Mapping[str, Any]) -> Match:
    """The match that :func:`encode_match` wrote.

    :raises ValueError: for a field this version does not know.
    """
    return _built(Match, body)


def encode_action(action: Action) -> Json:
    """An action with its type's name."""
    return {"type": _NAMES[type(action)], **asdict(action)}


def decode_action(body: Mapping[str, Any]) -> Action:
    """The action that :func:`encode_action` wrote.

    :raises ValueError: for a type or a field this version does not know.
    """
    kind = ACTIONS.get(str(body.get("type")))
    if kind is None:
        raise ValueError(f"there is no action {body.get('type')!r}")
    return _built(kind, {name: value for name, value in body.items() if name != "type"})


def encode_rule(rule: Rule) -> Json:
    """A rule as JSON values."""
    return {
        "dpid": dpid_text(rule.dpid),
        "table": rule.table,
        "priority": rule.priority,
        "match": encode_match(rule.match),
        "actions": [encode_action(action) for action in rule.actions],
        "cookie": cookie_text(rule.cookie),
        "idle_timeout": rule.idle_timeout,
    }


def decode_rule(body: Mapping[str, Any]) -> Rule:
    """The rule that :func:`encode_rule` wrote.

    :raises ValueError: for a body that is no rule of this version.
    """
    try:
        return Rule(
            dpid=int(body["dpid"], 16),
            table=body["table"],
            priority=body["priority"],
            match=decode_match(body["match"]),
            actions=tuple(decode_action(action) for action in body["actions"]),
            cookie=int(body["cookie"], 16),
            idle_timeout=body["idle_timeout"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a rule: {error!r}") from error


def cookie_text(cookie: int) -> str:
    """A cookie as 0x and 16 hex digits."""
    return f"0x{cookie:016x}"


def slot_text(slot: Slot) -> str:
    """What a switch identifies a rule by, as one text; equal slots have equal texts and no others."""
    dpid, table, priority, match = slot
    return f"{dpid_text(dpid)}/{table}/{priority}/{json.dumps(encode_match(match), sort_keys=True)}"


def _built(kind: type[T], fields: Mapping[str, Any]) -> T:
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from error


def flow_number(flow: str) -> int:
    """The number in a flow's id, 17 of ``f-17``.

    :raises ValueError: for another text.
    """
    head, _, digits = flow.partition("-")
    if head != "f" or not digits.isdecimal():
        raise ValueError(f"{flow!r} is not a flow's id such as f-17")
    return int(digits)
