from __future__ import annotations

import random
from pathlib import Path

import yaml

from adon.broker.flow import FlowState
from adon.config import load
from benchmarks import queueing


def waiting(stage: queueing.Stage) -> int:
    return sum(flow.state is FlowState.QUEUED for flow in stage.broker.flows)


def test_what_is_measured_happens(tmp_path: Path) -> None:
    """A small network: nobody is let in by a change, somebody is where much comes free, nobody is lost."""
    path = tmp_path / "network.yaml"
    path.write_text(yaml.safe_dump(queueing.document()))
    stage = queueing.Stage(load(path), 240, random.Random(1))
    stage.settle()
    assert waiting(stage) == 120
    for measure in (stage.changes, stage.cold, stage.read_out, stage.why, stage.yardstick):
        assert measure() > 0
    assert waiting(stage) == 120
    assert stage.admits() > 0
    assert waiting(stage) < 120
    assert stage.submit() > 0
    found = {
        kind: {"10000": {"median": 1.0, "p90": 2.0, "largest": 3.0, "rounds": [1.0]}}
        for kind in queueing.KINDS
    }
    assert queueing.passed(found)
    assert "changes" in queueing.report(found)
