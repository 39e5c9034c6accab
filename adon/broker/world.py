"""What the broker holds between two events: the one state that all its parts work on.

:mod:`~adon.broker.flow_placement` changes flows, rules and worker nodes, :mod:`~adon.broker.evidence` what is
known of a flow's packets, :mod:`~adon.broker.housekeeping` what time changes;
:mod:`~adon.broker.state_report` shows it.  Here is no decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.broker.abilities import Abilities
from adon.broker.alarms import Alarms
from adon.broker.connected import Connected
from adon.broker.cost.functions import CostFunctions
from adon.broker.cost.terms import NetworkTerms
from adon.broker.estimates import Estimates
from adon.broker.failover import Failovers
from adon.broker.finding_cache import Lasting
from adon.broker.flow import Flow
from adon.broker.heard import Heard
from adon.broker.hold_down import Damping
from adon.broker.links import Links
from adon.broker.maintenance import Windows
from adon.broker.memo import Memo
from adon.broker.meters import Meters
from adon.broker.network import Network
from adon.broker.queueing.bookings import Bookings
from adon.broker.queueing.line import Line
from adon.broker.register import Register
from adon.broker.resources.ledger import Ledger
from adon.broker.resources.offer import Offer
from adon.broker.room import Room
from adon.broker.sites.jobs import Jobs
from adon.broker.sites.site_state import Standings
from adon.config import Configuration
from adon.flowvisor.rules.queue_ladder import EnforcementMeans
from adon.flowvisor.topology.overlay import PathCache
from adon.templates_catalog.catalog import Catalog
from adon.units import format_duration

MIN_HOLDOFF_S = 1.0
"""A path that failed is not tried again at once, whatever the policy says: that would be for ever."""


@dataclass(slots=True)
class World:
    """See the module's text.

    :param configuration: the network, the compute sites and the policy; never changes.
    :param catalog: the templates, all versions.
    :param network: the topology as switches report it, and the rules wanted and believed in them.
    :param flows: the flows that have not ended or still have rules in a switch.
    :param ledger: what flows hold of compute sites, and what is reserved of them and of paths.
    :param links: the links between switches that were found.
    :param performance: what has been measured.
    :param alarms: the alarms in force on paths, and which of them were acted on.
    :param estimates: what was promised to the flows that run, and how far off such promises were.
    :param routes: paths over the overlays' links that were computed before.
    :param refused_circuits: paths that could not have a circuit, as they were told last.
    :param shunned: per path that failed, until when it is not used, and why (R6).
    :param windows: the maintenance windows that are not over.
    :param quiet: the paths on which no load-generating test may run.
    :param damping: what moved, failed or was refused again and again (R17).
    :param memo: what was found about paths and still holds.
    :param legs: what the best paths between sites carry (:mod:`adon.broker.legs`).
    :param room: what switches have said about their tables.
    :param abilities: what the switches have said that they can do, and what they lack.
    :param means: per datapath id, the queues and meters that the switch has, as far as it has said.
    :param failovers: how long failures of the network lasted for the flows they hit.
    :param meters: which meter number each flow has.
    :param connected: how many connections unannounced flows have in each switch.
    :param standings: how compute sites stand, as they reported, and what their word is worth.
    :param jobs: the jobs at compute sites that are not over.
    :param line: the waiting flows in order.
    :param bookings: what waiting flows have reserved in advance.
    :param offers: what each compute site offers now.
    :param functions: the cost functions that templates may name.
    """

    configuration: Configuration
    catalog: Catalog
    network: Network
    flows: Register
    ledger: Ledger
    links: Links
    performance: Heard = field(default_factory=Heard)
    alarms: Alarms = field(default_factory=Alarms)
    estimates: Estimates = field(default_factory=Estimates)
    routes: PathCache = field(default_factory=PathCache)
    refused_circuits: set[str] = field(default_factory=set)
    shunned: dict[str, tuple[float, str]] = field(default_factory=dict)
    windows: Windows = field(default_factory=Windows)
    quiet: frozenset[str] = frozenset()
    memo: Memo = field(default_factory=Memo)
    legs: Lasting[NetworkTerms] = field(default_factory=Lasting)
    damping: Damping = field(default_factory=Damping)
    room: Room = field(default_factory=Room)
    abilities: Abilities = field(default_factory=Abilities)
    means: dict[int, EnforcementMeans] = field(default_factory=dict)
    failovers: Failovers = field(default_factory=Failovers)
    meters: Meters = field(default_factory=Meters)
    connected: Connected = field(default_factory=Connected)
    standings: Standings = field(default_factory=lambda: Standings({}))
    jobs: Jobs = field(default_factory=Jobs)
    line: Line = field(default_factory=Line)
    bookings: Bookings = field(default_factory=Bookings)
    offers: Mapping[str, Offer] = field(default_factory=dict)
    functions: CostFunctions = field(default_factory=CostFunctions)

    def shun(self, path: str | None, why: str, now: float) -> None:
        """Do not use a path for the policy's hold-off, longer if it fails again and again."""
        if path is not None:
            base = max(MIN_HOLDOFF_S, self.configuration.policy.failed_path_holdoff)
            shunned = path in self.shunned and self.shunned[path][0] > now
            until = now + self.damping.record_path_failure(path, now, base, shunned=shunned)
            self.shunned[path] = (until, f"held down for {format_duration(until - now)}: {why}")

    def holdoff_end(self, now: float) -> float:
        """Until when what has just failed is not tried again."""
        return now + max(MIN_HOLDOFF_S, self.configuration.policy.failed_path_holdoff)

    def queue(self, count: int | None = None) -> tuple[Flow, ...]:
        """The waiting flows, first to be served first.

        :param count: no more than so many.
        """
        found = (self.flows.get(number) for number in self.line.first(count))
        return tuple(flow for flow in found if flow is not None)
