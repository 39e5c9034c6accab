"""A datacentre's multi-rooted tree.

sudo mn --custom mininet_topos/topologies/choreo_tree.py --topo choreo_tree --controller remote
"""

import sys
from itertools import combinations
from pathlib import Path

# `mn` runs this file without __file__.
sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parents[2]))

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo


class ChoreoTree(CampusTopo):
    """A datacentre's multi-rooted tree.

    [CHOREO] figure 5: hosts in racks, top-of-rack switches (ToR), two aggregate switches for each half of
    the racks, two core switches above them. The rates are those of its figure 3(b): 1 Gbps from a host to
    its ToR, 10 Gbps above. Two hosts of a rack are two hops apart, of one half four, of two halves six,
    as in section 3.3.1. To ADON a rack is a campus, its ToR the edge; each root of the tree carries an
    overlay, and the gateways of the racks are joined by a routed network.
    """

    def describe(self) -> None:
        """Declare the network."""
        racks = ("r1", "r2", "r3", "r4")
        for rack in racks:
            self.campus(rack, edge=f"{rack}-tor", dtns=[f"{rack}-h1", f"{rack}-h2"])
        self.provider_switch("a1", "a2", "a3", "a4", "c1", "c2")
        self.router("gw")

        for rack in racks:
            for host in ("h1", "h2"):
                self.circuit(f"{rack}-{host}n", f"{rack}-{host}", f"{rack}-tor", rate=1000)
        roots = {"r1": ("a1", "a2"), "r2": ("a1", "a2"), "r3": ("a3", "a4"), "r4": ("a3", "a4")}
        for rack, aggregates in roots.items():
            for aggregate in aggregates:
                self.circuit(f"{rack}-{aggregate}", f"{rack}-tor", aggregate, rate=10_000, delay=0.00002)
        for aggregate in ("a1", "a2", "a3", "a4"):
            for core in ("c1", "c2"):
                self.circuit(f"{aggregate}-{core}", aggregate, core, rate=10_000, delay=0.00005)
        for rack in racks:
            self.circuit(f"{rack}-gw", f"{rack}-rtr", "gw", rate=1000, delay=0.0001, port_names=("gw", rack))

        for root, core in enumerate(("c1", "c2")):
            for one, other in combinations(racks, 2):
                up, down = roots[one][root], roots[other][root]
                between = [up] if up == down else [up, core, down]
                self.transit_path(f"root{root + 1}-{one}-{other}", 2, [one, *between, other])
        for one, other in combinations(racks, 2):
            self.transit_path(f"routed-{one}-{other}", 3, [one, "gw", other])


topos = {"choreo_tree": ChoreoTree}
