"""Test networks by name or file, with the values that platforms and experiments read."""

from mininet_topos.networks.catalog import found, named, names, read, text
from mininet_topos.networks.network import Dtn, NamedLink, Network, Path, PathEnd, Site

__all__ = [
    "Dtn",
    "NamedLink",
    "Network",
    "Path",
    "PathEnd",
    "Site",
    "found",
    "named",
    "names",
    "read",
    "text",
]
