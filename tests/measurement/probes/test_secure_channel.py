"""Files with keys: readable by their owner only."""

from __future__ import annotations

from pathlib import Path

import pytest

from measurement.probes.secure_channel import read_key, write_key
from tests.support.refusals import refused


def test_new_key_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(read_key(path)) == 32
    with pytest.raises(FileExistsError):
        write_key(path)


def test_keys_differ(tmp_path: Path) -> None:
    for name in "ab":
        write_key(tmp_path / name)
    assert read_key(tmp_path / "a") != read_key(tmp_path / "b")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_key_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    write_key(path)
    path.chmod(mode)
    with refused(ValueError, "key"):
        read_key(path)


@pytest.mark.parametrize("text", ["", "00" * 31, "00" * 33, "g" * 64, "00" * 32 + "x" * 900])
def test_invalid_key_is_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(0o600)
    with refused(ValueError, "key") as caught:
        read_key(path)
    assert not text or text not in str(caught.error)


def test_binary_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"\xff" * 64)
    path.chmod(0o600)
    with refused(ValueError, "key"):
        read_key(path)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        read_key(tmp_path)
