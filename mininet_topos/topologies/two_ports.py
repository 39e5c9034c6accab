"""A campus with a layer-2 and a layer-3 port of 1 Gbps each.

sudo mn --custom mininet_topos/topologies/two_ports.py --topo two_ports --controller remote
"""

import sys
from pathlib import Path

# `mn` runs this file without __file__.
sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parents[2]))

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo


class TwoPorts(CampusTopo):
    """A campus with a layer-2 and a layer-3 port of 1 Gbps each.

    The edge of the journal version's queue scenario: one port toward layer 2, with a ladder of guaranteed
    shares, that leads to another campus, and one toward layer 3 that leads to homes. What lies behind the
    ports is as fast as they are.
    """

    scale = 50.0

    def describe(self) -> None:
        """Declare the network."""
        for name in ("mu", "osu", "home"):
            self.campus(name)
        self.provider_switch("t1", "t2")
        self.router("core")

        self.circuit("mu-al2s", "mu-edge", "t1", port_names=("al2s", "mu-edge"))
        self.circuit("line", "t1", "t2", rate=1000)
        self.circuit("osu-al2s", "osu-edge", "t2", port_names=("al2s", "osu-edge"))
        self.circuit("routed", "mu-rtr", "core", rate=1000, port_names=("wan", "mu"))
        self.circuit("home-wan", "home-rtr", "core", port_names=("wan", "home"))

        self.transit_path("al2s", 2, ["mu", "t1", "t2", "osu"])
        self.transit_path("internet", 3, ["mu", "core", "home"])


topos = {"two_ports": TwoPorts}
