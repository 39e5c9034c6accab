from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adon.config import Configuration, load
from adon.config.network import LinkDiscovery
from apps.campus_edge.hello_key import identity
from tests.support.refusals import refused

NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"


def configured(**discovery: Any) -> Configuration:
    return load(NETWORK).model_copy(update={"discovery": LinkDiscovery.model_validate(discovery)})


def test_where_discovery_is_off_there_is_none() -> None:
    assert identity(configured()) is None


def test_each_run_is_somebody_else_with_a_key_of_its_own() -> None:
    one, other = identity(configured(enabled=True)), identity(configured(enabled=True))
    assert one is not None
    assert other is not None
    assert one.network == "mu-osu"
    assert one.key != other.key
    assert one.controller != other.controller


def test_controllers_with_the_same_key_file_are_still_two(tmp_path: Path) -> None:
    file = tmp_path / "hello.key"
    file.write_text("0123456789abcdef" * 4 + "\n")
    file.chmod(0o600)
    found = [identity(configured(enabled=True, key_file=str(file))) for _ in range(2)]
    one, other = (each for each in found if each is not None)
    assert one.key == other.key == bytes.fromhex("0123456789abcdef" * 4)
    assert one.controller != other.controller


@pytest.mark.parametrize(
    ("content", "mode", "code"),
    [
        (None, 0, "unreadable"),
        (b"00" * 32, 0o644, "file-mode"),
        (b"00" * 31, 0o600, "wrong-length"),
        (b"not hex", 0o600, "malformed"),
        (b"\xff\xfe", 0o600, "malformed"),
    ],
)
def test_a_wrong_key_file_is_named(tmp_path: Path, content: bytes | None, mode: int, code: str) -> None:
    file = tmp_path / "hello.key"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    with refused(code, "discovery.key_file"):
        identity(configured(enabled=True, key_file=str(file)))
