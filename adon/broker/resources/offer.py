"""What a compute site offers now: how much there is, how fast it is, how long one waits ([ADON] table 3).

Here offers come from the configuration, which states them once and for all.  Of a site that is asked itself
(:mod:`adon.broker.sites`) its answer takes the place of the configured T_q in :mod:`adon.broker.compute`:
everything else looks at offers only.  A site that gives no answer offers nothing: T_q is infinite, and
:attr:`Offer.why` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from adon.broker.choice import Need
from adon.broker.resources.amounts import Amounts, Limits
from adon.config import Configuration
from adon.config.compute import ComputeSite
from adon.templates_catalog.model import ComputeRequirement, Template
from adon.uncertain import Uncertain


@dataclass(frozen=True, slots=True)
class Offer:
    """See the module's text.

    :param campus: the campus it is at; a transfer to it goes there.
    :param node_rate: Γ_c in bits/s, until finished jobs tell (:mod:`adon.broker.sites.rates`).
    :param queue_wait: T_q in seconds with its spread; None: there is no resource for us.
    :param why: why there is none.
    :param origin: where T_q comes from, in words.
    """

    name: str
    campus: str
    limits: Limits
    node_rate: float
    queue_wait: Uncertain | None
    price_per_node_hour: float = 0.0
    why: str = ""
    origin: str = "as configured"

    @classmethod
    def from_configuration(cls, name: str, site: ComputeSite) -> Self:
        """What the configuration says."""
        wait, spread = site.queue_wait, site.queue_wait_deviation
        return cls(
            name,
            site.site,
            Limits(site.worker_nodes, site.cores, site.memory, site.gpus, site.storage),
            site.throughput_per_node,
            None if wait is None else Uncertain(wait, spread),
            site.price_per_node_hour,
            "it offers no resource to ADON" if wait is None else "",
        )


def configured_offers(configuration: Configuration) -> Mapping[str, Offer]:
    """What each configured site offers, in the order of the configuration."""
    return {name: Offer.from_configuration(name, site) for name, site in configuration.compute.items()}


def requirement_of(template: Template) -> ComputeRequirement:
    """What a template asks of a compute site; one worker node where it says nothing."""
    asked = template.rspec.compute
    return ComputeRequirement() if asked is None else asked


def demand_of(need: Need) -> Amounts:
    """What a flow takes of a compute site, as long as it lasts."""
    asked = requirement_of(need.template)
    return Amounts(
        nodes=asked.worker_nodes,
        cores=asked.cores,
        memory=asked.memory,
        gpus=asked.gpus,
        storage=need.template.rspec.storage,
    )
