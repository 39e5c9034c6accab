"""Build a network and ping over its paths, in namespaces: ``every_path NETWORK FOLDER ANSWER [SITE SITE]``.

With two sites only the paths between these.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from mininet_topos.networks import Network, found
from mininet_topos.networks import Path as TransitPath
from mininet_topos.old_testbed import Testbed, testbed
from mininet_topos.static_rules import Traffic, pin
from mininet_topos.waiting import wait_until

OPENFLOW_PORT = 6653
COUNTED = 5.0


def main() -> None:
    name, folder, answer, *pair = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    network = found(name)
    paths = network.between(*pair) if pair else network.paths
    began = time.monotonic()
    with testbed(network.topology, Path(folder), OPENFLOW_PORT) as built:
        up = time.monotonic() - began
        told: dict[str, Any] = {
            "up": up,
            "emulated_by": str(built.emulated_by),
            "campus": {site.name: _campus(built, network, site.name) for site in network.sites},
            "paths": {path.name: _path(built, network, path) for path in paths},
            "expected": {path.name: _providers(network, path) for path in paths if path.layer == 2},
            "passed": _passed(built, network, [path for path in paths if path.layer == 2]),
        }
        told["whole"] = time.monotonic() - began
        leaving = time.monotonic()
    told["down"] = time.monotonic() - leaving
    Path(answer).write_text(json.dumps(told))


def _campus(built: Testbed, network: Network, name: str) -> bool:
    """Whether a site's first and last DTN reach the next site's by what the campus itself does (layer 3)."""
    sites = [site.name for site in network.sites]
    here = network.site(name).dtns
    there = network.site(sites[(sites.index(name) + 1) % len(sites)]).dtns
    pairs = dict.fromkeys([(here[0], there[0]), (here[-1], there[-1])])
    return all(_reached(built, near.host, str(near.address), str(far.address)) for near, far in pairs)


def _path(built: Testbed, network: Network, path: TransitPath) -> bool:
    """Whether a ping between the addresses of a path comes back, kept on it by rules as ADON's."""
    ends = [(network.site(site).measuring, address) for site, address in path.addresses.items()]
    (one, here), (other, there) = ends
    pin(built.switches.ofctl, network, path.name, Traffic(one.host, other.host, addresses=(here, there)))
    return _reached(built, one.host, str(here), str(there))


def _passed(built: Testbed, network: Network, paths: list[TransitPath]) -> dict[str, list[str]]:
    """Per path the provider's switches that carried packets of its VLAN; they count with a delay."""
    counts: dict[str, str] = {}
    wait_until(lambda: _counted(built, network, paths, counts), COUNTED)
    return {
        path.name: [name for name in _providers(network, path) if _packets(counts[name], path.vlan) >= 2]
        for path in paths
    }


def _counted(built: Testbed, network: Network, paths: list[TransitPath], counts: dict[str, str]) -> bool:
    counts |= {
        name: built.dump_flows(name) for name in {n for path in paths for n in _providers(network, path)}
    }
    return all(_packets(counts[name], path.vlan) >= 2 for path in paths for name in _providers(network, path))


def _providers(network: Network, path: TransitPath) -> list[str]:
    edges = {site.edge for site in network.sites}
    on_way = dict.fromkeys(node for link in path.links for node in network.link(link).between)
    return [name for name in on_way if name not in edges]


def _packets(flows: str, vlan: int | None) -> int:
    lines = [line for line in flows.splitlines() if re.search(rf"dl_vlan={vlan}\b", line)]
    return sum(int(count) for line in lines for count in re.findall(r"n_packets=(\d+)", line))


def _reached(built: Testbed, host: str, here: str, there: str) -> bool:
    try:
        built.host(host).run("ping", "-c", "1", "-W", "2", "-I", here, there)
    except Unavailable:
        return False
    return True


if __name__ == "__main__":
    main()
