"""Packet trains recorded between two agents, and what the analysis found in them.

200 trains of 8 shapes over 25 paths: a bare link, token buckets of 10 to 400 Mbit/s with buckets and queues
of several lengths, and paths that TCP connections share.  Each line of the file has the arrivals of one train
(per burst: number of the packet, nanoseconds since the first arrival of the train) and the finding.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from measurement.probes.documents import to_document
from measurement.probes.probe_types import TrainShape
from measurement.probes.sequence_analysis import analyse_train

FILE = Path(__file__).parents[2] / "data/recorded/trains.jsonl.gz"
TRAINS: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]


def test_recording_has_200_trains_with_and_without_loss() -> None:
    assert len(TRAINS) == 200
    lost = [train["finding"]["lost"] for train in TRAINS]
    assert min(lost) == 0.0
    assert max(lost) > 0.1


@pytest.mark.parametrize("number", range(len(TRAINS)))
def test_recorded_train_gives_the_recorded_finding(number: int) -> None:
    train = TRAINS[number]
    shape = TrainShape(**train["shape"])
    times = {
        burst * shape.burst + packet: at / 1e9
        for burst, arrivals in enumerate(train["bursts"])
        for packet, at in arrivals
    }
    result = analyse_train(shape, times, train["segments"], train["rtt"], train["overflowed"])
    found = to_document(result)
    assert {name: found[name] for name in train["finding"]} == pytest.approx(train["finding"], rel=1e-9)
