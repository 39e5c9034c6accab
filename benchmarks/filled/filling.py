"""Fill a folder: ``python -m benchmarks.filled.filling FOLDER [--flows N] [--values N] [--seed N]``."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml
from sqlalchemy import create_engine, text

from adon.config import load
from adon.store.access.access import FILE as ACCESS
from adon.store.schema import make_database
from adon.store.store import Store
from adon.templates_catalog.catalog import Catalog
from benchmarks.filled import archive, campus, copies, desks, people, studies
from benchmarks.filled.lives import Lives

FLOWS, VALUES = 10_000, 1_000_000
PATTERN = 200
"""Flows that the broker decides on; the rest repeats them."""
DAYS = 30.0
RESTS_S = 300.0
"""Between the end of one copy of the pattern and the next."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What was made.

    :param tokens: of the readers (:data:`benchmarks.filled.people.READERS`).
    """

    flows: int
    decisions: int
    values: int
    tokens: tuple[str, ...]
    seconds: float
    bytes_held: int


def fill(folder: Path, config: Path, seed: int, flows: int = FLOWS, values: int = VALUES) -> Filled:
    """Make ``state.db``, ``access.db`` and ``measurements.db`` for this configuration in the folder.

    :param flows: rounded up to whole patterns.
    """
    begun = time.monotonic()
    now = time.time()
    began = now - DAYS * 86_400.0
    chance = random.Random(seed)
    times = -(-flows // PATTERN)
    made, decided = _flows(folder, config, seed, times, began, now)
    with Store.open(f"sqlite:///{folder / 'state.db'}") as store:
        desks.fill(store, began, now, chance)
    archive.fill(folder / "measurements.db", values, began, now, chance)
    desks.subscribe(folder / "measurements.db", now)
    studies.study(folder / "measurements.db", now, seed)
    tokens = people.fill(folder / ACCESS, began, now, chance)
    held = sum(file.stat().st_size for file in folder.glob("*.db*"))
    return Filled(made, decided, values, tokens, time.monotonic() - begun, held)


def _flows(folder: Path, config: Path, seed: int, times: int, began: float, now: float) -> tuple[int, int]:
    with tempfile.TemporaryDirectory(prefix="adon-pattern-", dir=folder) as scratch:
        pattern = Path(scratch) / "state.db"
        make_database(f"sqlite:///{pattern}")
        shutil.copy(pattern, folder / "state.db")
        each = (now - began) / times - RESTS_S
        with Store.open(f"sqlite:///{pattern}") as store:
            for template in campus.templates():
                store.save_template(template, "performance-engineer1", began)
            lives = Lives(load(config), Catalog.of(campus.templates()), store, began, seed)
            with store.transaction(durable=False):
                lives.live(PATTERN, each / PATTERN)
        engine = create_engine(f"sqlite:///{folder / 'state.db'}")
        with engine.begin() as connection:
            connection.execute(text("PRAGMA cache_size=-262144"))
            copies.repeat(pattern, connection, times, each + RESTS_S)
            counted = [
                int(connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one())  # noqa: S608
                for name in ("flows", "decisions")
            ]
        engine.dispose()
    return counted[0], counted[1]


def main() -> int:
    """Fill a folder, and say what is in it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.filled.filling", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--flows", type=int, default=FLOWS)
    parser.add_argument("--values", type=int, default=VALUES)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    config = asked.folder / "network.yaml"
    config.write_text(yaml.safe_dump(campus.document(16653, 18080)))
    filled = fill(asked.folder, config, asked.seed, asked.flows, asked.values)
    (asked.folder / "tokens").write_text("\n".join(filled.tokens) + "\n")
    print(
        f"{filled.flows} flows, {filled.decisions} decisions, {filled.values} values, "
        f"{filled.bytes_held / 2**20:.0f} MiB in {filled.seconds:.0f} s; tokens of administrators: tokens"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
