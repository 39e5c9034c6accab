"""The rules of a test network's edges: what keeps loads on their paths, and whether a trial left any.

A network is used for many trials.  Between two the edges have the rules again that they had at first; where
they have not, the network is not used again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from adon.errors import AdonError
from apps.experiments.kept import at_once, keep
from mininet_topos.networks import Site
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.static_rules import Rule, Traffic, rules

OURS = "cookie=0xad00000000000000/0xff00000000000000"
"""The rules that ADON's cookies mark."""
STATIC = "cookie=0x0e00000000000000/0xff00000000000000"
"""Those that keep paths without it."""
MEASURED_COOKIE = 0x0E000000_00000000


def pin_measured(bed: Bed) -> None:
    """Without ADON nobody else keeps what is sent between measured addresses on its path: loads need it."""
    wanted: list[Rule] = []
    for path in bed.network.paths:
        if not path.addresses:
            continue
        one, other = (bed.network.site(site).measuring.host for site in path.sites)
        addresses = (path.addresses[path.sites[0]], path.addresses[path.sites[1]])
        wanted += rules(bed.network, path.name, Traffic(one, other, addresses=addresses))
    keep(bed.ofctl, wanted, MEASURED_COOKIE)


def rules_of(bed: Bed) -> dict[str, frozenset[str]]:
    """The rules of every edge, without counters."""
    found: dict[str, frozenset[str]] = {}

    def look(site: Site) -> None:
        found[site.edge] = _rules(bed.dump_flows(site.edge))

    at_once(look, bed.network.sites)
    return found


_COUNTERS = re.compile(r"(duration|n_packets|n_bytes|idle_age|hard_age)=[^ ,]*,? ?")


def _rules(dump: str) -> frozenset[str]:
    lines = (_COUNTERS.sub("", line).strip() for line in dump.splitlines() if "cookie=" in line)
    return frozenset(lines)


def cleared(bed: Bed, first: Mapping[str, frozenset[str]]) -> bool:
    """Remove what a trial left in the edges; whether they are then as they were at first."""
    try:
        left = [(site.edge, cookie) for site in bed.network.sites for cookie in (OURS, STATIC)]
        at_once(lambda one: bed.ofctl("del-flows", *one), left)
        return rules_of(bed) == dict(first)
    except AdonError:
        return False
