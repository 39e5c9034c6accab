"""Five campuses with 20 switches each, on a backbone with two paths between any two.

sudo mn --custom mininet_topos/topologies/five_sites.py --topo five_sites --controller remote
"""

import sys
from itertools import combinations
from pathlib import Path

# `mn` runs this file without __file__.
sys.path.append(str(Path(sys._getframe().f_code.co_filename).resolve().parents[2]))

from mininet_topos.nodes import CLI  # noqa: F401 - `mn` takes its prompt from here
from mininet_topos.topologies.campus_topo import CampusTopo

BACKBONE = (
    ("seat", "salt", 10_000, 0.0055, 0.0),
    ("seat", "chic", 5_000, 0.0137, 0.0),
    ("seat", "losa", 10_000, 0.0076, 0.0),
    ("salt", "losa", 10_000, 0.0046, 0.0),
    ("salt", "kans", 10_000, 0.0073, 0.0),
    ("losa", "hous", 10_000, 0.0108, 0.0),
    ("hous", "kans", 5_000, 0.0051, 0.0),
    ("hous", "atla", 10_000, 0.0055, 0.0001),
    ("kans", "chic", 10_000, 0.0033, 0.0),
    ("chic", "atla", 5_000, 0.0046, 0.0),
    ("chic", "newy", 10_000, 0.0056, 0.0),
    ("chic", "wash", 5_000, 0.0047, 0.0),
    ("atla", "wash", 10_000, 0.0043, 0.0),
    ("wash", "newy", 10_000, 0.0016, 0.0),
)
"""Circuits of the backbone: ends, Mbit/s, seconds, loss."""

FIRST = (
    "nw seat losa sw",
    "nw seat chic mw",
    "nw seat chic atla se",
    "nw seat chic wash newy ne",
    "sw losa salt kans chic mw",
    "sw losa hous atla se",
    "sw losa salt kans chic newy ne",
    "mw chic atla se",
    "mw chic newy ne",
    "se atla wash newy ne",
)
"""Routes of the first overlay between each two campuses, and of the second."""
SECOND = (
    "nw seat salt losa sw",
    "nw seat salt kans chic mw",
    "nw seat salt kans hous atla se",
    "nw seat salt kans chic newy ne",
    "sw losa hous atla chic mw",
    "sw losa salt kans chic atla se",
    "sw losa hous atla wash newy ne",
    "mw chic wash atla se",
    "mw chic wash newy ne",
    "se atla chic newy ne",
)


class FiveSites(CampusTopo):
    """Five campuses with 20 switches each, on a backbone with two paths between any two.

    A network of the size that a controller meets: 100 campus switches, of which ADON controls the five
    edges, and a made-up research backbone. Behind each edge is a campus network of 19 switches; one DTN
    hangs on the edge (a science DMZ), one in a laboratory at the bottom. Delays are great circles in
    fibre (refractive index 1.468); for each pair of campuses the two overlays share no backbone circuit
    and are together as short as possible. The routed path leads over one router in the middle of the
    country.
    """

    def describe(self) -> None:
        """Declare the network."""
        backbone = {"nw": "seat", "sw": "losa", "mw": "chic", "se": "atla", "ne": "newy"}
        for name in backbone:
            self._declare_campus(name)
        self.provider_switch("seat", "salt", "losa", "hous", "kans", "chic", "atla", "wash", "newy")
        self.router("core")

        # From the campuses to the backbone and to the Internet.
        for name, switch in backbone.items():
            self.circuit(f"{name}-{switch}", f"{name}-edge", switch)
        for name, delay in (("nw", 0.0085), ("sw", 0.0086), ("mw", 0.0055), ("se", 0.0086), ("ne", 0.0111)):
            ports = ("wan", name)
            self.circuit(f"{name}-inet", f"{name}-rtr", "core", goodput=650, delay=delay, port_names=ports)
        for one, other, rate, delay, loss in BACKBONE:
            self.circuit(f"{one}-{other}", one, other, rate=rate, delay=delay, loss=loss)

        for overlay, routes in (("first", FIRST), ("second", SECOND)):
            for route in routes:
                one, *between, other = route.split()
                self.transit_path(f"{overlay}-{one}-{other}", 2, [one, *between, other])
        for one, other in combinations(self.campuses, 2):
            self.transit_path(f"internet-{one}-{other}", 3, [one, "core", other])

    def _declare_campus(self, name: str) -> None:
        """Declare a campus: a core switch, three buildings below it, five floors in each."""
        core = f"{name}-1"
        above = {core: f"{name}-edge"}
        for building in (f"{core}1", f"{core}2", f"{core}3"):
            above[building] = core
            above |= {f"{building}{floor}": building for floor in range(1, 6)}
        self.campus(name, switches=[*above], dtns={f"{name}-dtn": None, f"{name}-lab": f"{name}-123"})
        for switch, upper in above.items():
            self.circuit(f"{switch}u", switch, upper)


topos = {"five_sites": FiveSites}
