"""Build a test network once, and say how long that took: ``testbed_up_inside ours|mininet NETWORK FOLDER``.

To be run as the first process of namespaces of its own, on the machine or in a guest.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from mininet_topos import building, namespaces, networks
from mininet_topos.laps import Laps
from mininet_topos.openvswitch import open_vswitch
from mininet_topos.points import measurement_points
from mininet_topos.testbed import testbed
from mininet_topos.topology import Topology

OPENFLOW_PORT = 6653


def main() -> None:
    """Build, tell, remove."""
    what, network, folder = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    build = {"ours": ours, "mininet": stock_mininet}[what]
    sys.stdout.write(json.dumps(build(networks.named(network).topology, Path(folder))) + "\n")


def ours(topology: Topology, folder: Path) -> dict[str, Any]:
    """With what a real one has besides: links' shapes, management network, measurement points."""
    laps = Laps()
    with testbed(topology, folder, OPENFLOW_PORT) as built:
        laps.lap("network")
        parts, emulation = dict(built.took), str(built.emulated_by)
        with measurement_points(built):
            laps.lap("points")
        laps.lap("points end")
    laps.lap("network ends")
    return {"parts": parts, "emulation": emulation, **laps.took}


def stock_mininet(topology: Topology, folder: Path) -> dict[str, Any]:
    """The same nodes and cables by Mininet's own ``net.start``, and nothing else on them.

    Without its ``init``, which raises limits of the whole machine.
    """
    from mininet.log import setLogLevel
    from mininet.net import Mininet
    from mininet.node import OVSSwitch

    setLogLevel("critical")
    Mininet.inited = True
    namespaces.write_settings(building.SETTINGS)
    with open_vswitch(folder / "ovs") as switches:
        os.environ.update(switches.environment)
        laps = Laps()
        net = Mininet(topo=None, build=False, controller=None)
        try:
            for host in topology.hosts:
                net.addHost(host.name, ip=None)
            for switch in topology.switches:
                net.addSwitch(
                    switch.name, cls=OVSSwitch, dpid=f"{switch.dpid:016x}", datapath="user", failMode="secure"
                )
            for link in topology.links:
                one, other = link.ends
                net.addLink(one.node, other.node, intfName1=one.name, intfName2=other.name)
            net.start()
            laps.lap("network")
        finally:
            net.stop()
        laps.lap("network ends")
    return laps.took


if __name__ == "__main__":
    main()
