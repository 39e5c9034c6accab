"""Small worlds for tests of the simulation: two paths between two sites, and a handful of transfers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adon.simulation.engine import TransferRecord, simulate
from adon.simulation.policies import Policy
from adon.simulation.simulated_network import (
    HostLimit,
    Outage,
    SimulatedLink,
    SimulatedNetwork,
    SimulatedPath,
)
from adon.simulation.synthetic_tests import PeriodicTests
from adon.simulation.workload import Transfer, Workload
from adon.step_function import StepFunction, constant
from tests.support.factories import make_template

BULK = make_template(
    name="bulk",
    qspec={"throughput": {"min": "100 Mbps"}},
    tables={"throughput": {"points": [["1 Mbps", 1], ["2 Gbps", 10]]}},
    selection={"patience": 1, "min_dwell": "0 s", "switch_margin": 1},
)


def steps(*changes: tuple[float, float]) -> StepFunction[float]:
    """A quantity with these values from these times on."""
    return StepFunction(tuple(at for at, _ in changes), tuple(value for _, value in changes))


def network(
    *rates: float | StepFunction[float],
    outages: Sequence[Outage] = (),
    others: StepFunction[float] | None = None,
    loss: float = 0.0,
    **hosts: HostLimit,
) -> SimulatedNetwork:
    """A path per rate between ``mu`` and ``osu``: the first on layer 2, the others on layer 3.

    Outages, other people's streams and loss are those of the first path.
    """
    links, paths = {}, []
    for number, rate in enumerate(rates or (1e9, 0.1e9)):
        name = f"p{number}"
        capacity = rate if isinstance(rate, StepFunction) else constant(rate)
        more = {"other_streams": others or constant(0.0), "loss": constant(loss)} if number == 0 else {}
        links[name] = SimulatedLink(capacity, constant(0.01 * (number + 1)), queue=0.001, **more)
        cut = tuple(outages) if number == 0 else ()
        layer = 3 if number else 2
        paths.append(SimulatedPath(name, layer, ("mu", "osu"), (name,), max(capacity.values), cut))
    return SimulatedNetwork(links, tuple(paths), hosts)


def transfer(number: int = 1, at: float = 0.0, megabytes: float = 125.0, **fields: Any) -> Transfer:
    """One Gbit by default: a second at 1 Gbps."""
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
    *transfers: Transfer,
    over: SimulatedNetwork | None = None,
    end: float = 1000.0,
    tests: PeriodicTests | None = None,
) -> Workload:
    """A workload of these transfers."""
    tests = tests or PeriodicTests(noise=0.0)
    return Workload("small", over or network(), {"bulk": BULK}, transfers, tests, end)


def ends(records: Sequence[TransferRecord]) -> list[float]:
    """The times at which transfers ended, rounded to microseconds; infinite if they did not."""
    return [math.inf if one.ended is None else round(one.ended, 6) for one in records]


def run(world: Workload, policy: Policy, *, tests: bool = False) -> list[TransferRecord]:
    """Run a workload, without tests by default."""
    return simulate(world, policy, seed=1, tests=tests)
