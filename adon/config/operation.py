"""Compute sites, what the performance engineers decided, and where the processes listen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from adon.access.policy import Role
from adon.config.availability import HighAvailability
from adon.config.compute_sites import AnyAdapter
from adon.config.connecting import Connections, ControllerTls, OpenFlowVersion, transport_problems
from adon.config.credentials import Credentials
from adon.config.parts import Port, PositiveRate, Section, Span, raise_all
from adon.config.queueing import QueuePolicy
from adon.config.slices import DscpByPriority, FireflyCollector, LadderPolicy, ReactiveEntry
from adon.config.thresholds import Thresholds
from adon.config.use import UseGrant
from adon.config.web import Network, WebLimits
from adon.frozenmap import FrozenMap
from adon.templates_catalog.model import Name
from adon.units import Duration, Size


class ComputeSite(Section):
    """A place to compute, as configured ([ADON] table 3).

    :param site: the campus it is at; a transfer to it goes there.
    :param throughput_per_node: Γ_c, the prior for what one worker node processes.
    :param cores, memory, gpus, storage: of all its nodes together; what is left out is not counted.
    :param queue_wait: T_q; ``null`` means no resource for us: T_q is infinite.
    :param queue_wait_deviation: the standard deviation of T_q.
    :param adapter: how it is asked for T_q and capacity, and takes jobs; without it the numbers here stand.
    """

    site: Name
    worker_nodes: int = Field(ge=0, le=1_000_000)
    cores: int | None = Field(default=None, ge=0)
    memory: Size | None = None
    gpus: int | None = Field(default=None, ge=0)
    storage: Size | None = None
    throughput_per_node: PositiveRate
    queue_wait: Duration | None = 0.0
    queue_wait_deviation: Duration = 0.0
    price_per_node_hour: float = Field(default=0.0, ge=0)
    adapter: AnyAdapter | None = None


class CookieRange(Section):
    """Rules whose cookie, under the mask, has this value are never judged, changed or removed (R2)."""

    value: Annotated[int, Field(ge=0, lt=1 << 64)]
    mask: Annotated[int, Field(ge=0, lt=1 << 64)] = (1 << 64) - 1

    @model_validator(mode="after")
    def _within_the_mask(self) -> Self:
        if self.value & ~self.mask:
            raise ValueError("value: has bits outside the mask, so no cookie can match")
        return self


class MeasurementGrant(Section):
    """Somebody may start, or read, measurements ([ADON] 2.2.1, question 4); what is left out is not narrowed.

    :param who: names of actors.
    :param roles: their roles.
    :param groups: what an identity provider says that they belong to.
    :param metrics: names; ``host.*`` stands for every metric whose name begins so.
    :param from_: the sites that a measurement leads from; for what is observed on a host, that host.
    :param to: the sites that it leads to.
    """

    may: Literal["start", "read"]
    who: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = None
    roles: tuple[Role, ...] | None = None
    groups: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] | None = None
    metrics: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*(\.\*)?$")], ...] | None = None
    from_: tuple[str, ...] | None = Field(default=None, alias="from")
    to: tuple[str, ...] | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Policy(Section):
    """What the performance engineers of this network decided."""

    reserve_nodes: int = Field(default=0, ge=0, description="of every compute site")
    unknown_paths: Literal["avoid", "default_path"] = "default_path"
    no_test_above_reserved: float | None = Field(
        default=0.5, gt=0, le=1, description="share of capacity; above it counters serve, not tests"
    )
    counters_period: Span = 5.0
    evidence_after: Span = 15.0
    consistency_period: Span = 60.0
    aging: Span = Field(default=60.0, description="a queued flow gains one priority step per so long")
    preemption: bool = Field(
        default=True, description="a higher priority may take the place of the lowest on layer 2"
    )
    failed_path_holdoff: Duration = 30.0
    standby_paths: int | None = Field(
        default=None,
        ge=0,
        description="so many other paths stand ready for each flow, in the order of the configuration; "
        "without a number all do",
    )
    drain: Duration = 0.2
    settle: Duration = Field(
        default=2.0, description="a report of rules says nothing about what we changed so shortly before"
    )
    priority_offset: int = Field(
        default=0, ge=-19_000, le=25_000, description="added to the priority of every rule of ours"
    )
    measurement_access: tuple[MeasurementGrant, ...] = Field(
        default=(), description="who may start and read which measurements; without an entry, as roles allow"
    )
    use_access: tuple[UseGrant, ...] = Field(
        default=(),
        description="who may use which template, path, site and priority; without an entry, everybody",
    )
    ladder: LadderPolicy = LadderPolicy()
    queue: QueuePolicy = QueuePolicy()
    reactive: tuple[ReactiveEntry, ...] = Field(
        default=(), description="which unannounced connections become flows; none without an entry"
    )
    fireflies: FireflyCollector | None = Field(
        default=None, description="who is told of flows with scitags; nobody without it"
    )
    dscp_by_priority: tuple[DscpByPriority, ...] = Field(
        default=(), description="what flows are marked with; request, template and slice come before"
    )
    credentials: Credentials = Credentials()
    thresholds: Thresholds = Field(
        default_factory=FrozenMap,
        description="per metric, from which value on a measured path is shown as worth a look, or as bad; "
        "without an entry the templates' bounds say so",
    )


class Controller(Section):
    """Where the three processes listen, and how switches connect (docs/switch-connections.md).

    :param plain_tcp: switches may connect without TLS though others can reach the port too.
    :param openflow_versions: which may be spoken; 1.3 is chosen whenever a switch offers it.
    """

    openflow_host: str = "127.0.0.1"
    openflow_port: Port = 6653
    tls: ControllerTls | None = None
    plain_tcp: bool = False
    openflow_versions: tuple[OpenFlowVersion, ...] = ("1.3", "1.4")
    connections: Connections = Connections()
    web_host: str = "127.0.0.1"
    web_port: Port = 8080
    web_proxies: tuple[Network, ...] = Field(
        default=(), description="reverse proxies whose word about who asks counts (X-Forwarded-For, -Proto)"
    )
    web_limits: WebLimits = WebLimits()
    ha: HighAvailability | None = Field(default=None, description="one of several controllers")

    @model_validator(mode="after")
    def _secured(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        yield from transport_problems(self.openflow_host, self.tls, self.plain_tcp)
        if "1.3" not in self.openflow_versions:
            yield "openflow_versions: 1.3 cannot be left out: it is what every switch must be able to speak"
