"""The networks that [CHOREO] drew: figures 3 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from measurement.health.model import Pair
from mininet_topos.cloud.description import Cloud, Guest, Limit, Path, Router


def tree(
    racks: int = 4,
    machines: int = 2,
    guests: int = 1,
    *,
    per_aggregation: int = 2,
    hose: float | None = 100e6,
    rack_link: float | None = None,
    aggregation_link: float | None = None,
    within: float | None = 400e6,
    delay: float = 0.1e-3,
) -> Cloud:
    """A data centre as in figure 5: machines in racks, racks at aggregation switches, those at a core.

    Guests are one hop apart on one machine, two in a rack, four under one aggregation switch, else six.

    :param machines, guests: per rack, and per machine.
    :param per_aggregation: racks of an aggregation switch.
    :param hose: bits/s out of each guest, but not to others of its machine.
    :param rack_link, aggregation_link: bits/s between a rack and its aggregation switch, and that and the
        core, in each direction.
    :param within: bits/s between guests of one machine.
    :param delay: one way, per hop, in seconds.
    """
    aggregations = range(-(-racks // per_aggregation))
    routers = (
        Router("core"),
        *(Router(f"agg{number}", "core", aggregation_link, aggregation_link) for number in aggregations),
        *(
            Router(f"rack{number}", f"agg{number // per_aggregation}", rack_link, rack_link)
            for number in range(racks)
        ),
    )
    members = tuple(
        Guest(
            f"r{rack}m{machine}g{guest}",
            f"rack{rack}",
            machine=f"r{rack}m{machine}",
            egress=None if hose is None else Limit(hose),
        )
        for rack in range(racks)
        for machine in range(machines)
        for guest in range(guests)
    )
    bare = Cloud("tree", routers, members)
    pairs = [Pair(one.name, other.name) for one, other in permutations(members, 2)]
    paths = {pair: Path(within if bare.neighbours(pair) else None, delay * bare.hops(pair)) for pair in pairs}
    return Cloud("tree", routers, members, paths)


def dumbbell(pairs: int = 10, link: float = 100e6, delay: float = 1e-3) -> Cloud:
    """Figure 3(a): senders ``s1``... and receivers ``r1``... with one link between them.

    :param link: bits/s of the shared link (1 Gbit/s in the paper).
    """
    routers = (Router("right"), Router("left", "right", up=link, down=link))
    ends = tuple(
        Guest(f"{side}{number}", router)
        for side, router in (("s", "left"), ("r", "right"))
        for number in range(1, pairs + 1)
    )
    return Cloud("dumbbell", routers, ends, _across(ends, delay))


def _across(ends: Sequence[Guest], delay: float) -> dict[Pair, Path]:
    """The paths from one router's guests to the other's."""
    return {
        Pair(one.name, other.name): Path(delay=delay)
        for one, other in permutations(ends, 2)
        if one.router != other.router
    }
