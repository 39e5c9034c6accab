"""A cloud in racks, for tests that run a testbed."""

from __future__ import annotations

from mininet_topos.topologies.cloud_topo import CloudTopo


class RackTree(CloudTopo):
    """Two racks below an aggregation switch ([CHOREO] figure 5)."""

    def describe(self, instances: int, hose: float) -> None:
        """Declare the cloud.

        :param instances: of each rack.
        :param hose: Mbit/s that each instance can send.
        """
        self.router("agg0")
        for rack in range(2):
            self.router(f"rack{rack}", "agg0")
            for number in range(instances):
                self.instance(f"r{rack}g{number}", f"rack{rack}", egress=hose)
