"""The cloud of the benchmark ``rounds``."""

from __future__ import annotations

import random
from typing import ClassVar

from mininet_topos.topologies.cloud_topo import CloudTopo


class Zones(CloudTopo):
    """Three zones of unequal instances, drawn by a seed ([HEALTH] 4.2, Testbed II).

    Hoses are log-normal, and every tenth one is slow; round trips are those of [HEALTH] figure 9: 0.6 ms
    within a zone, between zones 2.0 (a, b), 2.6 (a, c) and 4.0 ms (b, c).  Rates suit two cores.
    """

    shares: ClassVar = {"a": 35, "b": 33, "c": 32}
    """Instances of each zone, of 100."""
    distances: ClassVar = {"a": 0.0, "b": 0.0007, "c": 0.001}
    """Seconds between a zone and the core, one way."""

    def describe(self, seed: int = 1, instances: int = 100) -> None:
        """Declare the cloud."""
        chance = random.Random(seed)
        self.router("core")
        for zone, delay in self.distances.items():
            self.router(zone * 2, "core", up=1000, down=1000, delay=delay)
        last = 0
        for zone, share in self.shares.items():
            last += share
            while len(self.instances) < round(instances * last / 100):
                slow = 4 if chance.random() < 0.1 else 1
                egress, ingress = _megabits(chance, 200, 0.25) / slow, _megabits(chance, 120, 0.5)
                name = f"i{len(self.instances):03d}"
                self.instance(name, zone * 2, zone, egress, ingress=ingress, delay=0.00015)


def _megabits(chance: random.Random, median: float, spread: float) -> float:
    """Return a log-normal rate, between an eighth and eight times of its median."""
    return median * min(8.0, max(0.125, chance.lognormvariate(0, spread)))
