"""A round after another: only what changed has its throughput found again."""

from __future__ import annotations

import asyncio

import pytest

from measurement.health.markers import Marker
from measurement.health.model import Pair
from measurement.health.orders import Probing
from measurement.health.profiles import mesh
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import Judged
from measurement.health.round_pairs import Asking, health_round
from measurement.health.round_runner import Running
from measurement.probes.probe_types import Train
from tests.measurement.health.cloud import Cloud

A_B = Pair("a", "b")


def done(cloud: Cloud, max_age: float | None, before: tuple[RoundRecord, ...] = ()) -> Judged:
    asking = Asking(mesh("abcd"), max_age=max_age)
    return asyncio.run(
        health_round(asking, cloud.instances, cloud.connect, Running(Probing(count=3)), before)
    )


def trained(cloud: Cloud) -> set[Pair]:
    return {
        Pair(source, order.target.name)
        for source, order in cloud.orders
        if isinstance(order.probes[0], Train)
    }


def test_a_marker_has_a_pair_probed_again_and_no_other() -> None:
    first = done(Cloud("abcd"), None).record
    assert first.complete
    assert not first.fired
    cloud = Cloud("abcd", rtt=lambda pair: 0.02 if pair == A_B else 0.01, rate=lambda pair: 5e8)
    second = done(cloud, 1e6, (first,)).record
    assert trained(cloud) == {A_B}
    assert second.complete
    assert second.carried == {*mesh("abcd")} - {A_B}
    assert second.found[A_B].throughput == (5e8,)
    assert second.found[A_B.back].throughput == (1e9,)
    assert {one.marker for one in second.fired[A_B]} == {Marker.ICMP, Marker.UDP, Marker.TCP}
    assert second.scores[A_B].total == pytest.approx(0.1), "but for the sandwich it is the worst"
    third = Cloud("abcd")
    done(third, -1.0, (first, second))
    assert trained(third) == {*mesh("abcd")}, "all are too old"


def test_the_first_time_all_are_probed() -> None:
    cloud = Cloud("abcd")
    assert not done(cloud, 1e6).record.carried
    assert trained(cloud) == {*mesh("abcd")}


def test_verified_is_what_has_its_throughput_found() -> None:
    first = done(Cloud("abcd"), None).record
    cloud = Cloud("abcd", rtt=lambda pair: 0.02 if pair == A_B else 0.01)
    asking = Asking(mesh("abcd"), verified=(A_B, A_B.back), max_age=1e6)
    how = Running(Probing(count=3))
    second = asyncio.run(health_round(asking, cloud.instances, cloud.connect, how, (first,))).record
    assert second.verified == {A_B: (1e9,) * 10}
