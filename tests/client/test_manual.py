"""The examples of docs/python-client.md, run in order against a real web process."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from adon.client import Client
from adon.errors import NotFound
from tests.support.web_fixtures import empty_state, served, world

__all__ = ["empty_state", "served", "world"]

MANUAL = Path(__file__).parents[2] / "docs" / "python-client.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", MANUAL.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def transfer(served, world):
    """Whoever moves the first flow's bytes: reports that it has finished."""
    stop = threading.Event()
    tool = Client.at(served, world.tokens["admin"])

    def move() -> None:
        while not stop.wait(0.1):
            with suppress(NotFound):
                if not tool.flow("f-1").final:
                    tool.report("f-1", "finished", 25 * 10**9)
                return

    thread = threading.Thread(target=move)
    thread.start()
    yield
    stop.set()
    thread.join(30)


def test_the_examples_run(served, world, transfer, monkeypatch, tmp_path):
    monkeypatch.setenv("ADON_URL", served)
    monkeypatch.setenv("ADON_TOKEN", world.tokens["admin"])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    names: dict[str, object] = {}
    for number, text in enumerate(EXAMPLES):
        exec(compile(text, f"{MANUAL.name} example {number + 1}", "exec"), names)  # noqa: S102 - it is ours
    assert len(EXAMPLES) == 7
    assert len(names["frame"]) > 0  # type: ignore[arg-type]
    assert world.store.template("imaging").template.qspec.throughput.min == 5e7
    assert [flow.state for flow in world.store.flows()] == ["cancelled", "finished"]
