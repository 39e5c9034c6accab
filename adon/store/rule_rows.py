"""Desired rules and how far they have come, as rows (R3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Insert, Row, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from adon.broker.effects import RuleState
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Entry, Rule
from adon.flowvisor.topology.path import dpid_text
from adon.store.entry_codec import cookie_text, decode_entry, encode_entry, slot_text
from adon.store.reading import decoded
from adon.store.tables import rules as table


@dataclass(frozen=True, slots=True)
class SavedRule:
    """A rule with how far it has come; ``error`` is the switch's own text when it refused."""

    rule: Entry
    owner: str
    state: RuleState
    error: str
    updated_at: float


def _replacing(added: postgresql.Insert | sqlite.Insert) -> Insert:
    news = {column.name: added.excluded[column.name] for column in table.c if not column.primary_key}
    return added.on_conflict_do_update(index_elements=list(table.primary_key), set_=news)


# Made once: SQLAlchemy derives its cache key once per statement object, and a move waits for these (R3).
# Both databases know the statement; SQLAlchemy has one for each of them.
_PUT = {
    "sqlite": _replacing(sqlite.insert(table)),
    "postgresql": _replacing(postgresql.insert(table)),
}


def save(connection: Connection, rules: Iterable[Entry], state: RuleState, error: str, at: float) -> None:
    """Keep the state of some rules; as in a switch, a rule replaces the one in its slot.

    A removal is of the very rule (slot and cookie): where another owner has taken over the slot by now,
    nothing is removed.
    """
    kept = {slot_text(rule.slot): rule for rule in rules}
    if not kept:
        return
    if state is RuleState.REMOVED:
        _mark_removed(connection, kept, error, at)
        return
    news = {"state": state.value, "error": error, "updated_at": at}
    rows = [{**_values(rule), "slot": slot, **news} for slot, rule in kept.items()]
    connection.execute(_PUT[connection.dialect.name], rows)


def listed(
    connection: Connection,
    dpid: int | None,
    owner: str | None,
    states: frozenset[RuleState] | None,
    first: str | None = None,
    limit: int | None = None,
) -> tuple[SavedRule, ...]:
    """Rules, filtered, in the order of their slots; from the slot ``first`` on, at most ``limit``."""
    query = select(table).order_by(table.c.slot).limit(limit)
    if first is not None:
        query = query.where(table.c.slot >= first)
    if dpid is not None:
        query = query.where(table.c.dpid == dpid_text(dpid))
    if owner is not None:
        query = query.where(table.c.owner == owner)
    if states is not None:
        query = query.where(table.c.state.in_(sorted(state.value for state in states)))
    return tuple(_saved(row) for row in connection.execute(query))


def states(connection: Connection) -> dict[str, int]:
    """How many rules are in each state."""
    query = select(table.c.state, func.count()).group_by(table.c.state)
    return {row[0]: row[1] for row in connection.execute(query)}


def _mark_removed(connection: Connection, kept: dict[str, Entry], error: str, at: float) -> None:
    same = (table.c.slot == bindparam("old_slot")) & (table.c.cookie == bindparam("old_cookie"))
    news = update(table).where(same).values(state=RuleState.REMOVED.value, error=error, updated_at=at)
    which = [{"old_slot": slot, "old_cookie": _cookie(rule)} for slot, rule in kept.items()]
    connection.execute(news, which)


def _values(rule: Entry) -> dict[str, object]:
    return {
        "dpid": dpid_text(rule.dpid),
        "owner": owner_of(rule),
        "cookie": _cookie(rule),
        "priority": rule.priority if isinstance(rule, Rule) else 0,
        "body": encode_entry(rule),
    }


def _cookie(entry: Entry) -> str:
    """A rule's cookie; groups and meters have none."""
    return cookie_text(entry.cookie) if isinstance(entry, Rule) else ""


def _saved(row: Row[Any]) -> SavedRule:
    rule = decoded(decode_entry, row.body, f"rule {row.slot}")
    return SavedRule(rule, row.owner, RuleState(row.state), row.error, row.updated_at)
