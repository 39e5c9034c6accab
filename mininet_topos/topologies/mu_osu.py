"""Two campuses, joined by a layer-2 and a layer-3 path.

sudo mn --custom mininet_topos/topologies/mu_osu.py --topo mu_osu --controller remote
"""

import sys
from pathlib import Path

# `mn` runs this file without __file__.
sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parents[2]))

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo


class MuOsu(CampusTopo):
    """Two campuses, joined by a layer-2 and a layer-3 path.

    The network of [ADON] chapter 5: MU and OSU. Its paths carried 5.8 Gbps and 650 Mbps in a single TCP
    stream; at the scale of 1:100 that is 58 and 6.5 Mbps. The thesis gives no delays; these are assumed.
    """

    def describe(self) -> None:
        """Declare the network."""
        self.campus("mu")
        self.campus("osu")
        self.provider_switch("t1", "t2")
        self.router("core")

        self.circuit("mu-al2s", "mu-edge", "t1", port_names=("al2s", "mu-edge"))
        self.circuit("line", "t1", "t2", goodput=5800, delay=0.005)
        self.circuit("osu-al2s", "osu-edge", "t2", port_names=("al2s", "osu-edge"))
        self.circuit("routed", "mu-rtr", "core", goodput=650, delay=0.010, port_names=("wan", "mu"))
        self.circuit("osu-wan", "osu-rtr", "core", port_names=("wan", "osu"))

        self.transit_path("al2s", 2, ["mu", "t1", "t2", "osu"])
        self.transit_path("internet", 3, ["mu", "core", "osu"])


topos = {"mu_osu": MuOsu}
