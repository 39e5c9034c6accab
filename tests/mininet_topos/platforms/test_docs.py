"""What docs/testbed.md shows of Python is what a bed can do."""

from __future__ import annotations

import re
import subprocess
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest

from mininet_topos import isolation, platforms
from mininet_topos.platforms.bed import Bed
from mininet_topos.shaping import Change

PAGE = (Path(__file__).parents[3] / "docs" / "testbed.md").read_text()
EXAMPLE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]


def test_the_example_runs_on_whatever_is_a_bed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bed = create_autospec(Bed, instance=True)  # refuses calls that a bed would refuse
    monkeypatch.setattr(platforms, "choose", MagicMock())
    monkeypatch.setattr(platforms, "up", MagicMock(return_value=nullcontext(bed)))
    monkeypatch.setattr(isolation, "run_folder", MagicMock(return_value=nullcontext(tmp_path)))
    monkeypatch.setattr(subprocess, "run", MagicMock())
    exec(compile(EXAMPLE, "docs/testbed.md", "exec"), {})  # noqa: S102 - it is ours
    bed.set_link.assert_called_once_with("routed", Change(delay=0.05))
    bed.dump_flows.assert_called_once_with("mu-edge")
