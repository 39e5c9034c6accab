"""Entries of a switch: rules, groups, meters, and their changes, as values.

Each entry has a *slot*, by which the switch identifies it: an add with the same slot replaces the entry.  The
cookie names the owner of a rule (:mod:`adon.flowvisor.rules.cookie`); the number names the owner of a group
or meter (:mod:`adon.flowvisor.rules.pipeline`).  Priorities and tables: :mod:`adon.flowvisor.rules.pipeline`
(R7, R8).

The text of rules is that of ``ovs-ofctl -O OpenFlow13``, with datapath ids as 16 hex digits (R24).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from adon.flowvisor.rules.action import Action, actions_text
from adon.flowvisor.rules.match import MaskedNumber, Match, match_text

Slot = tuple[int, int, int, Match] | tuple[int, Literal["group", "meter"], int]
"""Datapath, table, priority and match of a rule; datapath, kind and number of a group or meter."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One desired or reported rule of a switch's flow tables (OpenFlow 1.3.5, 5.2 and 5.9).

    Its instructions are executed in this order: ``meter``, ``actions`` (at once), ``metadata``, ``goto``.

    :param idle_timeout, hard_timeout: whole seconds; 0 for never.
    :param meter: number of the first meter of its packets.
    :param metadata: value that it writes for later tables.
    :param goto: next table of its packets.
    """

    dpid: int
    priority: int
    match: Match
    actions: tuple[Action, ...]
    cookie: int
    idle_timeout: int = 0
    table: int = 0
    meter: int | None = None
    metadata: MaskedNumber | None = None
    goto: int | None = None
    hard_timeout: int = 0

    @property
    def slot(self) -> Slot:
        """Datapath, table, priority and match: the key of OFPFC_*_STRICT (OpenFlow 1.3.5, 6.4)."""
        return (self.dpid, self.table, self.priority, self.match)


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of a group.

    :param actions: an action set (OpenFlow 1.3.5, 5.10): a switch executes only the last output.
    :param watch_port: fast failover uses the bucket only while this port is live.
    """

    actions: tuple[Action, ...]
    watch_port: int | None = None


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group (OpenFlow 1.3.5, 5.6); ``fast_failover`` takes the first bucket whose port is live."""

    dpid: int
    number: int
    kind: Literal["all", "select", "indirect", "fast_failover"]
    buckets: tuple[Bucket, ...]

    @property
    def slot(self) -> Slot:
        """Datapath and number."""
        return (self.dpid, "group", self.number)


@dataclass(frozen=True, slots=True)
class MeterEntry:
    """A meter with one band that drops packets above its rate (OpenFlow 1.3.5, 5.7; R13).

    :param rate: bits/s; a switch stores whole kbit/s.
    :param burst: bits.
    :param owner: number of its flow; a switch cannot report it, so it is not compared.
    """

    dpid: int
    number: int
    rate: int
    burst: int
    owner: int | None = field(default=None, compare=False)

    @property
    def slot(self) -> Slot:
        """Datapath and number."""
        return (self.dpid, "meter", self.number)


Entry = Rule | GroupEntry | MeterEntry
"""An entry of a switch."""


@dataclass(frozen=True, slots=True)
class ReportedRule:
    """A rule as the switch reports it, with its counters; ``duration`` in seconds."""

    rule: Rule
    packets: int
    bytes: int
    duration: float


class Op(StrEnum):
    """Operation on an entry; for rules always strict, and limited to ADON's cookie."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Change:
    """One flow-mod, group-mod or meter-mod."""

    op: Op
    rule: Entry


def instructions_text(rule: Rule) -> str:
    """Return a rule's instructions as ``ovs-ofctl`` prints them after ``actions=``."""
    parts = [f"meter:{rule.meter}"] if rule.meter is not None else []
    if rule.actions:
        parts.append(actions_text(rule.actions))
    if rule.metadata is not None:
        parts.append(f"write_metadata:{rule.metadata}")
    if rule.goto is not None:
        parts.append(f"goto_table:{rule.goto}")
    return ",".join(parts) or "drop"


def rule_text(entry: Entry) -> str:
    """Return an entry as ``ovs-ofctl -O OpenFlow13`` prints it, without counters."""
    match entry:
        case Rule():
            return _rule_text(entry)
        case GroupEntry():
            buckets = "".join(f",bucket={_bucket_text(bucket)}" for bucket in entry.buckets)
            kind = "ff" if entry.kind == "fast_failover" else entry.kind
            return f"group_id={entry.number},type={kind}{buckets}"
        case MeterEntry():
            rate, burst = entry.rate // 1000, entry.burst // 1000
            return f"meter={entry.number} kbps burst stats bands=type=drop rate={rate} burst_size={burst}"


def _rule_text(rule: Rule) -> str:
    idle = f"idle_timeout={rule.idle_timeout}, " if rule.idle_timeout else ""
    hard = f"hard_timeout={rule.hard_timeout}, " if rule.hard_timeout else ""
    match = match_text(rule.match)
    return (
        f"cookie=0x{rule.cookie:x}, table={rule.table}, {idle}{hard}"
        f"priority={rule.priority}{',' + match if match else ''} actions={instructions_text(rule)}"
    )


def _bucket_text(bucket: Bucket) -> str:
    watch = "" if bucket.watch_port is None else f"watch_port:{bucket.watch_port},"
    return f"{watch}actions={actions_text(bucket.actions)}"
