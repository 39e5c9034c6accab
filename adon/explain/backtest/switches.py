"""Switches of a backtest: their counters follow the bytes that the model moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adon.explain.event_player import IdealSwitch, TableEntry
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Rule

FRAME = 1500
_SENT = frozenset({Kind.FLOW_INGRESS, Kind.FLOW_LEARN})


class Passing(NamedTuple):
    """The bytes of a flow that have passed, and the address that they come from."""

    octets: int
    source: str


class CountingSwitch(IdealSwitch):
    """A switch that counts the bytes of running flows.

    :param passing: what has passed of a flow, by its owner's name; None for an owner without a running flow.
    """

    def __init__(self, dpid: int, passing: Callable[[str], Passing | None]) -> None:
        super().__init__(dpid)
        self._passing = passing
        self._counted: dict[tuple[str, bool], int] = {}

    def count(self) -> None:
        """Add the bytes since the last count to one rule of each flow, per end of its path."""
        first: dict[tuple[str, bool], tuple[TableEntry, int]] = {}
        for held in self.table.values():
            if not isinstance(held.rule, Rule):
                continue
            owner, sends = owner_of(held.rule), _sends(held.rule)
            passing = None if sends is None else self._passing(owner)
            if passing is not None and sends is not None and held.rule.match.ip_src == passing.source:
                first.setdefault((owner, sends), (held, passing.octets))
        for place, (held, octets) in first.items():
            held.bytes += octets - self._counted.get(place, 0)
            held.packets = -(-held.bytes // FRAME)
            self._counted[place] = octets


def _sends(rule: Rule) -> bool | None:
    """Whether a rule counts what leaves its flow's source; False: what arrives; None: neither."""
    if not owner_of(rule).startswith("f-"):
        return None
    kind = cookie_owner(rule.cookie)[0]
    if kind in _SENT:
        return True
    return False if kind is Kind.FLOW_DELIVERY else None
