from __future__ import annotations

from pathlib import Path

import pytest

from mininet_topos.result_folder import require_folder
from tests.support.refusals import refused


def test_a_folder_is_made_with_all_above_it(tmp_path: Path) -> None:
    require_folder(tmp_path / "a" / "b", "--results")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("place", ["", "below"])
def test_what_is_a_file_is_refused_by_what_it_was_asked_for_as(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("kept")
    with refused("invalid", "--results"):
        require_folder(tmp_path / "file" / place, "--results")
    assert (tmp_path / "file").read_text() == "kept"


def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mininet_topos.result_folder.os.access", lambda *_: False)  # also of root
    with refused("invalid", "report"):
        require_folder(tmp_path, "report")
