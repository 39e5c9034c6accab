"""Flowspaces against brute force: every connection of a small world is asked one by one."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from adon.flowspace import (
    ANY_PORT,
    ANY_PROTOCOL,
    Box,
    Connection,
    build_boxes,
    find_outside,
    find_overlap,
    merge_ranges,
)
from tests.support.refusals import refused

ADDRESSES = [
    ip_address(text) for text in ("10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::", "fd00::1")
]
WORLD = [
    Connection(source, destination, protocol, port)
    for source, destination in product(ADDRESSES, ADDRESSES)
    if source.version == destination.version
    for protocol in (6, 17)
    for port in (0, 79, 80, 81, 443)
]
PREFIXES = st.lists(
    st.sampled_from(
        [
            ip_network(text)
            for text in ("10.0.0.0/31", "10.0.0.2/31", "10.0.0.1", "10.0.0.0/30", "fd00::/127", "fd00::1")
        ]
    ),
    max_size=2,
)
PORTS = st.lists(st.sampled_from([(0, 79), (80, 80), (80, 443), (81, 65_535), (443, 443)]), max_size=2)
SPACES = st.lists(
    st.builds(build_boxes, PREFIXES, PREFIXES, st.lists(st.sampled_from([6, 17]), max_size=2), PORTS),
    max_size=3,
).map(lambda parts: tuple(box for part in parts for box in part))


def members(space: tuple[Box, ...]) -> set[Connection]:
    return {connection for connection in WORLD if any(box.holds(connection) for box in space)}


@given(SPACES, SPACES)
def test_an_overlap_is_found_exactly_where_a_connection_is_in_both(
    one: tuple[Box, ...], other: tuple[Box, ...]
) -> None:
    both = members(one) & members(other)
    found = find_overlap(one, other)
    assert (found is not None) == bool(both)
    if found is not None:
        example = found.example()
        assert any(box.holds(example) for box in one)
        assert any(box.holds(example) for box in other)


@given(SPACES, SPACES)
def test_what_is_outside_is_in_the_first_and_not_in_the_second(
    one: tuple[Box, ...], other: tuple[Box, ...]
) -> None:
    found = find_outside(one, other)
    if found is None:
        assert members(one) <= members(other)
    else:
        example = found.example()
        assert any(box.holds(example) for box in one)
        assert not any(box.holds(example) for box in other)


@given(SPACES, SPACES)
def test_a_difference_and_the_intersection_are_the_whole_and_share_nothing(
    one: tuple[Box, ...], other: tuple[Box, ...]
) -> None:
    for mine, theirs in product(one, other):
        pieces = tuple(mine.without(theirs))
        common = mine.intersection(theirs)
        whole = (*pieces, *([] if common is None else [common]))
        assert sum(len(members((piece,))) for piece in whole) == len(members((mine,))) == len(members(whole))


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)).map(lambda p: (p[0], p[0] + p[1])), max_size=6)
)
def test_merged_ranges_hold_the_same_numbers_and_do_not_touch(ranges: list[tuple[int, int]]) -> None:
    found = merge_ranges(ranges)
    assert {n for a, b in found for n in range(a, b + 1)} == {n for a, b in ranges for n in range(a, b + 1)}
    assert all(b + 1 < c for (_, b), (c, _) in pairwise(found))


def test_an_entry_with_prefixes_of_two_versions_holds_both_and_no_mixture() -> None:
    space = build_boxes([ip_network("10.0.0.0/8"), ip_network("fd00::/8")], [ip_network("10.0.0.0/8")])
    assert [box.version for box in space] == [4]
    assert [box.version for box in build_boxes()] == [4, 6]


def test_an_example_is_told_in_words() -> None:
    (box,) = build_boxes([ip_network("10.1.0.0/16")], [ip_network("10.2.0.0/16")], [17], [(5000, 5010)])
    assert str(box.example()) == "udp from 10.1.0.0 to 10.2.0.0 port 5000"
    (other,) = build_boxes([ip_network("10.1.0.9")], [ip_network("10.2.0.9")], [1])
    assert str(other.example()) == "IP protocol 1 from 10.1.0.9 to 10.2.0.9"


def test_an_empty_box_has_no_example() -> None:
    with refused(ValueError):
        Box(4, ((), ((0, 1),), ANY_PROTOCOL, ANY_PORT)).example()
