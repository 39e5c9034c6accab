"""The decision core does what it did when the transcripts were recorded.

``differences.yaml`` names the reviewed differences; ``scripts/record_transcripts.py`` records.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.support.transcript import FOLDER, Line, StageCore, read_differences, read_histories, replay

REVIEWED = read_differences(FOLDER / "differences.yaml")
FILES = sorted(FOLDER.glob("*.jsonl.gz"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[0])
def test_histories_play_as_recorded(file: Path) -> None:
    found = [
        difference
        for first, lines in read_histories(file)
        for name in [first["history"]]
        for difference in replay(StageCore(first["network"]), name, lines, REVIEWED.get(name, {}))
    ]
    assert not found, "\n".join(found)


def test_the_transcripts_are_200_and_each_reviewed_difference_is_of_one() -> None:
    names = [first["history"] for file in FILES for first, _ in read_histories(file)]
    assert len(set(names)) == len(names) == 200
    assert set(REVIEWED) <= set(names)


def deciding(*answers: list[list[str | None]]) -> Any:
    """Return a core that decides as a list of answers says."""
    answer = iter(answers)
    about = {"flows": dict, "queue": list, "tables": dict, "do": lambda *_: None, "now": lambda: 0.0}
    return SimpleNamespace(decided=lambda: next(answer), **about)


STAY, MOVE = [["f-1", "stay", "al2s"]], [["f-1", "move", "internet"]]
LINES: list[Line] = [
    {"at": 0.0, "do": "pass_time", "seconds": 5, "decided": decided, "states": []}
    for decided in ([], STAY, [])
]
ENTRY = {"history": "h-1", "line": 3, "was": {"decided": STAY}, "is": {"decided": MOVE}, "why": "no dwell"}


@pytest.mark.parametrize(
    ("changes", "decided", "found"),
    [
        (None, [[], STAY, []], ""),
        (None, [[], MOVE, []], "line 3"),
        ({}, [[], MOVE, []], ""),
        ({}, [[], STAY, []], "line 3"),  # the difference is gone
        ({}, [[], MOVE, MOVE], "line 4"),
        ({"why": ""}, [[], MOVE, []], "line 3"),
        ({"was": {"decided": MOVE}}, [[], MOVE, []], "line 3"),
    ],
)
def test_a_reviewed_difference_takes_the_place_of_what_was_recorded(
    tmp_path: Path, changes: dict[str, Any] | None, decided: list[list[list[str | None]]], found: str
) -> None:
    file = tmp_path / "differences.yaml"
    file.write_text(yaml.safe_dump([] if changes is None else [{**ENTRY, **changes}]))
    reviewed = read_differences(file).get("h-1", {})
    differences = replay(deciding(*decided), "h-1", LINES, reviewed)
    assert [text.split(":")[0] for text in differences] == ([f"h-1, {found}"] if found else [])
