"""A past in a data folder: databases, configuration and a template file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import yaml

from adon import yamlfile
from adon.broker.diary import Diary
from adon.broker.outcomes import Stay
from adon.store.store import Store
from measurement.archive import Archive
from tests.support.backtests import EAGER, START, catalog, results, then
from tests.support.factories import make_alarm
from tests.support.fake_collector import put_alarm
from tests.support.network_factories import NETWORK


def to_iso(at: float) -> str:
    """Return a time as people write it."""
    return datetime.fromtimestamp(at, UTC).isoformat()


def fingerprints(folder: Path) -> dict[str, str]:
    """Return a digest of each database and configuration of a folder."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if file.suffix in (".db", ".yaml")
    }


def write_past(folder: Path, empty_state: Path) -> Path:
    """Write a past with its configuration and a template file to a data folder; return it."""
    document = yaml.safe_load(NETWORK.read_text())
    document["paths"]["internet"]["capacity"] = "40 Mbps"
    (folder / "network.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    (folder / "eager.yaml").write_text(yamlfile.dump(EAGER))
    (folder / "state.db").write_bytes(empty_state.read_bytes())
    with Store.open(f"sqlite:///{folder / 'state.db'}") as store:
        for template in catalog().latest:
            store.save_template(template, "eve", START - 1000)
        first = then(diary=Diary(stays=(Stay("al2s", START + 2, START + 50),)))
        for flow in (first, replace(then(2, 400.0, size="20 MB"), ended_at=START + 412)):
            store.save_flow(flow, "e-1", flow.submitted_at)
    with Archive(folder / "measurements.db") as archive:
        archive.append(results())
        put_alarm(archive, make_alarm(START + 5, "a-1", "internet", critical=False))
    return folder
