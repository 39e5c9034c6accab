"""The workload suite: named workloads, each with its story in one sentence.

Rates and sizes are real ones, not scaled.  From the papers: two paths of 5.8 Gbps and 650 Mbps that are sold
as 10 and 1 Gbps, SoyKB transfers of 25 GB (and up to terabytes), Neuroblastoma beside them ([ADON] chapter 5,
figures 18-21); a port of 1 Gbps with ElderCare, RIVVIR, a GENI classroom and Neuroblastoma (the journal
version, spec section 10b).  Arrivals, loads and everything else is ours.  To add one: docs/simulation.md.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from adon.frozenmap import FrozenMap
from adon.simulation.drawing import (
    Bursts,
    Chosen,
    Description,
    Diurnal,
    Listed,
    LogNormal,
    Pareto,
    Poisson,
    Source,
)
from adon.simulation.network import Link, Network, Outage, Path
from adon.simulation.steps import Steps, steady
from adon.simulation.tcp import Stream
from adon.simulation.workload import Workload
from adon.templates_catalog.builtins import builtin_templates
from adon.templates_catalog.model import Template

G, M = 1e9, 1e6
GB, TB = 1e9, 1e12
MU_OSU = (("mu", "osu"),)
SOYKB = Chosen((10 * GB, 25 * GB, 50 * GB, 100 * GB), (4, 3, 2, 1))
"""25 GB is the thesis's; its mean is 31.5 GB: 43 s on the idle layer-2 path, 6.5 min on layer 3."""


@cache
def templates() -> Mapping[str, Template]:
    """By name.  The built-in ones lose their bounds on jitter and one-way delay, which the model has not."""
    found = {one.name: _modelled(one) for one in builtin_templates()}
    soykb = found["soykb"]
    own = (
        soykb.model_copy(update={"name": "soykb-600", "qspec": _bounded(soykb, 600 * M)}),
        _template("bulk", 300 * M, 300),
        _template("urgent", 1 * G, 800),
        _template("sync", None, 100),
    )
    return {**found, **{one.name: one for one in own}}


def _modelled(template: Template) -> Template:
    qspec = template.qspec.model_copy(update={"jitter": None, "one_way_delay": None})
    weights = {m: w for m, w in template.weights.items() if m.value not in ("jitter", "one_way_delay")}
    return template.model_copy(update={"qspec": qspec, "weights": FrozenMap(weights)})


def _bounded(template: Template, least: float) -> object:
    bound = template.qspec.throughput
    assert bound is not None
    return template.qspec.model_copy(update={"throughput": bound.model_copy(update={"min": least})})


def _template(name: str, least: float | None, priority: int) -> Template:
    """A bulk transfer that wants throughput: at least so many bits/s per stream, if any."""
    bound = {} if least is None else {"throughput": {"min": f"{least!r} bps"}}
    return Template.model_validate(
        {
            "name": name,
            "qspec": bound,
            "rspec": {"bandwidth_ceiling": "10 Gbps"},
            "weights": {"throughput": 1.0},
            "priority": priority,
        }
    )


def link(capacity: float | Steps, delay: float | Steps = 0.0, **more: Steps) -> Link:
    """A link with a queue of 5 ms."""
    return Link(
        capacity if isinstance(capacity, Steps) else steady(capacity),
        delay if isinstance(delay, Steps) else steady(delay),
        queue=0.005,
        **more,
    )


def thesis(
    l2: Link | None = None,
    l3: Link | None = None,
    outages: tuple[Outage, ...] = (),
    sold: float = 1 * G,
) -> Network:
    """Two campuses, AL2S and the Internet between them ([ADON] chapter 5)."""
    links = {"al2s": l2 or link(5.8 * G, 0.010), "internet": l3 or link(650 * M, 0.015)}
    paths = (
        Path("al2s", 2, ("mu", "osu"), ("al2s",), 10 * G, outages),
        Path("internet", 3, ("mu", "osu"), ("internet",), sold),
    )
    return Network(links, paths)


def twins(first: Link | None = None, second: Link | None = None, outages: tuple[Outage, ...] = ()) -> Network:
    """Two layer-2 paths alike in rate, the second one longer, and layer 3."""
    links = {
        "al2s-a": first or link(5.8 * G, 0.010),
        "al2s-b": second or link(5.8 * G, 0.018),
        "internet": link(650 * M, 0.015),
    }
    paths = (
        Path("al2s-a", 2, ("mu", "osu"), ("al2s-a",), 10 * G, outages),
        Path("al2s-b", 2, ("mu", "osu"), ("al2s-b",), 10 * G),
        Path("internet", 3, ("mu", "osu"), ("internet",), 1 * G),
    )
    return Network(links, paths)


def fan(*rates: float) -> Network:
    """So many paths side by side, the last one on layer 3."""
    links = {f"way-{n}": link(rate, 0.010 + 0.002 * n) for n, rate in enumerate(rates, 1)}
    names, last = tuple(links), len(rates)
    paths = tuple(
        Path(name, 3 if n == last else 2, ("mu", "osu"), (name,), rate)
        for n, (name, rate) in enumerate(zip(names, rates, strict=True), 1)
    )
    return Network(links, paths)


def shared() -> Network:
    """Two layer-2 paths that meet in one bottleneck nobody told the controller of, and an honest third."""
    links = {
        "a": link(5.8 * G, 0.004),
        "b": link(5.8 * G, 0.005),
        "middle": link(5.8 * G, 0.006),
        "other": link(3 * G, 0.020),
    }
    paths = (
        Path("al2s-a", 2, ("mu", "osu"), ("a", "middle"), 10 * G),
        Path("al2s-b", 2, ("mu", "osu"), ("b", "middle"), 10 * G),
        Path("internet", 3, ("mu", "osu"), ("other",), 3 * G),
    )
    return Network(links, paths)


def three_sites() -> Network:
    """Three campuses; each pair has a layer-2 and a layer-3 path, and each campus one access link for all."""
    links = {f"access-{site}": link(8 * G) for site in ("mu", "osu", "ncsa")}
    paths = []
    for number, (one, other) in enumerate((("mu", "osu"), ("mu", "ncsa"), ("osu", "ncsa"))):
        links[f"l2-{one}-{other}"] = link(5.8 * G, 0.008 + 0.002 * number)
        links[f"l3-{one}-{other}"] = link(900 * M, 0.014)
        for layer, rate in ((2, 10 * G), (3, 1 * G)):
            name = f"l{layer}-{one}-{other}"
            paths.append(Path(name, layer, (one, other), (f"access-{one}", name, f"access-{other}"), rate))
    return Network(links, tuple(paths))


THREE = (("mu", "osu"), ("mu", "ncsa"), ("osu", "ncsa"))
WINDOW = Stream(window=64e6, host=4 * G)


def at_times(first: float, *changes: tuple[float, float]) -> Steps:
    """A quantity that has this value until the changes."""
    return Steps.of((0.0, first), *changes)


def _figure_18() -> Description:
    """SoyKB at t1, over at t2; Neuroblastoma at t3, more urgent; 600 Mbps of SoyKB at t4, 700 at t6."""
    one = Chosen((25 * GB,))
    return Description(
        "figure-18",
        "The thesis's afternoon: SoyKB alone, then Neuroblastoma beside it, and two more SoyKB transfers.",
        thesis(),
        (
            Source("soykb", Listed((0.0,)), one, MU_OSU),
            Source("neuroblastoma", Listed((240.0,)), Chosen((300 * GB,)), MU_OSU, slack=(1.5, 1.5)),
            Source("soykb-600", Listed((420.0,)), one, MU_OSU, slack=(12, 12)),
            Source("soykb", Listed((540.0,)), one, MU_OSU, slack=(12, 12)),
        ),
    )


def _journal() -> Description:
    """Port rates as in the queue scenario; sizes are rate times session."""
    links = {"l2": link(1 * G, 0.008), "l3": link(1 * G, 0.012)}
    paths = tuple(Path(n, layer, ("mu", "osu"), (n,), 1 * G) for n, layer in (("l2", 2), ("l3", 3)))
    return Description(
        "journal-ports",
        "Video, remote desktops and a class share two ports of 1 Gbps with transfers of five streams.",
        Network(links, paths),
        (
            Source("eldercare", Poisson(12), Chosen((100 * M * 600 / 8,)), MU_OSU, ceiling=100 * M),
            Source("rivvir", Poisson(12), Chosen((10 * M * 900 / 8,)), MU_OSU, ceiling=10 * M),
            Source(
                "geni-classroom", Bursts(1200, 10, 60), Chosen((1 * M * 1200 / 8,)), MU_OSU, ceiling=1 * M
            ),
            Source("bulk", Poisson(14), LogNormal(8 * GB, 0.8, 60 * GB), MU_OSU, streams=5, slack=(2, 6)),
        ),
    )


def descriptions() -> tuple[Description, ...]:
    """All of them, in the order of the tables."""
    soykb, steady_load = "soykb", Poisson(55)
    slack = (2.0, 8.0)

    def soy(times: Poisson | Bursts | Diurnal, **more: object) -> tuple[Source, ...]:
        return (Source(soykb, times, SOYKB, MU_OSU, slack=slack, **more),)  # type: ignore[arg-type]

    mixed = (
        Source("urgent", Poisson(15), LogNormal(15 * GB, 0.7, 100 * GB), MU_OSU, slack=(2, 4)),
        Source("bulk", Poisson(25), LogNormal(40 * GB, 1.0, 400 * GB), MU_OSU, slack=(4, 12)),
        Source("sync", Poisson(10), LogNormal(30 * GB, 1.0, 300 * GB), MU_OSU),
    )
    return (
        _figure_18(),
        Description("soykb", "A working day of SoyKB: layer 2 half loaded.", thesis(), soy(Poisson(35))),
        Description("soykb-busy", "A busy day of SoyKB: layer 2 is nearly full.", thesis(), soy(steady_load)),
        _journal(),
        Description(
            "heavy-tail",
            "Most transfers are small, most bytes are in a few large ones.",
            twins(),
            (Source("bulk", Poisson(100), Pareto(0.6, 2 * GB, 1 * TB), MU_OSU, slack=(3, 10)),),
        ),
        Description(
            "bursts", "Every ten minutes a dozen requests come at once.", twins(), soy(Bursts(600, 12))
        ),
        Description(
            "diurnal",
            "Requests come and go like a day's: nearly none, then more than the network carries.",
            twins(),
            soy(Diurnal(80, 0.9, 3600)),
        ),
        Description(
            "deadlines-tight",
            "Every transfer has to be over within at most twice the time that it takes alone.",
            twins(),
            (Source(soykb, Poisson(60), SOYKB, MU_OSU, slack=(1.2, 2.0)),),
        ),
        Description(
            "deadlines-loose",
            "There is time enough for everybody, if those with less of it go first.",
            thesis(),
            (
                Source(soykb, Poisson(30), SOYKB, MU_OSU, slack=(1.5, 3)),
                Source("bulk", Poisson(20), SOYKB, MU_OSU, slack=(10, 40)),
            ),
        ),
        Description("priorities", "Urgent transfers among patient ones.", thesis(), mixed),
        Description(
            "contention-l2",
            "Other people's transfers fill layer 2 for twenty minutes, as in figure 21.",
            thesis(link(5.8 * G, 0.010, background=at_times(0, (1200, 14), (2400, 0)))),
            soy(Poisson(35)),
        ),
        Description(
            "contention-comes-and-goes",
            "On two equal paths other people's load goes from one to the other every ten minutes.",
            twins(
                link(5.8 * G, 0.010, background=at_times(0, *_alternating(0, 6, 600, 3900))),
                link(5.8 * G, 0.018, background=at_times(6, *_alternating(6, 0, 600, 3900))),
            ),
            soy(Poisson(60)),
        ),
        Description(
            "half-sold",
            "One of two paths sold as equal carries a quarter of the other.",
            twins(link(1.5 * G, 0.010)),
            soy(Poisson(50)),
        ),
        Description(
            "path-change",
            "The provider reroutes the better path: for half an hour it is longer and carries 1 Gbps.",
            twins(
                link(
                    at_times(5.8 * G, (1200, 1 * G), (3000, 5.8 * G)),
                    at_times(0.010, (1200, 0.04), (3000, 0.010)),
                )
            ),
            soy(Poisson(60)),
        ),
        Description(
            "path-failure",
            "Layer 2 is cut for a quarter of an hour, and the edges see it.",
            thesis(outages=(Outage(1500, 2400),)),
            soy(Poisson(25)),
        ),
        Description(
            "silent-failure",
            "One path swallows everything for ten minutes, and no port goes down.",
            twins(outages=(Outage(1500, 2100, seen=False),)),
            soy(Poisson(50)),
        ),
        Description(
            "flapping",
            "The first path goes down for a minute, again and again.",
            twins(outages=tuple(Outage(at, at + 60) for at in range(900, 3600, 360))),
            soy(Poisson(50)),
        ),
        Description(
            "shared-bottleneck",
            "Two of three paths meet in a bottleneck that nobody told the controller of.",
            shared(),
            soy(Poisson(60)),
        ),
        Description(
            "three-sites",
            "Three campuses whose access links are shared by all their paths.",
            three_sites(),
            (Source(soykb, Poisson(80), SOYKB, THREE, slack=slack),),
        ),
        Description(
            "long-fat",
            "Long paths and finite windows: no single stream fills a path, several transfers do.",
            replace(thesis(link(9.4 * G, 0.050), link(2 * G, 0.035), sold=2 * G), hosts={"mu": WINDOW}),
            (Source("bulk", Poisson(80), SOYKB, MU_OSU, slack=slack),),
        ),
        Description(
            "lossy-l3",
            "Layer 3 loses packets, which long paths do not forgive; two streams each help a little.",
            thesis(l3=link(2 * G, 0.030, loss=steady(0.0005)), sold=2 * G),
            (Source("bulk", Poisson(55), SOYKB, MU_OSU, streams=2, slack=slack),),
        ),
        Description(
            "dirty-fibre",
            "From the twentieth to the fortieth minute the first path loses one packet in two hundred.",
            twins(link(5.8 * G, 0.010, loss=at_times(0, (1500, 0.005), (2700, 0)))),
            soy(Poisson(50)),
        ),
        Description(
            "four-equal",
            "Four equal paths: a hash does as well as anybody.",
            fan(2.5 * G, 2.5 * G, 2.5 * G, 2.5 * G),
            soy(Poisson(70)),
        ),
        Description(
            "four-unequal",
            "Four paths from 10 Gbps to 650 Mbps: a hash does not know.",
            fan(10 * G, 5.8 * G, 2 * G, 650 * M),
            (Source("bulk", Poisson(110), SOYKB, MU_OSU, slack=slack),),
        ),
        Description(
            "overload",
            "For half an hour more is asked for than the network carries; then it has time to recover.",
            thesis(),
            (Source(soykb, Poisson(110), SOYKB, MU_OSU, slack=(4, 20)),),
            lasts=1800,
        ),
        Description(
            "elephants",
            "Now and then a terabyte, and many small transfers that should not wait behind it.",
            twins(),
            (
                Source("bulk", Poisson(3), Chosen((1 * TB,)), MU_OSU, streams=4, slack=(3, 6)),
                Source("bulk", Poisson(60), LogNormal(3 * GB, 0.6, 20 * GB), MU_OSU, slack=(3, 10)),
            ),
        ),
        Description(
            "quiet",
            "Little is asked for: whoever is put onto the good path has nothing to complain of.",
            thesis(),
            soy(Poisson(8)),
        ),
    )


def _alternating(first: float, other: float, every: float, until: float) -> list[tuple[float, float]]:
    times = [every * turn for turn in range(1, int(until // every) + 1)]
    return [(at, other if turn % 2 == 0 else first) for turn, at in enumerate(times)]


def workload(name: str, seed: int) -> Workload:
    """One of them, drawn.

    :raises KeyError: if there is none of this name.
    """
    found = {one.name: one for one in descriptions()}[name]
    return found.draw(templates(), random.Random(f"{seed}/{name}"))
