"""What a path does to packets is a hard constraint, mostly on flows that run (spec section 2)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.topology.path import LinkAttributes, find_obstacle

PLAIN, V4, V6 = LinkAttributes(), frozenset({4}), frozenset({6})
FIREWALL, NAT, JUMBO = LinkAttributes(firewall=True), LinkAttributes(nat=True), LinkAttributes(mtu=9000)
V4_ONLY = LinkAttributes(families=V4)


@pytest.mark.parametrize(
    ("present", "new", "families", "running", "code"),
    [
        (None, PLAIN, V4, False, None),
        (None, FIREWALL, V4, False, None),
        (None, NAT, V4, False, None),
        (JUMBO, PLAIN, V4, False, None),
        (None, V4_ONLY, V6, False, "address-family"),
        (PLAIN, V4_ONLY, V6, True, "address-family"),
        (PLAIN, V4_ONLY, V4 | V6, True, "address-family"),
        (PLAIN, V4_ONLY, V4, True, None),
        (PLAIN, FIREWALL, V4, True, "firewall"),
        (FIREWALL, PLAIN, V4, True, None),
        (PLAIN, NAT, V4, True, "nat"),
        (NAT, PLAIN, V4, True, "nat"),
        (JUMBO, PLAIN, V4, True, "mtu"),
        (PLAIN, JUMBO, V4, True, None),
        (None, FIREWALL, V4, True, "firewall"),
        (None, PLAIN, V4, True, None),
    ],
)
def test_which_moves_are_possible(
    present: LinkAttributes | None,
    new: LinkAttributes,
    families: frozenset[int],
    running: bool,
    code: str | None,
) -> None:
    found = find_obstacle(present, new, families, running)
    assert (None if found is None else found.code) == code


attributes = st.builds(
    LinkAttributes,
    mtu=st.sampled_from([1280, 1500, 9000]),
    firewall=st.booleans(),
    nat=st.booleans(),
    families=st.frozensets(st.sampled_from([4, 6])),
)


@given(attributes, attributes)
def test_links_in_a_row_are_as_narrow_as_the_narrowest(one: LinkAttributes, other: LinkAttributes) -> None:
    both = one.then(other)
    assert both == other.then(one)
    for families, running in product((V4, V6), (False, True)):
        single = [find_obstacle(PLAIN, each, families, running) for each in (one, other)]
        assert bool(find_obstacle(PLAIN, both, families, running)) is any(map(bool, single))
