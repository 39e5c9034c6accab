from __future__ import annotations

import math
from dataclasses import replace

import pytest

from adon.errors import InvalidInput
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
    ("changes", "field", "cause"),
    [
        ({"guests": (ONE,)}, "guests", "1 is not in 2..254"),
        ({"guests": (ONE, ONE)}, "guests", "'one' is there 2 times"),
        ({"guests": tuple(Guest(f"g{n}", "core") for n in range(255))}, "guests", "255 is not in 2..254"),
        ({"routers": ()}, "routers", "0 is not in 1..254"),
        ({"routers": (CORE, Router("second"))}, "routers", "one, and only one"),
        ({"routers": (CORE, CORE)}, "routers", "'core' is there 2 times"),
        ({"routers": (CORE, Router("a", "b"))}, "routers.a.above", "'b' is no router"),
        (
            {"routers": (CORE, Router("a", "b"), Router("b", "a"))},
            "routers.a.above",
            "no router that leads to the root",
        ),
        ({"routers": (CORE, Router("a", "core", up=1.0))}, "routers.a.up", "1 bits/s is not in"),
        ({"routers": (CORE, Router("a", "core", down=math.inf))}, "routers.a.down", "inf bits/s"),
        ({"queue": 0.0}, "queue", "0 s is not in"),
        ({"queue": math.nan}, "queue", "nan s is not in"),
        (with_guest(router="nowhere"), "guests.one.router", "there is no router 'nowhere'"),
        (with_guest(name="a b"), "guests.a b", "is not a word"),
        (with_guest(cores=0.0), "guests.one", "cores: 0.0 is not above 0"),
        (with_guest(ingress=1e12), "guests.one.ingress", "is not in"),
        (with_guest(egress=Limit(1.0)), "guests.one.egress.rate", "is not in"),
        (with_guest(egress=Limit(2e6, peak=1e6, bucket=1)), "guests.one.egress.peak", "not above the rate"),
        (with_guest(egress=Limit(1e6, peak=2e6)), "guests.one.egress.bucket", "above 0"),
        (with_guest(egress=Limit(1e6, bucket=5.0)), "guests.one.egress.bucket", "else 0"),
        (with_guest(egress=Limit(1e6, 2e6, 8e6)), "guests.one.egress.bucket", "over 60 s to fill"),
        (with_path(Path(rate=math.nan)), "paths.one > other.rate", "nan bits/s"),
        (with_path(Path(delay=2.0)), "paths.one > other.delay", "2 s is not in"),
        (with_path(Path(delay=-1e-9)), "paths.one > other.delay", "is not in"),
        (with_path(Path(loss=1.5)), "paths.one > other.loss", "1.5 is not in"),
        (with_path(Path(), Pair("one", "one")), "paths.one > one", "not from one guest to another"),
        (with_path(Path(), Pair("one", "third")), "paths.one > third", "not from one guest to another"),
    ],
)
def test_what_cannot_be_built_is_refused_with_field_and_cause(changes, field, cause):
    with pytest.raises(InvalidInput) as caught:
        replace(WELL, **changes)
    assert any(each.field == field and cause in each.cause for each in caught.value.problems), (
        caught.value.problems
    )


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
