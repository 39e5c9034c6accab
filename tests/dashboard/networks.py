"""Networks for tests of pages that show them."""

from __future__ import annotations

from typing import Any

from adon.config import Configuration
from adon.yamlfile import check_model


def make_large_configuration(sites: int, each: int) -> Configuration:
    """Return so many sites with trees of switches, and an overlay of paths over a full mesh of their cores.

    A site's first switch is its edge, the second its core.
    """
    names = [f"site{number}" for number in range(sites)]
    trees = {name: [f"{name}-s{number}" for number in range(each)] for name in names}
    listed = [switch for tree in trees.values() for switch in tree]
    pairs = [(tree[n], tree[(n - 1) // 3]) for tree in trees.values() for n in range(1, each)]
    pairs += [(trees[one][1], trees[two][1]) for i, one in enumerate(names) for two in names[i + 1 :]]
    document: dict[str, Any] = {
        "network": "large",
        "switches": {name: {"dpid": f"{number:016x}"} for number, name in enumerate(listed, 1)},
        "sites": {
            name: {
                "edge": tree[0],
                "gateway_mac": f"02:00:00:00:{number:02x}:01",
                "hosts": {
                    f"{name}-dtn": {
                        "address": f"10.{number}.0.10",
                        "mac": f"02:00:00:00:{number:02x}:0a",
                        "port": "dtn",
                    }
                },
            }
            for number, (name, tree) in enumerate(trees.items(), 1)
        },
        "links": {
            f"l{number}": {"ends": dict.fromkeys(pair, f"p{number}"), "capacity": "10 Gbps"}
            for number, pair in enumerate(pairs)
        },
        "overlays": {"core": {"vlans": "100-299", "paths": 1}},
        "paths": {},
    }
    return check_model(document, Configuration)
