"""What the broker holds between two events: the one state that all its parts work on.

:mod:`~adon.broker.placing` changes flows, rules and worker nodes, :mod:`~adon.broker.evidence` what is
known of a flow's packets, :mod:`~adon.broker.housekeeping` what time changes;
:mod:`~adon.broker.reading` shows it.  Here is no decision.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adon.broker import scheduler
from adon.broker.alarms import Alarms
from adon.broker.edge import Ledger
from adon.broker.estimates import Estimates
from adon.broker.flow import Flow
from adon.broker.maintenance import Windows
from adon.broker.network import Network
from adon.broker.register import Register
from adon.config import Configuration
from adon.flowvisor.performance import PerformanceView
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
    :param ledger: the worker nodes held at each compute site.
    :param performance: what has been measured.
    :param alarms: the alarms in force on paths, and which of them were acted on.
    :param estimates: what was promised to the flows that run, and how far off such promises were.
    :param shunned: per path that failed, until when it is not used, and why (R6).
    :param windows: the maintenance windows that are not over.
    :param quiet: the paths on which no load-generating test may run.
    """

    configuration: Configuration
    catalog: Catalog
    network: Network
    flows: Register
    ledger: Ledger
    performance: PerformanceView = field(default_factory=PerformanceView)
    alarms: Alarms = field(default_factory=Alarms)
    estimates: Estimates = field(default_factory=Estimates)
    shunned: dict[str, tuple[float, str]] = field(default_factory=dict)
    windows: Windows = field(default_factory=Windows)
    quiet: frozenset[str] = frozenset()

    def shun(self, path: str | None, why: str, now: float) -> None:
        """Do not use a path for the policy's hold-off."""
        if path is not None:
            until = now + max(MIN_HOLDOFF_S, self.configuration.policy.failed_path_holdoff)
            self.shunned[path] = (until, f"not used for {format_duration(until - now)}: {why}")

    def queue(self, now: float) -> tuple[Flow, ...]:
        """The waiting flows, first to be served first."""
        aging = self.configuration.policy.aging
        return scheduler.order(self.flows.queued(), now, self.flows.priority, aging)
