"""Descriptions for tests: one by hand that tests change a little, and drawn ones of any size."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

from hypothesis import strategies as st

PAIR = """\
network: pair
title: Two campuses
sites:
  one:
  two:
switches: [tr1, tr2]
routers: [core]
links:
  one-tr: {between: [one-edge, tr1]}
  line: {between: [tr1, tr2], rate: 100 Mbps, delay: 5 ms}
  two-tr: {between: [two-edge, tr2]}
  one-core: {between: [one-rtr, core], rate: 10 Mbps, loss: 1 %}
  two-core: {between: [two-rtr, core], goodput: 8 Mbps, loss: 2 %, delay: 1 ms, mtu: 1400}
paths:
  al2s: {layer: 2, over: [one, tr1, tr2, two]}
  internet: {layer: 3, over: [one, core, two]}
"""
"""Two campuses with one path of each layer; lines are counted on in tests."""


@st.composite
def drawn(draw: st.DrawFn) -> dict[str, Any]:
    """A description that must be accepted: sites around a ring of provider's switches and one router.

    Every two sites may have overlays (each with its own VLAN along the ring) and, through their routers, one
    routed path; DTNs hang on edges or on a random tree of campus switches.
    """
    sites = [f"s{number}" for number in range(draw(st.integers(2, 5)))]
    ring = [f"t{number}" for number in range(draw(st.integers(1, 6)))]
    links: dict[str, Any] = {}
    written = {site: _site(draw, site, links) for site in sites}
    at = {site: draw(st.sampled_from(ring)) for site in sites}
    for number, (one, other) in enumerate(pairwise(ring)):
        links[f"r{number}"] = {"between": [one, other], **_attributes(draw)}
    for site in sites:
        links[f"{site}-up"] = {"between": [f"{site}-edge", at[site]], "rate": "50 Mbps"}
        links[f"{site}-wan"] = {"between": [f"{site}-rtr", "core"], **_attributes(draw)}
    paths: dict[str, Any] = {}
    for one, other in combinations(sites, 2):
        for number in range(draw(st.integers(0, 2))):
            paths[f"l2-{one}-{other}-{number}"] = {"layer": 2, "over": _along(one, other, at, ring)}
        if draw(st.booleans()):
            paths[f"l3-{one}-{other}"] = {"layer": 3, "over": [one, "core", other]}
    overlaid = [path["over"] for path in paths.values() if path["layer"] == 2]
    for site in set(sites) - {site for over in overlaid for site in (over[0], over[-1])}:
        del links[f"{site}-up"]
    return {
        "network": "drawn",
        "title": "Drawn by chance",
        "sites": written,
        "switches": ring,
        "routers": ["core"],
        "links": links,
        "paths": paths,
    }


def _attributes(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["rate", "goodput"]))
    return {
        kind: f"{draw(st.integers(1, 500))} Mbps",
        "delay": f"{draw(st.integers(0, 50))} ms",
        "loss": f"{draw(st.integers(0, 20))} %",
        "queue": draw(st.integers(1, 1000)),
        "mtu": draw(st.integers(576, 1500)),
    }


def _site(draw: st.DrawFn, site: str, links: dict[str, Any]) -> dict[str, Any]:
    switches = [f"{site}-c{number}" for number in range(draw(st.integers(0, 3)))]
    for number, switch in enumerate(switches):
        above = draw(st.sampled_from([f"{site}-edge", *switches[:number]]))
        rated = _attributes(draw) if draw(st.booleans()) else {}
        links[f"{site}-l{number}"] = {"between": [above, switch], **rated}
    dtns = [f"{site}-dtn{number}" for number in range(draw(st.integers(1, 4)))]
    on = {dtn: draw(st.sampled_from([None, *switches])) for dtn in dtns}
    for number, dtn in enumerate(dtns):
        if draw(st.integers(0, 3)) == 0:
            rated = _attributes(draw) if draw(st.booleans()) else {}
            links[f"{site}-n{number}"] = {"between": [dtn, on[dtn] or f"{site}-edge"], **rated}
    return {
        "tree": draw(st.lists(st.integers(1, 2), max_size=3)),
        "switches": switches,
        "dtns": {dtn: None if switch is None else {"at": switch} for dtn, switch in on.items()},
        "measuring": draw(st.sampled_from(dtns)),
    }


def _along(one: str, other: str, at: dict[str, str], ring: list[str]) -> list[str]:
    first, last = ring.index(at[one]), ring.index(at[other])
    middle = ring[first : last + 1] if first <= last else ring[last : first + 1][::-1]
    return [one, *middle, other]
