from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Interface

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from mininet_topos.topology import MAX_RATE, MIN_RATE, Host, Interface, Link, Shape, Switch, Topology, Vlans
from tests.support.refusals import refused

LEFT = Interface("left", "left-eth", "02:00:00:00:00:01", (IPv4Interface("10.0.0.1/24"),))
RIGHT = Interface("right", "right-eth", "02:00:00:00:00:02", (IPv4Interface("10.0.0.2/24"),))
GOOD = Topology(
    "pair", (), (Host("left"), Host("right")), (Link(LEFT, RIGHT),), IPv4Interface("172.31.0.1/24")
)
SWITCH = Switch("right", 1, controlled=False, rules=())


def linked(left: Interface) -> Topology:
    return replace(GOOD, links=(Link(left, RIGHT),))


@pytest.mark.parametrize(
    ("make", "code", "field"),
    [
        (lambda: linked(replace(LEFT, shape=Shape(2e9, 40))), "invalid", "interfaces.left-eth.rate"),
        (lambda: linked(replace(LEFT, shape=Shape(0, 40))), "invalid", "interfaces.left-eth.rate"),
        (lambda: linked(replace(LEFT, shape=Shape(float("nan"), 40))), "invalid", "interfaces.left-eth.rate"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 0))), "invalid", "interfaces.left-eth.queue"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, -1))), "invalid", "interfaces.left-eth.delay"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, loss=1.0))), "invalid", "interfaces.left-eth.loss"),
        (
            lambda: linked(replace(LEFT, shape=Shape(1e6, 1, loss=float("nan")))),
            "invalid",
            "interfaces.left-eth.loss",
        ),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, mtu=575))), "invalid", "interfaces.left-eth.mtu"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, mtu=1501))), "invalid", "interfaces.left-eth.mtu"),
        (lambda: linked(replace(LEFT, vlans=Vlans())), "invalid", "interfaces.left-eth.vlans"),
        (lambda: linked(replace(LEFT, vlans=Vlans(1, (2,)))), "invalid", "interfaces.left-eth.vlans"),
        (lambda: linked(replace(LEFT, name="a-name-of-sixteen")), "invalid", "interfaces.a-name-of-sixteen"),
        (lambda: linked(replace(LEFT, name="Left")), "invalid", "interfaces.Left"),
        (lambda: linked(replace(LEFT, mac="02:00:00:00:00:0A")), "invalid", "interfaces.left-eth.mac"),
        (lambda: linked(replace(LEFT, node="nowhere")), "invalid", "interfaces.left-eth"),
        (lambda: linked(replace(LEFT, name="right-eth")), "invalid", "interfaces"),
        (lambda: linked(replace(LEFT, addresses=RIGHT.addresses)), "invalid", "addresses"),
        (lambda: replace(GOOD, switches=(SWITCH,)), "invalid", "nodes"),
        (
            lambda: replace(
                GOOD,
                hosts=(Host("left"),),
                switches=(SWITCH,),
                links=(Link(LEFT, replace(RIGHT, shape=Shape(1e6, 9))),),
            ),
            "invalid",
            "interfaces.right-eth.shape",
        ),
        (
            lambda: replace(
                GOOD, hosts=(Host("left", management=IPv4Interface("10.9.9.9/24")), Host("right"))
            ),
            "invalid",
            "hosts.left.management",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(make, code, field) -> None:
    with refused(code, field):
        make()


def test_all_problems_are_reported_at_once():
    with pytest.raises(InvalidInput) as caught:
        linked(replace(LEFT, node="nowhere", mac="x", shape=Shape(1, 0)))
    assert len(caught.value.problems) == 4


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_shape_is_accepted_exactly_in_its_range(rate):
    refused = bool(list(Shape(rate, 40).problems("x")))
    assert refused is not (MIN_RATE <= rate <= MAX_RATE)


def test_ports_are_numbered_in_the_order_of_the_links():
    second = Link(
        replace(LEFT, name="left-two", addresses=()), replace(RIGHT, name="right-two", addresses=())
    )
    both = replace(GOOD, links=(*GOOD.links, second))
    assert [end.name for end in both.interfaces("left")] == ["left-eth", "left-two"]


def test_an_unknown_host_is_named():
    with refused("unknown-name", "host"):
        GOOD.host("middle")
