from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder
from adon.broker.recompute.encoded import digest
from adon.store.access.access import FILE, Access
from adon.store.store import Store
from benchmarks import web_operations
from benchmarks.filled import campus, filling
from benchmarks.filled.copies import Shift, Text
from measurement.archive import Archive
from measurement.model import Metric, PathKey, Series


def test_what_a_copy_names_is_its_own() -> None:
    text = Text('{"number": 7, "id": "f-7", "cause": "tpattern-3", "at": 1760000000.25, "size": 1760000000}')
    moved = text.moved(Shift(2, 100, 60.0))
    assert (
        moved == '{"number": 207, "id": "f-207", "cause": "t002-3", "at": 1760000120.25, "size": 1760000000}'
    )


@pytest.mark.integration
def test_the_store_reads_what_was_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are flows as others: their decisions, histories and outcomes are theirs."""
    monkeypatch.setattr(filling, "PATTERN", 12)
    config = tmp_path / "network.yaml"
    config.write_text(yaml.safe_dump(campus.document(1, 2)))
    filled = filling.fill(tmp_path, config, seed=1, flows=30, values=2000)
    assert filled.flows == 36
    with Store.open(f"sqlite:///{tmp_path}/state.db") as store:
        flows = store.flows(limit=100)
        times = [flow.submitted_at for flow in flows]
        assert times == sorted(times, reverse=True)
        assert max(times) - min(times) > 86_400
        assert all(flow.state.final for flow in flows)
        for flow in flows:
            decisions = store.decisions(flow.number)
            assert {one.flow for one in decisions} == {flow.id}
            assert flow.decision in {None, *(one.id for one in decisions)}
            assert store.history(flow.number)[-1].state is flow.state
            assert store.outcome(flow.number).ended_at == flow.ended_at
        decision = store.decisions(flows[0].number)[0]
        snapshot = store.snapshot(decision.id)
        assert snapshot.digest == digest(snapshot.text)
        again = decided_again(Decoder(store.snapshot_part).decode(snapshot.text))
        assert (again.path, again.outcome) == (decision.path, decision.outcome)
    with Archive(tmp_path / "measurements.db", readonly=True) as archive:
        assert archive.size() == pytest.approx(2000, rel=0.1)
        key = PathKey("mu-osu-0", "mu", "osu")
        assert archive.query(path=key.path, metric=Metric.RTT)
        assert sum(bucket.count for bucket in archive.buckets(Series(*key, "rtt"), 3600, None, None)) > 0
    with Access.open(f"sqlite:///{tmp_path / FILE}") as access:
        assert all("admin" in access.tokens.authenticate(token, 2e9).roles for token in filled.tokens)


class Described:
    """An API with one operation that nothing is known of."""

    def get(self, path: str) -> dict[str, object]:
        if path == "/openapi.json":
            needs = [{"name": "id", "required": True}]
            return {"paths": {"/api/v1/novelties/{id}": {"get": {"parameters": needs}}}}
        return {"items": [], "next": "x"}


def test_a_new_operation_is_not_left_out() -> None:
    with pytest.raises(LookupError):
        web_operations.questions(Described(), random.Random(1), "b-1")  # type: ignore[arg-type]
