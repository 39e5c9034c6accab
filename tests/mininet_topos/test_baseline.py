from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from adon.errors import Unavailable
from mininet_topos.demo import baseline
from mininet_topos.demo.record import Record, Transfer
from mininet_topos.demo.scenario import seeded
from mininet_topos.demo.telling import Delivered
from mininet_topos.networks import Network, named
from mininet_topos.static_rules import Traffic


@dataclass
class Bed:
    """Switches that take every rule."""

    folder: Path
    network: Network
    pinned: list[tuple[str, Traffic]]


@pytest.fixture
def bed(tmp_path, monkeypatch):
    made = Bed(tmp_path, named("mu_osu"), [])
    monkeypatch.setattr(baseline, "pin", lambda _, __, path, traffic: made.pinned.append((path, traffic)))
    return made


def record_of(*transfers):
    return Record(time.time(), 18, 100.0, transfers=list(transfers))


SOYKB = Transfer("SoyKB", "f-1", "al2s", 1000, 1, 1000, 60.0, 75.0, [1000])
SECOND = Transfer("SoyKB-2", "f-3", "internet", 800, 1, 800, 60.05, 61.0, [800])


def test_each_transfer_begins_as_long_after_the_first_as_it_did_and_moves_as_much(bed):
    asked, told = [], []

    def carry(size, streams, port):
        asked.append((size, streams, port))
        return Delivered(size, [size])

    record = record_of(SECOND, SOYKB)
    done = baseline.run(bed, "internet", record, carry, told.append)
    ports = {name: request.port for name, request in seeded(18).items()}
    assert sorted(asked) == [(800, 1, ports["SoyKB-2"]), (1000, 1, ports["SoyKB"])]
    assert [(t.flow, t.path, t.received) for t in done] == [
        ("SoyKB", "internet", 1000),
        ("SoyKB-2", "internet", 800),
    ]
    assert done[0].began >= 60.0
    assert done[1].began >= 60.05
    assert [check.held for check in record.checks] == [True, True]
    assert record.transfers == [SECOND, SOYKB]  # ADON's own stay as they were
    assert bed.pinned == [("internet", Traffic("mu-dtn", "osu-dtn"))]


@pytest.mark.parametrize(
    ("carry", "text", "found"),
    [
        (
            lambda size, *_: Delivered(size - 1, []),
            "always al2s: SoyKB: all 1000 bytes counted at the receiver",
            "999 bytes",
        ),
        (
            lambda *_: (_ for _ in ()).throw(Unavailable("a stream broke")),
            "always al2s: SoyKB is carried",
            "a stream broke",
        ),
        (
            lambda *_: (_ for _ in ()).throw(ValueError("not JSON")),
            "always al2s: SoyKB is carried",
            "ValueError('not JSON')",
        ),
    ],
)
def test_what_goes_wrong_in_a_transfer_is_a_failed_check(bed, carry, text, found):
    record = record_of(SOYKB)
    baseline.run(bed, "al2s", record, carry, lambda _: None)
    assert [(check.text, check.held, check.found) for check in record.checks] == [(text, False, found)]
    assert not record.passed


def test_a_transfer_that_does_not_end_is_said(bed, monkeypatch):
    import threading

    monkeypatch.setattr(baseline, "LONGEST_S", 0.05)
    end = threading.Event()
    record = record_of(SOYKB)
    with pytest.raises(Unavailable, match="SoyKB is not carried within"):
        baseline.run(bed, "al2s", record, lambda size, *_: end.wait(10) or Delivered(0, []), lambda _: None)
    end.set()


def test_without_transfers_there_is_nothing_to_compare(bed):
    assert baseline.run(bed, "al2s", record_of(), lambda *_: pytest.fail("carried"), lambda _: None) == []
