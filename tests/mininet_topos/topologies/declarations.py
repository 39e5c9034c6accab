"""Declarations for tests: one by hand that tests change a little, and drawn ones of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from hypothesis import strategies as st

from mininet_topos.topologies.campus_topo import CampusTopo

Declare = Callable[[CampusTopo], None]


def topo_of(declare: Declare, scale: float | None = None) -> CampusTopo:
    """The topology that is declared so, at full scale if nothing is said."""
    return type("Declared", (CampusTopo,), {"scale": 1.0, "describe": declare})(scale=scale)


def pair(
    *,
    one: Mapping[str, Any] | None = None,
    line: Mapping[str, Any] | None = None,
    ends: tuple[str, str] = ("tr1", "tr2"),
    overlay: Sequence[str] = ("one", "tr1", "tr2", "two"),
    routed: Sequence[str] = ("one", "core", "two"),
    more: Declare = lambda _topo: None,
) -> Declare:
    """Two campuses with one path of each layer.

    :param one: what is declared of the first campus.
    :param line, ends: attributes and ends of the circuit between the provider's switches.
    :param overlay, routed: over what the paths lead.
    :param more: declared after the circuits.
    """

    def declare(topo: CampusTopo) -> None:
        topo.campus("one", **(one or {}))
        topo.campus("two")
        topo.provider_switch("tr1", "tr2")
        topo.router("core")
        topo.circuit("one-tr", "one-edge", "tr1")
        topo.circuit("line", *ends, **({"rate": 100, "delay": 0.005} if line is None else line))
        topo.circuit("two-tr", "two-edge", "tr2")
        topo.circuit("one-core", "one-rtr", "core", rate=10, loss=0.01)
        topo.circuit("two-core", "two-rtr", "core", goodput=8, loss=0.02, delay=0.001)
        more(topo)
        if overlay:
            topo.transit_path("al2s", 2, overlay)
        topo.transit_path("internet", 3, routed)

    return declare


@st.composite
def drawn(draw: st.DrawFn) -> Declare:
    """A declaration that must be accepted: campuses around a ring of provider's switches and one router.

    Every two campuses may have overlays (each with its own VLAN along the ring) and, through their routers,
    one routed path; DTNs hang on edges or on a random tree of campus switches.
    """
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def call(method: str, *arguments: Any, **options: Any) -> None:
        calls.append((method, arguments, options))

    campuses = [f"s{number}" for number in range(draw(st.integers(2, 5)))]
    ring = [f"t{number}" for number in range(draw(st.integers(1, 6)))]
    at = {campus: draw(st.sampled_from(ring)) for campus in campuses}
    call("provider_switch", *ring)
    call("router", "core")
    for campus in campuses:
        _campus(draw, campus, call)
    for number, (one, other) in enumerate(pairwise(ring)):
        call("circuit", f"r{number}", one, other, **_attributes(draw))
    overlaid = set()
    paths = []
    for one, other in combinations(campuses, 2):
        for number in range(draw(st.integers(0, 2))):
            paths.append((f"l2-{one}-{other}-{number}", 2, _along(one, other, at, ring)))
            overlaid |= {one, other}
        if draw(st.booleans()):
            paths.append((f"l3-{one}-{other}", 3, [one, "core", other]))
    for campus in campuses:
        if campus in overlaid:
            call("circuit", f"{campus}-up", f"{campus}-edge", at[campus], rate=50)
        call("circuit", f"{campus}-wan", f"{campus}-rtr", "core", **_attributes(draw))
    for path in paths:
        call("transit_path", *path)

    def declare(topo: CampusTopo) -> None:
        for method, arguments, options in calls:
            getattr(topo, method)(*arguments, **options)

    return declare


def _attributes(draw: st.DrawFn) -> dict[str, Any]:
    return {
        draw(st.sampled_from(["rate", "goodput"])): draw(st.integers(1, 500)),
        "delay": draw(st.integers(0, 50)) / 1000,
        "loss": draw(st.integers(0, 20)) / 100,
        "queue": draw(st.integers(1, 1000)),
    }


def _campus(draw: st.DrawFn, campus: str, call: Callable[..., None]) -> None:
    switches = [f"{campus}-c{number}" for number in range(draw(st.integers(0, 6)))]
    dtns = [f"{campus}-dtn{number}" for number in range(draw(st.integers(1, 4)))]
    on = {dtn: draw(st.sampled_from([None, *switches])) for dtn in dtns}
    call("campus", campus, dtns=on, switches=switches)
    for number, switch in enumerate(switches):
        above = draw(st.sampled_from([f"{campus}-edge", *switches[:number]]))
        call("circuit", f"{campus}-l{number}", above, switch, **_perhaps(draw))
    for number, dtn in enumerate(dtns):
        if draw(st.integers(0, 3)) == 0:
            call("circuit", f"{campus}-n{number}", dtn, on[dtn] or f"{campus}-edge", **_perhaps(draw))


def _perhaps(draw: st.DrawFn) -> dict[str, Any]:
    return _attributes(draw) if draw(st.booleans()) else {}


def _along(one: str, other: str, at: dict[str, str], ring: list[str]) -> list[str]:
    first, last = ring.index(at[one]), ring.index(at[other])
    middle = ring[first : last + 1] if first <= last else ring[last : first + 1][::-1]
    return [one, *middle, other]
