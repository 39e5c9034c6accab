"""Features of a switch, and the check of required features (R8, R9, R12, R13).

The answers of the switch (:mod:`adon.flowvisor.openflow.capabilities`) state its features.  Unanswered
features are unknown and count as present; a refused rule is then an error.  :func:`find_missing_features`
returns the reasons why a switch cannot hold some entries, with the field, before any of them is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from adon.flowvisor.rules.action import Output, SetQueue
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import Pipeline
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class PortQueue:
    """Queue of a port, created by the operator (R12).

    :param least, most: limits as shares of the port's rate; None without a limit.
    """

    number: int
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class TableCapacity:
    """Rules and capacity of a flow table.

    :param active: number of its rules, of all controllers.
    :param most: maximum number of rules; None if unknown.
    :param fields: fields that it can match; None if unknown.
    """

    active: int = 0
    most: int | None = None
    fields: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SwitchFeatures:
    """Features of a switch.

    :param version: of OpenFlow, as its number on the wire.
    :param n_tables: tables 0 to ``n_tables - 1`` exist.
    :param tables: by number.
    :param groups: maximum number of groups per supported kind; None if unknown.
    :param meters: maximum number of meters that drop above a rate in kbit/s; None if unknown.
    :param queues: by port; None if unknown.
    """

    version: int
    n_tables: int
    tables: Mapping[int, TableCapacity] = field(default_factory=FrozenMap)
    groups: Mapping[str, int] | None = None
    meters: int | None = None
    queues: Mapping[int, tuple[PortQueue, ...]] | None = None


T = TypeVar("T", TableCapacity, SwitchFeatures)


@dataclass(frozen=True, slots=True)
class FeatureNeeds:
    """Requirements of the entries of one switch.

    :param rules: number of rules by table.
    :param fields: matched fields by table.
    :param groups: by kind.
    :param queues: pairs of port and queue; None for a port that only a later table chooses.
    """

    rules: Mapping[int, int] = field(default_factory=FrozenMap)
    fields: Mapping[int, frozenset[str]] = field(default_factory=FrozenMap)
    groups: Mapping[str, int] = field(default_factory=FrozenMap)
    meters: int = 0
    queues: frozenset[tuple[int | None, int]] = frozenset()


NO_NEEDS = FeatureNeeds()

_PACKET_FIELDS = frozenset({"in_port", "eth_type", "ip_proto", "ip_src", "ip_dst", "tp_src", "tp_dst"})
"""Match fields of the classification table."""
_LABEL_FIELDS = frozenset({"metadata"})
"""Match fields of the later tables."""


def pipeline_needs(pipeline: Pipeline) -> FeatureNeeds:
    """Return the requirements of a pipeline without rules: tables and their fields (R8)."""
    fields = {pipeline.classification: _PACKET_FIELDS}
    if pipeline.staged:
        fields |= {pipeline.policy: _LABEL_FIELDS, pipeline.transit: _LABEL_FIELDS}
    return FeatureNeeds(rules=FrozenMap(dict.fromkeys(fields, 1)), fields=FrozenMap(fields))


def merge_features(known: SwitchFeatures, said: SwitchFeatures) -> SwitchFeatures:
    """Return the known features, updated with a new report."""
    rooms = {number: _update(known.tables.get(number, room), room) for number, room in said.tables.items()}
    return replace(_update(known, said), tables=FrozenMap({**known.tables, **rooms}))


def _update(known: T, said: T) -> T:
    """Return a value updated with the known fields of another one."""
    values = {each.name: getattr(said, each.name) for each in fields(said)}
    return replace(known, **{name: value for name, value in values.items() if value is not None})


def entry_needs(entries: Iterable[Entry]) -> FeatureNeeds:
    """Return the requirements of these entries of one switch."""
    listed = list(entries)
    rules = [entry for entry in listed if isinstance(entry, Rule)]
    fields: dict[int, frozenset[str]] = {}
    for rule in rules:
        fields[rule.table] = fields.get(rule.table, frozenset()) | list_match_fields(rule)
    return FeatureNeeds(
        FrozenMap(Counter(rule.table for rule in rules)),
        FrozenMap(fields),
        FrozenMap(Counter(entry.kind for entry in listed if isinstance(entry, GroupEntry))),
        sum(isinstance(entry, MeterEntry) for entry in listed),
        frozenset(pair for rule in rules for pair in _queues(rule)),
    )


def list_match_fields(rule: Rule) -> frozenset[str]:
    """Return the fields that a rule matches, by the names of :class:`~adon.flowvisor.rules.match.Match`."""
    values = ((name, getattr(rule.match, name)) for name in Match.__match_args__ if name != "other")
    return frozenset(name for name, value in values if value is not None)


def _queues(rule: Rule) -> Iterator[tuple[int | None, int]]:
    """Yield port and queue pairs: a queue applies to the next port (R12), in this table or a later one."""
    queue: int | None = None
    for action in rule.actions:
        if isinstance(action, SetQueue):
            queue = action.queue
        elif isinstance(action, Output) and queue is not None:
            yield action.port, queue
    if queue is not None and rule.goto is not None:
        yield None, queue


def find_missing_features(
    pipeline: Pipeline, features: SwitchFeatures, wanted: FeatureNeeds = NO_NEEDS
) -> tuple[str, ...]:
    """Return the reasons why a switch cannot hold its entries, each with its field; empty if it can.

    :param wanted: the requirements of all desired entries of the switch.
    """
    return (
        *_tables(pipeline, features),
        *_rooms(features, wanted),
        *_groups(features, wanted),
        *_meters(features, wanted),
        *_queues_of(features, wanted),
    )


def _tables(pipeline: Pipeline, features: SwitchFeatures) -> Iterator[str]:
    beyond = [table for table in pipeline.tables if table >= features.n_tables]
    if beyond:
        field_name = "table_offset" if pipeline.table_offset else "pipeline"
        numbers = ", ".join(map(str, beyond))
        yield f"{field_name}: table {numbers} is required, but the last table is {features.n_tables - 1}"


def _rooms(features: SwitchFeatures, wanted: FeatureNeeds) -> Iterator[str]:
    for table, count in sorted(wanted.rules.items()):
        room = features.tables.get(table, TableCapacity())
        if room.most is not None and count > room.most:
            yield f"table {table}: {count} rules are required, but its capacity is {room.most}"
        if room.fields is not None:
            for name in sorted(wanted.fields.get(table, frozenset()) - room.fields):
                yield f"table {table}: a match on {name} is required, but not supported"


def _groups(features: SwitchFeatures, wanted: FeatureNeeds) -> Iterator[str]:
    if features.groups is None:
        return
    for kind, count in sorted(wanted.groups.items()):
        most = features.groups.get(kind, 0)
        if not most:
            yield f"groups: type {kind} is required, but not supported"
        elif count > most:
            yield f"groups: {count} of type {kind} are required, but the switch has {most}"


def _meters(features: SwitchFeatures, wanted: FeatureNeeds) -> Iterator[str]:
    if features.meters is not None and wanted.meters > features.meters:
        has = features.meters or "no meters with a drop band in kbit/s"
        yield f"meters: {wanted.meters} are required, but the switch has {has}"


def _queues_of(features: SwitchFeatures, wanted: FeatureNeeds) -> Iterator[str]:
    if features.queues is None:
        return
    made: set[tuple[int | None, int]] = set()
    for port, queues in features.queues.items():
        made |= {(where, queue.number) for queue in queues for where in (port, None)}
    for lacking, number in sorted(wanted.queues - made, key=str):
        of = "" if lacking is None else f" of port {lacking}"
        yield f"queues: queue {number}{of} is required, but does not exist; create it in the switch"
