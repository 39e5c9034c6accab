"""Test networks, each a short description in the words of experimenters."""

from mininet_topos.networks.catalog import (
    NO_CHANGES,
    Changes,
    described,
    found,
    named,
    names,
    read,
    text,
)
from mininet_topos.networks.network import Dtn, NamedLink, Network, Path, PathEnd, Site

__all__ = [
    "NO_CHANGES",
    "Changes",
    "Dtn",
    "NamedLink",
    "Network",
    "Path",
    "PathEnd",
    "Site",
    "described",
    "found",
    "named",
    "names",
    "read",
    "text",
]
