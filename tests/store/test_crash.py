"""A controller killed in the middle of writing has lost nothing that it had acknowledged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adon.store.schema import make_database
from adon.store.store import Store

WRITER = """
import sys
from adon.broker.effects import RuleState
from adon.store.store import Store
from tests.store.values import a_rule
from tests.support.factories import make_decision, make_flow

store = Store.open(sys.argv[1])
for number in range(1, 1_000_000):
    with store.transaction(durable=sys.argv[2] == 'durable'):
        store.save_decision(make_decision(id=f"d-{number}", flow=f"f-{number}"))
        store.save_flow(make_flow(number=number), f"e-{number}")
        store.save_rules([a_rule(number, port=number % 60000 + 1)], RuleState.PENDING, "", 1.0)
    print(number, flush=True)
"""


@pytest.mark.integration
@pytest.mark.parametrize("how", ["durable", "not durable"])
@pytest.mark.parametrize("acknowledged", [1, 60])
def test_sigkill_loses_nothing_acknowledged(tmp_path: Path, acknowledged: int, how: str) -> None:
    url = f"sqlite:///{tmp_path}/adon.db"
    make_database(url)
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, url, how], stdout=subprocess.PIPE, text=True, cwd=root
    ) as writer:
        assert writer.stdout is not None
        for _ in range(acknowledged):
            last = int(writer.stdout.readline())
        writer.kill()
        last = max([last, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    with Store.open(url) as store:
        kept = store.last_flow_number()
        assert kept >= last
        # Each commit is there as a whole, or not at all.
        assert len(store.flows(limit=10**6)) == kept
        assert len(store.rules()) == kept
        assert all(len(store.decisions(n)) == len(store.history(n)) == 1 for n in range(1, kept + 1))
        assert store.decisions(kept + 1) == ()
        store.save_flow(store.flow(kept), "after")
