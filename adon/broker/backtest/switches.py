"""Switches that do as they are told, at once, and count what passes; for replays of the past."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from adon.broker.counters import by_flows
from adon.broker.effects import SendBatch
from adon.config import Configuration
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.pipeline import owner_of
from adon.flowvisor.port import PortState
from adon.flowvisor.rule import Entry, GroupEntry, MeterEntry, Op, ReportedRule, Rule, Slot

FLOWS_PER_REPORT = 100
_SENT = frozenset({Kind.FLOW_INGRESS, Kind.FLOW_LEARN})


class Passing(NamedTuple):
    """The bytes of a flow that have passed, and the address that they come from."""

    octets: int
    source: str


def ports_of(configuration: Configuration) -> dict[int, dict[str, PortState]]:
    """Per datapath id every port that the configuration names, all of them live, numbered from 1."""
    named: dict[str, dict[str, None]] = {name: {} for name in configuration.switches}
    for site in configuration.sites.values():
        named[site.edge].update(dict.fromkeys(host.port for host in site.hosts.values()))
    for path in configuration.paths.values():
        for site_name, end in path.ends.items():
            named[configuration.sites[site_name].edge][end.port] = None
    for link in configuration.links.values():
        for switch, port in link.ends.items():
            named[switch][port] = None
    return {
        configuration.switches[switch].dpid: {
            port: PortState(number, True) for number, port in enumerate(ports, 1)
        }
        for switch, ports in named.items()
    }


@dataclass(slots=True)
class _Held:
    entry: Entry
    octets: int = 0


@dataclass(slots=True)
class Switches:
    """See the module's text.

    :param passing: what has passed of a flow by now, by its owner's name; None for what is no running flow.
    """

    passing: Callable[[str], Passing | None]
    _tables: dict[int, dict[Slot, _Held]] = field(default_factory=dict)
    _counted: dict[tuple[int, str, bool], int] = field(default_factory=dict)

    def apply(self, batch: SendBatch) -> None:
        """Carry out a batch."""
        table = self._tables.setdefault(batch.dpid, {})
        for change in batch.changes:
            held = table.pop(change.rule.slot, None)
            if change.op is not Op.DELETE:
                kept = held.octets if held is not None and change.op is Op.MODIFY else 0
                table[change.rule.slot] = _Held(change.rule, kept)

    def rules(self, dpid: int) -> tuple[ReportedRule, ...]:
        """All rules with their counters."""
        self._count(dpid)
        held = self._tables.get(dpid, {}).values()
        return tuple(
            ReportedRule(one.entry, -(-one.octets // 1500), one.octets, 0.0)
            for one in held
            if isinstance(one.entry, Rule)
        )

    def equipment(self, dpid: int) -> tuple[GroupEntry | MeterEntry, ...]:
        """Groups and meters."""
        held = self._tables.get(dpid, {}).values()
        return tuple(one.entry for one in held if not isinstance(one.entry, Rule))

    def of_flows(self, dpid: int) -> list[tuple[ReportedRule, ...]]:
        """The rules of flows, some flows at a time."""
        ours = [rule for rule in self.rules(dpid) if owner_of(rule.rule).startswith("f-")]
        return list(by_flows(ours, FLOWS_PER_REPORT))

    def _count(self, dpid: int) -> None:
        """What has passed since the last count goes to one rule of each flow, per end of its way."""
        first: dict[tuple[str, bool], _Held] = {}
        table: Mapping[Slot, _Held] = self._tables.get(dpid, {})
        for held in table.values():
            if not isinstance(held.entry, Rule):
                continue
            owner, sends = owner_of(held.entry), _sends(held.entry)
            passing = None if sends is None else self.passing(owner)
            if passing is not None and sends is not None and held.entry.match.ip_src == passing.source:
                first.setdefault((owner, sends), held)
        for (owner, sends), held in first.items():
            passing, place = self.passing(owner), (dpid, owner, sends)
            if passing is not None:
                held.octets += passing.octets - self._counted.get(place, 0)
                self._counted[place] = passing.octets


def _sends(rule: Rule) -> bool | None:
    """Whether a rule counts what leaves its flow's source; False: what arrives; None: neither."""
    if not owner_of(rule).startswith("f-"):
        return None
    kind = cookie_owner(rule.cookie)[0]
    if kind in _SENT:
        return True
    return False if kind is Kind.FLOW_DELIVERY else None
