"""Stored documents keep their field names, and absent, empty, zero and false stay distinct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adon.studies.model import Study
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.policy import Policy
from measurement.anomaly.threshold import Threshold
from measurement.anomaly.watch import Watch
from measurement.ceem.run import EvaluationRun, Note, Sample
from measurement.health.record import RoundRecord
from measurement.model import Measurement, Observation, Series, from_json, to_json
from measurement.notify.outbox import outbox_from_json, outbox_to_json
from measurement.notify.subscription import Subscription
from measurement.profiling.model import Profile
from measurement.snapshot.model import Snapshot

STORED = json.loads((Path(__file__).parents[1] / "data" / "stored_documents.json").read_text())
KINDS = [
    Measurement,
    Observation,
    Alarm,
    Subscription,
    RoundRecord,
    EvaluationRun,
    Sample,
    Note,
    Snapshot,
    Profile,
    Study,
]
LIMITS = {Series("al2s", "mu", "osu", "throughput"): Threshold(low=4e7)}


@pytest.mark.parametrize(("kind", "stored"), [(kind, one) for kind in KINDS for one in STORED[kind.__name__]])
def test_a_value_reads_and_writes_the_same_document(kind: Any, stored: dict[str, Any]) -> None:
    assert json.dumps(to_json(from_json(kind, stored))) == json.dumps(stored)


@pytest.mark.parametrize("stored", STORED["outbox"])
def test_an_outbox_reads_and_writes_the_same_document(stored: dict[str, Any]) -> None:
    assert json.dumps(outbox_to_json(outbox_from_json(stored))) == json.dumps(stored)


@pytest.mark.parametrize("stored", STORED["watched"])
def test_a_watched_series_reads_and_writes_the_same_document(stored: dict[str, Any]) -> None:
    watch = Watch(Policy(limits=LIMITS))
    assert json.dumps(watch.series_to_json(*watch.series_from_json(stored))) == json.dumps(stored)
