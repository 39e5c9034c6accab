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
    ("make", "message"),
    [
        (
            lambda: linked(replace(LEFT, shape=Shape(2e9, 40))),
            "interfaces.left-eth.rate: 2 Gbps is not in 100 kbps to 1 Gbps",
        ),
        (lambda: linked(replace(LEFT, shape=Shape(0, 40))), "interfaces.left-eth.rate"),
        (lambda: linked(replace(LEFT, shape=Shape(float("nan"), 40))), "interfaces.left-eth.rate"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 0))), "interfaces.left-eth.queue: 0 frames"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, -1))), "interfaces.left-eth.delay"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, loss=1.0))), "interfaces.left-eth.loss: 1 is not"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, loss=float("nan")))), "interfaces.left-eth.loss"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, mtu=575))), "interfaces.left-eth.mtu: 575 bytes"),
        (lambda: linked(replace(LEFT, shape=Shape(1e6, 1, mtu=1501))), "interfaces.left-eth.mtu: 1501"),
        (lambda: linked(replace(LEFT, vlans=Vlans())), "interfaces.left-eth.vlans: is neither"),
        (lambda: linked(replace(LEFT, vlans=Vlans(1, (2,)))), "interfaces.left-eth.vlans: is neither"),
        (lambda: linked(replace(LEFT, name="a-name-of-sixteen")), "is not a name of at most 15"),
        (lambda: linked(replace(LEFT, name="Left")), "is not a name"),
        (lambda: linked(replace(LEFT, mac="02:00:00:00:00:0A")), "is not a MAC address in lower case"),
        (lambda: linked(replace(LEFT, node="nowhere")), "there is no node 'nowhere'"),
        (lambda: linked(replace(LEFT, name="right-eth")), "'right-eth' is there 2 times"),
        (lambda: linked(replace(LEFT, addresses=RIGHT.addresses)), "'10.0.0.2' is there 2 times"),
        (lambda: replace(GOOD, switches=(SWITCH,)), "nodes: 'right' is there 2 times"),
        (
            lambda: replace(
                GOOD,
                hosts=(Host("left"),),
                switches=(SWITCH,),
                links=(Link(LEFT, replace(RIGHT, shape=Shape(1e6, 9))),),
            ),
            "a switch's port cannot be shaped",
        ),
        (
            lambda: replace(
                GOOD, hosts=(Host("left", management=IPv4Interface("10.9.9.9/24")), Host("right"))
            ),
            "hosts.left.management: is not in 172.31.0.0/24",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(make, message):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert message in str(caught.value)


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
