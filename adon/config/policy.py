"""Policy of the performance engineers: grants, queue, queue ladder, marking, thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv6Address
from operator import gt, lt
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from adon.config.controller import Credentials
from adon.config.slices import Flowspace, Fraction, Priorities
from adon.config.types import SHARE_ROUNDING, Party, Port, Section, Span
from adon.marking import FIREFLY_PORT, Dscp
from adon.units import Duration, Rate, Ratio, Size, format_ratio
from adon.values import Name
from measurement.model import Metric, Series

Quantity = TypeVar("Quantity")
_Pattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]+\*?$|^\*$", max_length=200)]
_Patterns = Annotated[tuple[_Pattern, ...], Field(min_length=1)]


class UseGrant(Party):
    """Permission to use resources together; absent keys do not restrict it.

    A name with a final ``*`` stands for all names with this prefix.

    :param templates: names of templates, in all versions.
    :param paths: names of paths.
    :param sites: permitted ends of a transfer.
    :param compute: names of compute sites.
    :param priority: maximum priority of a flow.
    """

    templates: _Patterns | None = None
    paths: _Patterns | None = None
    sites: _Patterns | None = None
    compute: _Patterns | None = None
    priority: int | None = Field(default=None, ge=0, le=999)


class MeasurementGrant(Party):
    """Permission to start or read measurements ([ADON] 2.2.1, question 4); absent keys do not restrict it.

    :param metrics: names; ``host.*`` stands for all metrics with this prefix.
    :param from_: source sites of a measurement; for a metric of a host, that host.
    :param to: destination sites.
    :param may: the permitted action.
    """

    may: Literal["start", "read"]
    metrics: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*(\.\*)?$")], ...] | None = None
    from_: tuple[str, ...] | None = Field(default=None, alias="from")
    to: tuple[str, ...] | None = None

    def covers(self, series: Series) -> bool:
        """Return whether the grant covers a series."""
        metrics = ("*",) if self.metrics is None else self.metrics
        return (
            any(fnmatchcase(series.metric, pattern) for pattern in metrics)
            and (self.from_ is None or series.source in self.from_)
            and (self.to is None or series.destination in self.to)
        )


class QueuePolicy(Section):
    """Order and reservations of the queue.

    :param overtaken_for: time for which later flows may overtake a waiting flow; afterwards it claims its
        path or compute site.
    :param hurry: priority bonus of a flow near its deadline.
    :param slack: a deadline is near if the remaining time is at most the transfer time plus this share of it.
    :param headroom: share of the transfer time at the reserved rate that a reservation adds.
    :param reservable: share of a path's capacity that can be reserved in advance.
    """

    overtaken_for: Span = 600.0
    hurry: int = Field(default=240, ge=0, le=100_000)
    slack: float = Field(default=0.25, ge=0, le=10)
    headroom: float = Field(default=0.1, ge=0, le=10)
    reservable: float = Field(default=0.8, gt=0, le=1)


class Threshold(Section, Generic[Quantity]):
    """Thresholds in the metric's unit: lower bounds of throughput and health, upper bounds of other metrics.

    :param warning: value from which a path has the state warning.
    :param critical: value from which a path has the state critical.
    """

    warning: Quantity
    critical: Quantity


class Thresholds(Section):
    """Thresholds for the display of values on measured paths.

    A metric without an entry is compared with the bounds of the templates.

    :param throughput, rtt, one_way_delay, jitter, loss, health: values of this metric.
    """

    throughput: Threshold[Rate] | None = None
    rtt: Threshold[Duration] | None = None
    one_way_delay: Threshold[Duration] | None = None
    jitter: Threshold[Duration] | None = None
    loss: Threshold[Ratio] | None = None
    health: Threshold[Ratio] | None = None

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {metric: values for metric, values in write(self).items() if values is not None}

    def of(self, metric: Metric) -> Threshold[float] | None:
        """Return the values of a metric."""
        found: Threshold[float] | None = getattr(self, metric.value)
        return found

    def _problems(self) -> Iterator[str]:
        for metric in Metric:
            pair = self.of(metric)
            swapped = gt if metric.higher_is_better else lt
            if pair is not None and swapped(pair.critical, pair.warning):
                yield f"{metric}.critical: is reached before warning; write the two values in the other order"


REACTIVE_PORTS = 1024
"""Maximum number of ports of an entry of policy.reactive; each is a rule per pair of hosts."""


class DscpByPriority(Section):
    """Default DSCP mark of flows in a range of priorities.

    :param priorities: the lowest and the highest priority.
    :param dscp: the DSCP, by name or number.
    """

    priorities: Priorities
    dscp: Dscp


class ReactiveEntry(Section):
    """Unregistered connections of this flowspace become flows of this template (R18: none by default).

    :param requester: requester of the flows; with slices, a member of their slice.
    :param size: assumed size of such a connection.
    :param per_minute: maximum number of connections in any minute.
    :param refuse_for: time for which a refused connection is not evaluated again.
    :param template: name of the template.
    :param flowspace: the connections.
    :param slice: slice that the flows belong to.
    """

    template: str = Field(min_length=1, max_length=80)
    flowspace: tuple[Flowspace, ...] = Field(min_length=1)
    slice: Name | None = None
    requester: str = Field(default="reactive", min_length=1, max_length=200)
    size: Size = 10**9
    per_minute: int = Field(default=60, ge=1, le=10_000_000)
    refuse_for: Span = 30.0

    def _problems(self) -> Iterator[str]:
        if any(space.named_ports > REACTIVE_PORTS for space in self.flowspace):
            cause = f"each port is a rule, so at most {REACTIVE_PORTS} can be named"
            yield f"flowspace: {cause}; for example ports: [1247], or no ports for all"


class FireflyCollector(Section):
    """Collector of reports of flows with scitags, by UDP (www.scitags.org).

    :param host: IP address of the collector.
    :param port: its UDP port.
    """

    host: IPv4Address | IPv6Address
    port: Port = FIREFLY_PORT


class LadderPolicy(Section):
    """The queue ladder of output ports (spec section 4; docs/switches.md).

    :param mode: ``auto``: queues where the switch has reported them at the port, else meters; ``off``
        follows the thesis.
    :param shares: guaranteed shares of the port's capacity, from the top rung to the lowest.
    :param queues: numbers of the queues that the operator created at each port, per rung.
    :param burst: time for which a flow may exceed its meter's rate, for bursts of packets.
    """

    mode: Literal["off", "auto", "queues", "meters"] = "off"
    shares: tuple[Fraction, ...] = Field(default=(0.6, 0.3, 0.1), min_length=1, max_length=8)
    queues: tuple[Annotated[int, Field(ge=0, lt=0xFFFF_FFFF)], ...] = (1, 2, 3)
    burst: Span = 0.1

    def _problems(self) -> Iterator[str]:
        if sum(self.shares) > 1 + SHARE_ROUNDING:
            cause = f"make {format_ratio(sum(self.shares))} of a port together"
            yield f"shares: {cause}; for example [0.6, 0.3, 0.1]"
        if len(set(self.queues)) != len(self.shares):
            example = [*range(1, len(self.shares) + 1)]
            yield f"queues: each share needs a queue with a number of its own; for example {example}"


class Policy(Section):
    """Policy of the performance engineers of this network.

    :param unknown_paths: for flows without a measured path: ``default_path`` selects the template's default
        path, or the only candidate; ``avoid`` selects none.
    :param counters_period: time between two readings of port and rule counters.
    :param evidence_after: time for which rules may count no packets, or sent bytes may not arrive,
        before that counts as evidence.
    :param consistency_period: time between two comparisons of the rules in a switch with the desired rules.
    :param failed_path_holdoff: hold-down time of a failed path; each further failure doubles it.
    :param drain: time for which old rules stay after a reroute.
    :param ladder: queue ladder of output ports.
    :param queue: order and reservations of the queue.
    :param credentials: lifetimes of tokens and sessions.
    :param reserve_nodes: number of nodes of every compute site that are never offered.
    :param no_test_above_reserved: share of a path's capacity; above it counters are read instead of tests.
    :param aging: time in the queue per additional priority step.
    :param preemption: whether a flow may preempt the flow of the lowest priority on layer 2.
    :param standby_paths: number of standby paths per flow, in the order of the configuration; without a
        number all paths.
    :param settle: minimum age of a change before a report of rules is compared with it.
    :param priority_offset: added to the priority of each of ADON's rules.
    :param measurement_access: grants of measurements; without an entry roles decide.
    :param use_access: grants of templates, paths, sites and priorities; without an entry all users may use
        all.
    :param reactive: unregistered connections that become flows; none without an entry.
    :param fireflies: collector of reports of flows with scitags; no reports without it.
    :param dscp_by_priority: DSCP marks of flows; those of request, template and slice take precedence.
    :param thresholds: thresholds per metric for the display of measured paths; without an entry the
        templates' bounds apply.
    """

    reserve_nodes: int = Field(default=0, ge=0)
    unknown_paths: Literal["avoid", "default_path"] = "default_path"
    no_test_above_reserved: float | None = Field(default=0.5, gt=0, le=1)
    counters_period: Span = 5.0
    evidence_after: Span = 15.0
    consistency_period: Span = 60.0
    aging: Span = 60.0
    preemption: bool = True
    failed_path_holdoff: Duration = 30.0
    standby_paths: int | None = Field(default=None, ge=0)
    drain: Duration = 0.2
    settle: Duration = 2.0
    priority_offset: int = Field(default=0, ge=-19_000, le=25_000)
    measurement_access: tuple[MeasurementGrant, ...] = ()
    use_access: tuple[UseGrant, ...] = ()
    ladder: LadderPolicy = LadderPolicy()
    queue: QueuePolicy = QueuePolicy()
    reactive: tuple[ReactiveEntry, ...] = ()
    fireflies: FireflyCollector | None = None
    dscp_by_priority: tuple[DscpByPriority, ...] = ()
    credentials: Credentials = Credentials()
    thresholds: Thresholds = Thresholds()
