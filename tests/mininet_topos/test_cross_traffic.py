from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from adon.errors import InvalidInput
from mininet_topos.cross_traffic import CrossTraffic

ENDS = (("mu-dtn", IPv4Address("10.1.0.10")), ("osu-dtn", IPv4Address("10.2.0.10")))


def test_the_rate_is_that_of_all_streams_together():
    load = CrossTraffic(*ENDS, port=6000, seconds=5, streams=4, rate=8e6)
    assert " ".join(load.sender()).endswith("-t 5 -P 4 -b 2000000")


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "1"), (1, "1"), (2.5, "3")])
def test_less_than_a_second_is_not_for_ever(seconds, told):
    """As ``-t 0`` is to iperf3."""
    argv = CrossTraffic(*ENDS, port=6000, seconds=seconds).sender()
    assert argv[argv.index("-t") + 1] == told


def test_udp_is_asked_for():
    assert "-u" in CrossTraffic(*ENDS, port=6000, seconds=5, protocol="udp", rate=1e6).sender()


def test_both_ends_are_bound_to_the_addresses_whose_path_is_meant():
    load = CrossTraffic(*ENDS, port=6000, seconds=5)
    assert load.receiver() == ["iperf3", "-s", "-1", "-B", "10.2.0.10", "-p", "6000"]
    assert load.sender()[:7] == ["iperf3", "-c", "10.2.0.10", "-B", "10.1.0.10", "-p", "6000"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"streams": 0}, "streams"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"protocol": "udp"}, "rate"),
        ({"rate": -1.0}, "rate"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused(wrong, field):
    with pytest.raises(InvalidInput, match=field):
        CrossTraffic(*ENDS, **{"port": 6000, "seconds": 5, **wrong})
