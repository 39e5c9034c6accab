"""Desired rules and their states (R3), circuits of overlays, and maintenance windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt

from sqlalchemy import bindparam, select, update

from adon.broker.effects import RuleState
from adon.broker.maintenance import Window
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Entry, Rule
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.flowvisor.topology.path import dpid_text
from adon.store.documents import Documents, count_values, decode, replacement, where
from adon.store.entry_codec import decode_entry, encode_entry, slot_text
from adon.store.tables import documents, maintenance, rules
from adon.store.transactions import Transactions
from measurement.model import from_json, to_json

WANTED = frozenset({RuleState.PENDING, RuleState.INSTALLED, RuleState.FAILED})
"""The states of the rules that belong in the switches."""
CIRCUITS = "circuits"
"""Name of the document with the circuits of overlays."""


@dataclass(frozen=True, slots=True)
class SavedRule:
    """A rule with its state; ``error`` is the text of the switch that refused it."""

    rule: Entry
    owner: str
    state: RuleState
    error: str
    updated_at: float


WINDOWS = Documents(
    maintenance, Window, "window", "m-", lambda window: {"number": window.number, "ends": window.ends}
)
_SAME = (rules.c.slot == bindparam("old_slot")) & (rules.c.cookie == bindparam("old_cookie"))
_REMOVAL = update(rules).where(_SAME)


class NetworkRows(Transactions):
    """Rules, circuits and maintenance windows."""

    def save_rules(self, entries: Iterable[Entry], state: RuleState, error: str, at: float) -> None:
        """Save the state of some rules; as in a switch, a rule replaces the one in its slot.

        A removal is of the very rule (slot and cookie): if another owner has taken over the slot, nothing is
        removed.

        :param error: the text of the switch that refused the rules, or empty.
        """
        by_slot = {slot_text(entry.slot): entry for entry in entries}
        if not by_slot:
            return
        news = {"state": state.value, "error": error, "updated_at": at}
        with self._writing() as connection:
            if state is RuleState.REMOVED:
                removed = [
                    {"old_slot": slot, "old_cookie": _cookie(entry)} for slot, entry in by_slot.items()
                ]
                connection.execute(_REMOVAL.values(**news), removed)
            else:
                rows = [{"slot": slot, **_rule_columns(entry), **news} for slot, entry in by_slot.items()]
                connection.execute(replacement(rules, connection.dialect.name), rows)

    def rules(
        self,
        dpid: int | None = None,
        owner: str | None = None,
        states: frozenset[RuleState] | None = None,
        first: str | None = None,
        limit: int | None = None,
    ) -> tuple[SavedRule, ...]:
        """Return rules in the order of their slots; ``states=WANTED`` for those that belong in the switches.

        :param first: the first slot, as text (:func:`~adon.store.entry_codec.slot_text`).
        """
        conditions = where(
            (rules.c.slot, ge, first),
            (rules.c.dpid, eq, None if dpid is None else dpid_text(dpid)),
            (rules.c.owner, eq, owner),
            (rules.c.state, lambda column, names: column.in_(names), _values_of(states)),
        )
        query = select(rules).where(*conditions).order_by(rules.c.slot).limit(limit)
        with self._reading() as connection:
            return tuple(
                SavedRule(
                    decode(decode_entry, row.body, f"rule {row.slot}"),
                    row.owner,
                    RuleState(row.state),
                    row.error,
                    row.updated_at,
                )
                for row in connection.execute(query)
            )

    def rule_states(self) -> Mapping[str, int]:
        """Return the number of rules in each state; states without any are left out."""
        with self._reading() as connection:
            return count_values(connection, rules.c.state)

    def save_circuits(self, paths: OverlayPaths, at: float) -> None:
        """Save the circuits of the overlays."""
        row = {"name": CIRCUITS, "body": to_json(paths), "updated_at": at}
        with self._writing() as connection:
            connection.execute(replacement(documents, connection.dialect.name), row)

    def circuits(self) -> OverlayPaths:
        """Return the circuits of the overlays as last saved."""
        with self._reading() as connection:
            body = connection.execute(
                select(documents.c.body).where(documents.c.name == CIRCUITS)
            ).scalar_one_or_none()
        return OverlayPaths() if body is None else from_json(OverlayPaths, body)

    def save_window(self, window: Window) -> None:
        """Save a maintenance window as it is now."""
        with self._writing() as connection:
            WINDOWS.save(connection, window)

    def windows(self, since: float | None = None) -> tuple[Window, ...]:
        """Return maintenance windows by number, also cancelled ones; with ``since`` those that end later."""
        with self._reading() as connection:
            return WINDOWS.find(connection, where((maintenance.c.ends, gt, since)))


def _values_of(states: frozenset[RuleState] | None) -> list[str] | None:
    return None if states is None else sorted(state.value for state in states)


def _rule_columns(entry: Entry) -> dict[str, object]:
    return {
        "dpid": dpid_text(entry.dpid),
        "owner": owner_of(entry),
        "cookie": _cookie(entry),
        "body": encode_entry(entry),
    }


def _cookie(entry: Entry) -> str:
    """Return the cookie of a rule as hexadecimal text; groups and meters have none."""
    return f"0x{entry.cookie:016x}" if isinstance(entry, Rule) else ""
