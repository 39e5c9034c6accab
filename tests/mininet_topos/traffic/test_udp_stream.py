from __future__ import annotations

import pytest

from mininet_topos.traffic.udp_stream import MAX_SIZE, MIN_SIZE, PacketCount, packet_size, packet_total

SECOND = 1_000_000_000


def test_jitter_is_the_mean_difference_of_consecutive_delays():
    count = PacketCount()
    for number, delay in enumerate([10_000, 30_000, 20_000]):
        count.add(number, number * SECOND, number * SECOND + delay, 500)
    assert count.delivery.jitter == pytest.approx((20_000 + 10_000) / 2 / 1e9)
    assert count.delivery.per_second == [500, 500, 500]


def test_packet_that_arrives_twice_counts_once():
    count = PacketCount()
    for _ in range(2):
        count.add(0, 0, SECOND, 100)
    assert (count.delivery.packets_received, count.delivery.received) == (1, 100)


@pytest.mark.parametrize(("rate", "size"), [(1e3, MIN_SIZE), (100e3, 250), (1e9, MAX_SIZE)])
def test_packets_are_sent_at_least_every_20_ms_where_their_size_permits_it(rate, size):
    assert packet_size(rate) == size


def test_size_is_sent_in_whole_packets():
    assert packet_total(1e9, 3000) == round(3000 / MAX_SIZE)
    assert packet_total(1e9, 1) == 1
