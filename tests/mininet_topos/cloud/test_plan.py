"""What is run to make a cloud: delay lines where they are needed, limits at doors, routes to guests."""

from __future__ import annotations

import pytest

from measurement.health.model import Pair
from mininet_topos.cloud import choreo
from mininet_topos.cloud.description import Cloud, Guest, Path, Router
from mininet_topos.cloud.plan import LINE_QUEUE, needs_delays, planned

ROUTERS = (Router("core"), Router("left", "core", up=50e6), Router("right", "core", down=20e6))
A, B, C = (
    Guest("a", "left", machine="m1"),
    Guest("b", "left", machine="m2"),
    Guest("c", "right", ingress=10e6),
)


def cloud(paths: dict[Pair, Path] | None = None, second: Guest = B) -> Cloud:
    return Cloud("small", ROUTERS, (A, second, C), paths or {})


@pytest.mark.parametrize(
    ("paths", "second", "left", "right"),
    [
        ({}, B, False, False),
        ({Pair("a", "c"): Path(10e6)}, B, False, False),
        ({Pair("a", "c"): Path(delay=0.01)}, B, True, False),
        ({Pair("c", "a"): Path(loss=0.1)}, B, False, True),
        ({}, Guest("b", "left", machine="m1"), True, False),
    ],
    ids=["nothing", "a limit", "a delay", "a loss", "one machine"],
)
def test_a_delay_line_is_where_something_is_delayed_lost_or_no_hop(
    paths: dict[Pair, Path], second: Guest, left: bool, right: bool
) -> None:
    made = cloud(paths, second)
    assert needs_delays(made, (A, second)) is left
    assert needs_delays(made, (C,)) is right
    plan = planned(made)
    assert plan.lines == ({"r2": "line2"} if left else {}) | ({"r3": "line3"} if right else {})
    assert plan.loses is any(path.loss > 0 for path in paths.values())
    for space, has, first in (("r2", left, "line2"), ("r3", right, "line3")):
        led = [line for line in plan.limits[space] if line.startswith("filter add dev g")]
        assert led, space
        assert all(line.endswith(f"redirect dev {first if has else 'shape'}") for line in led)
        queued = f"link set {first} txqueuelen {LINE_QUEUE}"
        assert (queued in plan.addresses[space]) is has


def test_links_between_routers_and_doors_of_guests_have_their_limits() -> None:
    limits = planned(cloud()).limits
    (up,) = (line for line in limits["r2"] if line.startswith("class add dev uplink"))
    assert "rate 50000000bit" in up
    assert not any("uplink" in line for line in limits["r3"])
    (down,) = (line for line in limits["r1"] if line.startswith("class add dev down3"))
    assert "rate 20000000bit" in down
    assert not any("down2" in line for line in limits["r1"])
    (door,) = (line for line in limits["r3"] if line.startswith("class add dev g3"))
    assert "rate 10000000bit" in door


def test_each_router_has_a_route_to_each_guest_below_it_and_up_for_the_others() -> None:
    made = choreo.tree(racks=4, machines=2)
    plan = planned(made)
    for number, router in enumerate(made.routers, 1):
        lines = plan.addresses[f"r{number}"]
        for guest in made.guests:
            below = router.name in made.above(guest.router)
            routed = [line for line in lines if line.startswith(f"route add {made.address(guest.name)}/32")]
            assert len(routed) == below, (router.name, guest.name)
        assert sum(line.startswith("route add default") for line in lines) == bool(router.above)


def test_each_guest_has_its_two_cables_and_no_address_twice() -> None:
    plan = planned(cloud())
    macs = [word for line in plan.links for word in line.split() if word.startswith("02:")]
    ends = [one for line in plan.links if line.startswith("link add") for one in line.split() if ":" in one]
    assert len({*ends}) == len(ends) == 2 * (2 * 3 + 2), "two cables a guest, one a router below another"
    assert {*ends} <= {*macs}
