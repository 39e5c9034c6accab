"""Small worlds for the tests of the simulation: two paths between two sites, and a handful of transfers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adon.simulation.engine import Record, simulate
from adon.simulation.measuring import Plan
from adon.simulation.network import Link, Network, Outage, Path
from adon.simulation.policy import Policy
from adon.simulation.steps import Steps, steady
from adon.simulation.tcp import Stream
from adon.simulation.workload import Transfer, Workload
from tests.support.factories import make_template

EAGER = make_template(
    name="bulk",
    qspec={"throughput": {"min": "100 Mbps"}},
    tables={"throughput": {"points": [["1 Mbps", 1], ["2 Gbps", 10]]}},
    selection={"patience": 1, "min_dwell": "0 s", "switch_margin": 1},
)


def network(
    *rates: float | Steps,
    outages: Sequence[Outage] = (),
    background: Steps | None = None,
    delay: float = 0.01,
    loss: float = 0.0,
    **hosts: Stream,
) -> Network:
    """A path per rate between ``mu`` and ``osu``: the first on layer 2, the others on layer 3.

    Outages, background and loss are the first path's.
    """
    links, paths = {}, []
    for number, rate in enumerate(rates or (1e9, 0.1e9)):
        name = f"p{number}"
        capacity = rate if isinstance(rate, Steps) else steady(rate)
        more: dict[str, Any] = {}
        if number == 0:
            more = {"background": background or steady(0.0), "loss": steady(loss)}
        links[name] = Link(capacity, steady(delay * (number + 1)), queue=0.001, **more)
        cut = tuple(outages) if number == 0 else ()
        paths.append(Path(name, 3 if number else 2, ("mu", "osu"), (name,), max(capacity.values), cut))
    return Network(links, tuple(paths), hosts)


def transfer(number: int = 1, at: float = 0.0, megabytes: float = 125.0, **fields: Any) -> Transfer:
    """One GBit by default: a second at 1 Gbps."""
    body: dict[str, Any] = {
        "source": "mu",
        "destination": "osu",
        "size": round(megabytes * 1e6),
        "template": "bulk",
        "streams": 1,
        "priority": 500,
    }
    return Transfer(number, at, **{**body, **fields})


def workload(
    *transfers: Transfer, over: Network | None = None, end: float = 1000.0, plan: Plan | None = None
) -> Workload:
    """These transfers."""
    where = network() if over is None else over
    templates = {"bulk": EAGER}
    return Workload("small", "A small world.", where, templates, transfers, plan or Plan(noise=0.0), end)


def ended(records: Sequence[Record]) -> list[float]:
    """When the transfers ended, rounded to microseconds; infinite if they did not."""
    return [math.inf if one.ended is None else round(one.ended, 6) for one in records]


def run(world: Workload, policy: Policy, *, measured: bool = False) -> list[Record]:
    """Without tests unless they are asked for."""
    return simulate(world, policy, seed=1, measured=measured)
