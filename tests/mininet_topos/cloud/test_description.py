from __future__ import annotations

import math
from dataclasses import replace

import pytest

from measurement.health.model import Pair
from mininet_topos.cloud.choreo import tree
from mininet_topos.cloud.description import Cloud, Guest, Limit, Path, Router
from tests.support.refusals import refused

CORE = Router("core")
ONE, OTHER = Guest("one", "core"), Guest("other", "core")
PAIR = Pair("one", "other")
WELL = Cloud("well", (CORE,), (ONE, OTHER))


def with_guest(**changes: object) -> dict[str, object]:
    return {"guests": (replace(ONE, **changes), OTHER)}


def with_path(path: Path, pair: Pair = PAIR) -> dict[str, object]:
    return {"paths": {pair: path}}


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"guests": (ONE,)}, "guests", "invalid"),
        ({"guests": (ONE, ONE)}, "guests", "invalid"),
        ({"guests": tuple(Guest(f"g{n}", "core") for n in range(255))}, "guests", "invalid"),
        ({"routers": ()}, "routers", "invalid"),
        ({"routers": (CORE, Router("second"))}, "routers", "invalid"),
        ({"routers": (CORE, CORE)}, "routers", "invalid"),
        ({"routers": (CORE, Router("a", "b"))}, "routers.a.above", "invalid"),
        ({"routers": (CORE, Router("a", "b"), Router("b", "a"))}, "routers.a.above", "invalid"),
        ({"routers": (CORE, Router("a", "core", up=1.0))}, "routers.a.up", "invalid"),
        ({"routers": (CORE, Router("a", "core", down=math.inf))}, "routers.a.down", "invalid"),
        ({"queue": 0.0}, "queue", "invalid"),
        ({"queue": math.nan}, "queue", "invalid"),
        (with_guest(router="nowhere"), "guests.one.router", "invalid"),
        (with_guest(name="a b"), "guests.a b", "invalid"),
        (with_guest(cores=0.0), "guests.one", "invalid"),
        (with_guest(ingress=1e12), "guests.one.ingress", "invalid"),
        (with_guest(egress=Limit(1.0)), "guests.one.egress.rate", "invalid"),
        (with_guest(egress=Limit(2e6, peak=1e6, bucket=1)), "guests.one.egress.peak", "invalid"),
        (with_guest(egress=Limit(1e6, peak=2e6)), "guests.one.egress.bucket", "invalid"),
        (with_guest(egress=Limit(1e6, bucket=5.0)), "guests.one.egress.bucket", "invalid"),
        (with_guest(egress=Limit(1e6, 2e6, 8e6)), "guests.one.egress.bucket", "invalid"),
        (with_path(Path(rate=math.nan)), "paths.one > other.rate", "invalid"),
        (with_path(Path(delay=2.0)), "paths.one > other.delay", "invalid"),
        (with_path(Path(delay=-1e-9)), "paths.one > other.delay", "invalid"),
        (with_path(Path(loss=1.5)), "paths.one > other.loss", "invalid"),
        (with_path(Path(), Pair("one", "one")), "paths.one > one", "invalid"),
        (with_path(Path(), Pair("one", "third")), "paths.one > third", "invalid"),
    ],
)
def test_what_cannot_be_built_is_refused_with_field_and_cause(changes, field, code) -> None:
    with refused(code, field):
        replace(WELL, **changes)


def test_guests_of_one_machine_are_at_one_router():
    guests = (Guest("one", "core", machine="m"), Guest("other", "a", machine="m"))
    with refused("invalid", "guests.other.machine"):
        Cloud("apart", (CORE, Router("a", "core")), guests)


def test_guests_have_addresses_in_order():
    assert [one.address for one in WELL.instances] == ["10.64.0.1", "10.64.0.2"]


@pytest.mark.parametrize(
    ("source", "destination", "hops"),
    [
        ("r0m0g0", "r0m0g1", 1),  # the same machine
        ("r0m0g0", "r0m1g0", 2),  # the same rack
        ("r0m0g0", "r1m0g0", 4),  # under the same aggregation switch
        ("r0m0g0", "r3m1g1", 6),  # over the core
    ],
)
def test_hops_are_those_of_figure_5(source, destination, hops):
    cloud = tree(racks=4, machines=2, guests=2)
    assert cloud.hops(Pair(source, destination)) == cloud.hops(Pair(destination, source)) == hops
