from __future__ import annotations

import statistics
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from mininet_topos.cloud import choreo, seeded
from mininet_topos.cloud.description import Cloud, Path


@given(st.integers(0, 2**32), st.integers(2, 40))
def test_any_seed_and_size_can_be_built_and_comes_again(seed, instances):
    cloud = seeded.zones(seed, instances)
    assert len(cloud.guests) == instances
    assert len(cloud.paths) == instances * (instances - 1)
    assert seeded.zones(seed, instances) == cloud


def test_another_seed_is_another_cloud():
    assert seeded.zones(1).paths != seeded.zones(2).paths


def test_zones_are_as_large_as_in_the_paper():
    assert Counter(guest.zone for guest in seeded.zones(1).guests) == {"a": 35, "b": 33, "c": 32}


def paths_between(cloud: Cloud, one: str, other: str) -> list[Path]:
    zone = {guest.name: guest.zone for guest in cloud.guests}
    return [path for pair, path in cloud.paths.items() if {zone[name] for name in pair} == {one, other}]


def test_paths_across_zones_are_slower_and_longer():
    cloud = seeded.zones(1)
    within, across = paths_between(cloud, "a", "a"), paths_between(cloud, "b", "c")
    assert statistics.median(path.rate for path in across) < 0.7 * statistics.median(
        path.rate for path in within
    )
    assert min(path.delay for path in across) > statistics.median(path.delay for path in within)


def test_rates_of_the_zones_differ_by_path():
    """What a round has to find out: scores that were all alike could not be ranked."""
    rates = sorted(path.rate for path in paths_between(seeded.zones(1), "a", "a"))
    assert rates[len(rates) * 9 // 10] > 2 * rates[len(rates) // 10]


@pytest.mark.parametrize(("guest", "peak", "lasts"), [(0, 20e6, 4.0), (1, 100e6, 1.0)])
def test_a_throttled_guest_is_fast_as_long_as_in_figure_4(guest, peak, lasts):
    hose = seeded.throttled().guests[guest].egress
    assert hose.peak == peak
    assert hose.bucket * 8 / (hose.peak - hose.rate) == pytest.approx(lasts)


def test_the_tree_delays_by_hops():
    cloud = choreo.tree(guests=2, delay=1e-4)
    for one, other in permutations(cloud.guests, 2):
        pair = Pair(one.name, other.name)
        assert cloud.path(pair).delay == pytest.approx(1e-4 * cloud.hops(pair))


def test_the_narrowest_link_of_figure_3_is_the_shared_one():
    shared = choreo.dumbbell(pairs=10, link=50e6)
    assert [router.up for router in shared.routers if router.above] == [50e6]
    assert all(guest.egress is None for guest in shared.guests)


@pytest.mark.parametrize("between", ["aa", "ab", "bc"])
def test_a_round_trip_is_that_of_the_zones_and_a_little_each_way(between):
    delays = [path.delay for path in paths_between(seeded.zones(1), *between)]
    half = seeded.ROUND_TRIPS[frozenset(between)] / 2
    assert half + 0.1e-3 <= min(delays) < half + 0.11e-3


def test_one_of_ten_guests_has_a_quarter_of_a_hose():
    hoses = [guest.egress.rate for seed in range(10) for guest in seeded.zones(seed).guests]
    assert 0.07 < sum(rate < 90e6 for rate in hoses) / len(hoses) < 0.13
    assert 180e6 < statistics.median(hoses) < 210e6
