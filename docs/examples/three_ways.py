"""A network of one's own: mu_osu with a second, smaller layer-2 circuit.

sudo PYTHONPATH=$PWD mn --custom docs/examples/three_ways.py --topo three_ways --controller remote
"""

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo


class ThreeWays(CampusTopo):
    """Two campuses with two circuits and the Internet between them.

    The regional network offers a circuit of its own beside AL2S.
    """

    def describe(self) -> None:
        """Declare the network."""
        self.campus("mu")  # mu-edge, mu-rtr and mu-dtn with their addresses
        self.campus("osu")
        self.provider_switch("t1", "t2", "r1", "r2")
        self.router("core")

        self.circuit("mu-t1", "mu-edge", "t1")
        self.circuit("al2s", "t1", "t2", goodput=5800, delay=0.005)  # Mbit/s, seconds
        self.circuit("osu-t2", "osu-edge", "t2")
        self.circuit("mu-r1", "mu-edge", "r1")
        self.circuit("regional", "r1", "r2", goodput=2000, delay=0.007)
        self.circuit("osu-r2", "osu-edge", "r2")
        self.circuit("routed", "mu-rtr", "core", goodput=650, delay=0.010)
        self.circuit("osu-wan", "osu-rtr", "core")

        self.transit_path("al2s", 2, ["mu", "t1", "t2", "osu"])
        self.transit_path("regional", 2, ["mu", "r1", "r2", "osu"])
        self.transit_path("internet", 3, ["mu", "core", "osu"])


topos = {"three_ways": ThreeWays}
