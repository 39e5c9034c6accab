"""Databases with decisions and what they saw."""

from __future__ import annotations

from pathlib import Path

from adon.code_version import code_version
from adon.store.store import Store
from apps.campus_edge.input_recorder import Remembering
from tests.support.stage import Stage, know, make_stage


def write_story(folder: Path, empty_state: Path) -> Path:
    """Write a database with the decisions of a short story and what they saw; return its folder."""
    (folder / "state.db").write_bytes(empty_state.read_bytes())
    stage = make_stage()
    stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
    save_decisions(stage, folder, code_version())
    return folder


def save_decisions(stage: Stage, folder: Path, code: str) -> None:
    """Save the decisions of a stage with what they saw, as this version of the code."""
    with Store.open(f"sqlite:///{folder / 'state.db'}") as store:
        for decision in stage.saved.decisions:
            store.save_decision(decision)
        remembering = Remembering(store, code)
        remembering.keep(stage.snapshots)
        while remembering.pending:
            remembering.do_some()


def decision_ids(folder: Path) -> list[str]:
    """Return the ids of the decisions of flow f-1."""
    with Store.open(f"sqlite:///{folder / 'state.db'}", read_only=True) as store:
        return [decision.id for decision in store.decisions(1)]
