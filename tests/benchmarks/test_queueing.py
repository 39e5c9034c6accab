from __future__ import annotations

import random
from pathlib import Path

import yaml

from adon.config import load
from benchmarks import queueing


def test_what_is_measured_happens(tmp_path: Path) -> None:
    """A small network: nobody is let in by a change, somebody is where much comes free, nobody is lost."""
    path = tmp_path / "network.yaml"
    path.write_text(yaml.safe_dump(queueing.document()))
    stage = queueing.Stage(load(path), 240, random.Random(1))
    stage.settle()
    waiting = len(stage.broker.world.line)
    assert waiting == 120
    for measure in (stage.changes, stage.cold, stage.read_out, stage.why, stage.yardstick):
        assert measure() > 0
    assert len(stage.broker.world.line) == waiting
    assert stage.admits() > 0
    assert len(stage.broker.world.line) < waiting
    assert stage.submit() > 0
    found = {
        kind: {"10000": {"median": 1.0, "p90": 2.0, "largest": 3.0, "rounds": [1.0]}}
        for kind in queueing.KINDS
    }
    assert queueing.passed(found)
    assert "changes" in queueing.report(found)
