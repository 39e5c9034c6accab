"""The 27 workloads of the completion-time benchmark.

Rates and sizes are real, not scaled.  From the papers: two paths of 5.8 Gbps and 650 Mbps that are sold as 10
and 1 Gbps, SoyKB transfers of 25 GB (and up to terabytes), Neuroblastoma in addition ([ADON] chapter 5,
figures 18-21); a port of 1 Gbps with ElderCare, RIVVIR, a GENI classroom and Neuroblastoma (the journal
version).  Arrivals, loads and all other numbers are ours.  docs/simulator.md says how to add a workload.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from adon.simulation.simulated_network import (
    HostLimit,
    Outage,
    SimulatedLink,
    SimulatedNetwork,
    SimulatedPath,
)
from adon.simulation.workload import (
    ArrivalTimes,
    Sizes,
    TransferSource,
    Workload,
    WorkloadDescription,
    arrivals_at,
    bursts,
    choice,
    diurnal,
    log_normal,
    pareto,
    poisson,
)
from adon.step_function import StepFunction, constant
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import Template
from adon.values import FrozenMap

G, M = 1e9, 1e6
GB, TB = 1e9, 1e12
MU_OSU = (("mu", "osu"),)
SLACK = (2.0, 8.0)
SOYKB = choice(10 * GB, 25 * GB, 50 * GB, 100 * GB, weights=(4, 3, 2, 1))
"""25 GB is the thesis's; the mean is 31.5 GB: 43 s on the idle layer-2 path, 6.5 min on layer 3."""


@cache
def templates() -> Mapping[str, Template]:
    """Return the templates by name; the simulator models neither jitter nor one-way delay."""
    found = {one.name: _without_jitter(one) for one in builtin_templates()}
    soykb = found["soykb"].qspec
    assert soykb.throughput is not None
    lower = soykb.model_copy(update={"throughput": soykb.throughput.model_copy(update={"min": 600 * M})})
    found["soykb-600"] = found["soykb"].model_copy(update={"name": "soykb-600", "qspec": lower})
    for name, least, priority in (("bulk", 300 * M, 300), ("urgent", 1 * G, 800), ("sync", None, 100)):
        body = {
            "name": name,
            "qspec": {} if least is None else {"throughput": {"min": f"{least!r} bps"}},
            "rspec": {"bandwidth_ceiling": "10 Gbps"},
            "weights": {"throughput": 1.0},
            "priority": priority,
        }
        found[name] = Template.model_validate(body)
    return found


def _without_jitter(template: Template) -> Template:
    qspec = template.qspec.model_copy(update={"jitter": None, "one_way_delay": None})
    weights = {m: w for m, w in template.weights.items() if m.value not in ("jitter", "one_way_delay")}
    return template.model_copy(update={"qspec": qspec, "weights": FrozenMap(weights)})


def steps(first: float, *changes: tuple[float, float]) -> StepFunction[float]:
    """Return a quantity with a first value, and others from given times on."""
    return StepFunction((0.0, *(at for at, _ in changes)), (first, *(value for _, value in changes)))


def link(
    capacity: float | StepFunction[float],
    delay: float | StepFunction[float] = 0.0,
    **more: StepFunction[float],
) -> SimulatedLink:
    """Return a link with a queue of 5 ms."""
    rate = capacity if isinstance(capacity, StepFunction) else constant(capacity)
    wait = delay if isinstance(delay, StepFunction) else constant(delay)
    return SimulatedLink(rate, wait, queue=0.005, **more)


def path(
    name: str, layer: int, advertised: float, links: tuple[str, ...] = (), outages: tuple[Outage, ...] = ()
) -> SimulatedPath:
    """Return a path between the two campuses; without links over one of its own name."""
    return SimulatedPath(name, layer, MU_OSU[0], links or (name,), advertised, outages)


def thesis(
    links: Mapping[str, SimulatedLink] = FrozenMap(), outages: tuple[Outage, ...] = (), sold: float = 1 * G
) -> SimulatedNetwork:
    """Return two campuses with AL2S and the Internet between them ([ADON] chapter 5), or with other links."""
    idle = {"al2s": link(5.8 * G, 0.010), "internet": link(650 * M, 0.015)}
    return SimulatedNetwork(
        {**idle, **links}, (path("al2s", 2, 10 * G, (), outages), path("internet", 3, sold))
    )


def twins(
    links: Mapping[str, SimulatedLink] = FrozenMap(), outages: tuple[Outage, ...] = ()
) -> SimulatedNetwork:
    """Return two layer-2 paths with equal rates, the second one longer, and layer 3; or with other links."""
    equal = {"al2s-a": link(5.8 * G, 0.010), "al2s-b": link(5.8 * G, 0.018), "internet": link(650 * M, 0.015)}
    paths = (path("al2s-a", 2, 10 * G, (), outages), path("al2s-b", 2, 10 * G), path("internet", 3, 1 * G))
    return SimulatedNetwork({**equal, **links}, paths)


def fan(*rates: float) -> SimulatedNetwork:
    """Return parallel paths, the last one on layer 3."""
    links = {f"way-{n}": link(rate, 0.010 + 0.002 * n) for n, rate in enumerate(rates, 1)}
    paths = [path(name, 2, rate) for name, rate in zip(links, rates, strict=True)]
    return SimulatedNetwork(links, (*paths[:-1], replace(paths[-1], layer=3)))


def shared() -> SimulatedNetwork:
    """Return two layer-2 paths with a bottleneck in common that the controller does not know, and a third."""
    links = {
        "a": link(5.8 * G, 0.004),
        "b": link(5.8 * G, 0.005),
        "middle": link(5.8 * G, 0.006),
        "other": link(3 * G, 0.020),
    }
    paths = (
        path("al2s-a", 2, 10 * G, ("a", "middle")),
        path("al2s-b", 2, 10 * G, ("b", "middle")),
        path("internet", 3, 3 * G, ("other",)),
    )
    return SimulatedNetwork(links, paths)


def three_sites() -> SimulatedNetwork:
    """Return three campuses: each pair has a layer-2 and a layer-3 path, each campus one access link."""
    links = {f"access-{site}": link(8 * G) for site in ("mu", "osu", "ncsa")}
    paths = []
    for number, ends in enumerate(THREE):
        one, other = ends
        links[f"l2-{one}-{other}"] = link(5.8 * G, 0.008 + 0.002 * number)
        links[f"l3-{one}-{other}"] = link(900 * M, 0.014)
        for layer, rate in ((2, 10 * G), (3, 1 * G)):
            name = f"l{layer}-{one}-{other}"
            over = (f"access-{one}", name, f"access-{other}")
            paths.append(SimulatedPath(name, layer, ends, over, rate))
    return SimulatedNetwork(links, tuple(paths))


THREE = (("mu", "osu"), ("mu", "ncsa"), ("osu", "ncsa"))
WINDOW = HostLimit(window=64e6, rate=4 * G)
JOURNAL = SimulatedNetwork(
    {"l2": link(1 * G, 0.008), "l3": link(1 * G, 0.012)}, (path("l2", 2, 1 * G), path("l3", 3, 1 * G))
)


def requests(template: str, times: ArrivalTimes, sizes: Sizes, **more: Any) -> TransferSource:
    """Return transfers between the two campuses."""
    return TransferSource(template, times, sizes, MU_OSU, **more)


def soykb(times: ArrivalTimes, slack: tuple[float, float] = SLACK) -> TransferSource:
    """Return SoyKB transfers between the two campuses."""
    return requests("soykb", times, SOYKB, slack=slack)


def bulk(times: ArrivalTimes, sizes: Sizes = SOYKB, **more: Any) -> TransferSource:
    """Return bulk transfers between the two campuses."""
    return requests("bulk", times, sizes, **{"slack": SLACK, **more})


def alternating(first: float, other: float) -> StepFunction[float]:
    """Return a quantity that changes between two values every ten minutes."""
    return steps(first, *((600.0 * turn, other if turn % 2 else first) for turn in range(1, 7)))


def descriptions() -> tuple[WorkloadDescription, ...]:
    """Return all workloads, in the order of the tables."""
    soykb_25 = choice(25 * GB)
    contention = {
        "al2s-a": link(5.8 * G, 0.010, other_streams=alternating(0, 6)),
        "al2s-b": link(5.8 * G, 0.018, other_streams=alternating(6, 0)),
    }
    reroute = link(steps(5.8 * G, (1200, 1 * G), (3000, 5.8 * G)), steps(0.010, (1200, 0.04), (3000, 0.010)))
    long_fat = thesis({"al2s": link(9.4 * G, 0.050), "internet": link(2 * G, 0.035)}, sold=2 * G)
    described: dict[str, tuple[SimulatedNetwork, tuple[TransferSource, ...]]] = {
        # The thesis's afternoon: SoyKB at t1, more urgent Neuroblastoma at t3, SoyKB at t4 and t6.
        "figure-18": (
            thesis(),
            (
                requests("soykb", arrivals_at(0.0), soykb_25),
                requests("neuroblastoma", arrivals_at(240.0), choice(300 * GB), slack=(1.5, 1.5)),
                requests("soykb-600", arrivals_at(420.0), soykb_25, slack=(12, 12)),
                requests("soykb", arrivals_at(540.0), soykb_25, slack=(12, 12)),
            ),
        ),
        # A working day of SoyKB: layer 2 half loaded.
        "soykb": (thesis(), (soykb(poisson(35)),)),
        # A busy day of SoyKB: layer 2 is nearly full.
        "soykb-busy": (thesis(), (soykb(poisson(55)),)),
        # Video, remote desktops and a class share two ports of 1 Gbps with transfers of five streams.
        "journal-ports": (
            JOURNAL,
            (
                requests("eldercare", poisson(12), choice(100 * M * 600 / 8), ceiling=100 * M),
                requests("rivvir", poisson(12), choice(10 * M * 900 / 8), ceiling=10 * M),
                requests("geni-classroom", bursts(1200, 10, 60), choice(1 * M * 1200 / 8), ceiling=1 * M),
                bulk(poisson(14), log_normal(8 * GB, 0.8, 60 * GB), streams=5, slack=(2, 6)),
            ),
        ),
        # Most transfers are small, most bytes are in a few large ones.
        "heavy-tail": (twins(), (bulk(poisson(100), pareto(0.6, 2 * GB, 1 * TB), slack=(3, 10)),)),
        # Every ten minutes a dozen requests arrive at once.
        "bursts": (twins(), (soykb(bursts(600, 12)),)),
        # The rate of requests goes from nearly zero to more than the network carries, as in a day.
        "diurnal": (twins(), (soykb(diurnal(80, 0.9, 3600)),)),
        # Every deadline is at most twice the time that the transfer takes alone.
        "deadlines-tight": (twins(), (soykb(poisson(60), slack=(1.2, 2.0)),)),
        # All deadlines can be met if the urgent transfers go first.
        "deadlines-loose": (
            thesis(),
            (soykb(poisson(30), slack=(1.5, 3)), bulk(poisson(20), slack=(10, 40))),
        ),
        # Urgent transfers among patient ones.
        "priorities": (
            thesis(),
            (
                requests("urgent", poisson(15), log_normal(15 * GB, 0.7, 100 * GB), slack=(2, 4)),
                bulk(poisson(25), log_normal(40 * GB, 1.0, 400 * GB), slack=(4, 12)),
                requests("sync", poisson(10), log_normal(30 * GB, 1.0, 300 * GB)),
            ),
        ),
        # Other people's transfers fill layer 2 for twenty minutes, as in figure 21.
        "contention-l2": (
            thesis({"al2s": link(5.8 * G, 0.010, other_streams=steps(0, (1200, 14), (2400, 0)))}),
            (soykb(poisson(35)),),
        ),
        # Other people's load moves from one of two equal paths to the other every ten minutes.
        "contention-comes-and-goes": (twins(contention), (soykb(poisson(60)),)),
        # One of two paths sold as equal carries a quarter of the other.
        "half-sold": (twins({"al2s-a": link(1.5 * G, 0.010)}), (soykb(poisson(50)),)),
        # The provider reroutes the better path: for half an hour it is longer and carries 1 Gbps.
        "path-change": (twins({"al2s-a": reroute}), (soykb(poisson(60)),)),
        # Layer 2 is cut for a quarter of an hour, and the edges see it.
        "path-failure": (thesis(outages=(Outage(1500, 2400),)), (soykb(poisson(25)),)),
        # One path loses everything for ten minutes, and no port goes down.
        "silent-failure": (twins(outages=(Outage(1500, 2100, visible=False),)), (soykb(poisson(50)),)),
        # The first path goes down for a minute, again and again.
        "flapping": (
            twins(outages=tuple(Outage(at, at + 60) for at in range(900, 3600, 360))),
            (soykb(poisson(50)),),
        ),
        # Two of three paths have a bottleneck in common that the controller does not know.
        "shared-bottleneck": (shared(), (soykb(poisson(60)),)),
        # Three campuses whose access links are shared by all their paths.
        "three-sites": (three_sites(), (TransferSource("soykb", poisson(80), SOYKB, THREE, slack=SLACK),)),
        # Long paths and finite windows: no single stream fills a path, several transfers do.
        "long-fat": (replace(long_fat, hosts={"mu": WINDOW}), (bulk(poisson(80)),)),
        # Layer 3 loses packets, which limits streams on long paths; two streams each help a little.
        "lossy-l3": (
            thesis({"internet": link(2 * G, 0.030, loss=constant(0.0005))}, sold=2 * G),
            (bulk(poisson(55), streams=2),),
        ),
        # From the twentieth to the fortieth minute the first path loses one packet in two hundred.
        "dirty-fibre": (
            twins({"al2s-a": link(5.8 * G, 0.010, loss=steps(0, (1500, 0.005), (2700, 0)))}),
            (soykb(poisson(50)),),
        ),
        # Four equal paths: a hash does as well as any policy.
        "four-equal": (fan(2.5 * G, 2.5 * G, 2.5 * G, 2.5 * G), (soykb(poisson(70)),)),
        # Four paths from 10 Gbps to 650 Mbps: a hash does not know the difference.
        "four-unequal": (fan(10 * G, 5.8 * G, 2 * G, 650 * M), (bulk(poisson(110)),)),
        # For half an hour requests exceed what the network carries; then it has time to recover.
        "overload": (thesis(), (soykb(poisson(110), slack=(4, 20)),)),
        # Now and then a terabyte, and many small transfers that should not wait behind it.
        "elephants": (
            twins(),
            (
                bulk(poisson(3), choice(1 * TB), streams=4, slack=(3, 6)),
                bulk(poisson(60), log_normal(3 * GB, 0.6, 20 * GB), slack=(3, 10)),
            ),
        ),
        # Few requests: a transfer on the good path is alone.
        "quiet": (thesis(), (soykb(poisson(8)),)),
    }
    lasts = {"overload": 1800.0}
    return tuple(
        WorkloadDescription(name, network, sources, lasts=lasts.get(name, 3600.0))
        for name, (network, sources) in described.items()
    )


def workload(name: str, seed: int) -> Workload:
    """Return one workload, drawn from a seed.

    :raises KeyError: if there is none of this name.
    """
    found = {one.name: one for one in descriptions()}[name]
    return found.draw(templates(), random.Random(f"{seed}/{name}"))
