"""Two campuses with several DTNs each, and four paths.

sudo mn --custom mininet_topos/topologies/two_campuses.py --topo two_campuses --controller remote
"""

import sys
from pathlib import Path

# `mn` runs this file without __file__.
sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parents[2]))

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo


class TwoCampuses(CampusTopo):
    """Two campuses with several DTNs each, and four paths.

    A campus seldom has one DTN. Here east has three, one of them in a laboratory behind a second switch;
    west has two. Two overlays of different providers and two routed ways join them, so a broker has to
    choose among four paths and among pairs of DTNs; the cheap overlay and the commodity Internet lose
    packets now and then.
    """

    def describe(self) -> None:
        """Declare the network."""
        dtns = {"e-dtn1": None, "e-dtn2": None, "e-dtn3": "e-lab"}
        self.campus("east", edge="e-edge", routers=["e-rtr", "e-rtr2"], switches=["e-lab"], dtns=dtns)
        self.campus("west", edge="w-edge", routers=["w-rtr", "w-rtr2"], dtns=["w-dtn1", "w-dtn2"])
        self.provider_switch("al1", "al2", "re1", "re2")
        self.router("core", "nren")

        self.circuit("lab", "e-edge", "e-lab")
        # A national overlay, wide and short.
        self.circuit("e-al", "e-edge", "al1", port_names=("al", "east"))
        self.circuit("al", "al1", "al2", goodput=5000, delay=0.005)
        self.circuit("w-al", "w-edge", "al2", port_names=("al", "west"))
        # A regional one, half as wide and longer.
        self.circuit("e-re", "e-edge", "re1", port_names=("re", "east"))
        self.circuit("re", "re1", "re2", goodput=2500, delay=0.012, loss=0.0001)
        self.circuit("w-re", "w-edge", "re2", port_names=("re", "west"))
        # The commodity Internet.
        self.circuit(
            "inet", "e-rtr", "core", goodput=600, delay=0.015, loss=0.0005, port_names=("wan", "east")
        )
        self.circuit("w-inet", "w-rtr", "core", port_names=("wan", "west"))
        # The routed service of the research network.
        self.circuit("nren-e", "e-rtr2", "nren", goodput=1500, delay=0.008, port_names=("wan", "east"))
        self.circuit("nren-w", "w-rtr2", "nren", port_names=("wan", "west"))

        self.transit_path("al2s", 2, ["east", "al1", "al2", "west"])
        self.transit_path("regional", 2, ["east", "re1", "re2", "west"])
        self.transit_path("internet", 3, ["east", "core", "west"])
        self.transit_path("research", 3, ["east", "nren", "west"])


topos = {"two_campuses": TwoCampuses}
