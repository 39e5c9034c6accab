"""Meter numbers: the lowest that is free, kept for a flow, restored from its rules."""

from __future__ import annotations

from adon.broker.meters import Meters
from adon.flowvisor.pipeline import METER_COUNT, METER_FIRST, owner_of
from adon.flowvisor.rule import MeterEntry
from adon.store.entry_codec import decode_entry, encode_entry


def test_a_number_is_kept_and_the_lowest_free_one_given() -> None:
    meters = Meters()
    assert [meters.number(1, flow) for flow in (5, 6, 5, 7)] == [METER_FIRST + n for n in (0, 1, 0, 2)]
    meters.forget(6)
    assert [meters.number(1, flow) for flow in (8, 7)] == [METER_FIRST + 1, METER_FIRST + 2]
    assert meters.number(2, 9) == METER_FIRST


def test_numbers_come_back_after_a_restart() -> None:
    meters = Meters([MeterEntry(1, METER_FIRST, 1000, 1000, 5), MeterEntry(1, METER_FIRST + 9, 1000, 1000)])
    assert [meters.number(1, flow) for flow in (4, 5)] == [METER_FIRST + 1, METER_FIRST]


def test_when_all_are_in_use_there_is_none() -> None:
    meters = Meters(MeterEntry(1, METER_FIRST + n, 1000, 1000, n) for n in range(METER_COUNT))
    assert meters.number(1, METER_COUNT) is None
    meters.forget(17)
    assert meters.number(1, METER_COUNT) == METER_FIRST + 17


def test_the_store_keeps_whose_a_meter_is_although_it_is_not_compared() -> None:
    meter = MeterEntry(1, METER_FIRST, 1000, 1000, 5)
    assert decode_entry(encode_entry(meter)).owner == 5  # type: ignore[union-attr]
    assert (owner_of(meter), meter) == ("f-5", MeterEntry(1, METER_FIRST, 1000, 1000))
    assert decode_entry({"dpid": "1", "meter_entry": 1, "rate": 1, "burst": 1}).owner is None  # type: ignore[union-attr]
