"""A test network whose hosts are all this machine: trials without switches, with real programs and bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

from adon.experiments.reading import parse
from adon.values import FrozenMap
from apps.experiments import around
from mininet_topos import networks
from mininet_topos.networks import Network
from mininet_topos.shaping import Change

HERE = IPv4Address("127.64.0.0") + os.getpid()
"""All of 127.0.0.0/8 is loopback (RFC 6890).  Ports are drawn by the trial's seed, so that two processes that
carry out the same trial need addresses of their own; a process has less than 2^22 as its number."""


def network() -> Network:
    """mu_osu with loopback for every address."""
    built = networks.named("mu_osu")
    sites = tuple(
        replace(
            site,
            dtns=tuple(
                replace(dtn, address=HERE, measured=FrozenMap(dict.fromkeys(dtn.measured, HERE)))
                for dtn in site.dtns
            ),
        )
        for site in built.sites
    )
    paths = tuple(
        replace(path, addresses=FrozenMap(dict.fromkeys(path.addresses, HERE))) for path in built.paths
    )
    return replace(built, sites=sites, paths=paths)


class Bed:
    """Programs run as they are; rules and links are noted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = network()
        self.told: list[tuple[str, ...]] = []
        self.links: list[tuple[str, Change]] = []

    def inside(self, argv, host=None):
        return list(argv)

    def ofctl(self, *words):
        self.told.append(words)
        return ""

    def set_link(self, name, change):
        self.links.append((name, change))


def trials(text: str):
    """The trials that a file's text makes."""
    from adon.experiments.plan import plan

    source = parse(text)
    found = around.surroundings(network())
    source.check(found)
    return plan(source.experiment, source.templates, found).trials


NEVER = "{throughput: null, rtt: null, latency: null}"
THROUGHPUT = "{rtt: null, latency: null}"
"""Of the tests that a trial may have: none, or those that a flow may wait for."""


def file(
    workload: str,
    events: str = "[]",
    policies: str = "[always al2s]",
    limit: str = "20 s",
    measuring: str = NEVER,
) -> str:
    """An experiment's text."""
    return f"""
experiment: loop
title: On loopback
network: mu_osu
templates: [soykb]
policies: {policies}
limit: {limit}
repetitions: 1
measuring: {measuring}
workload: {workload}
events: {events}
"""
