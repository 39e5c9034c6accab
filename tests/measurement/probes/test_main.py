"""Options of the command: an invalid one is refused by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from measurement.probes import main
from measurement.probes.secure_channel import write_key


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--port", "65536"), 2, "--port:"),
        (("--port", "-1"), 2, "--port:"),
        (("--loads", "0"), 2, "--loads:"),
        (("--loads", "many"), 2, "--loads:"),
        (("--host", "192.0.2.1", "--port", "0"), 1, "--port 0:"),
    ],
)
def test_invalid_option_of_the_agent_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    status: int,
    says: str,
) -> None:
    write_key(tmp_path / "key")
    monkeypatch.setattr(sys, "argv", ["adon-probe-agent", "--key", str(tmp_path / "key"), *words])
    try:
        ended = main.main()
    except SystemExit as exit_:  # argparse's
        ended = int(str(exit_.code))
    assert ended == status
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--probes", "["), "probes: is not JSON\n"),
        (("--probes", "[]"), "order: probes: 0 is out of range; expected 1 to 64\n"),
        (("--probes", '[{"kind": "fax"}]'), "order.probes[0].kind: 'fax' is none of icmp, udp, "),
        (("--port", "0"), "order.target: port: 0 is out of range; expected 1 to 65535\n"),
        (("--target", "a" * 70), f"target: '{'a' * 70}' is not the name of a host\n"),
    ],
)
def test_invalid_option_of_one_order_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    write_key(tmp_path / "key")
    given = ["adon-probe-agent", "--key", str(tmp_path / "key"), "--target", "127.0.0.1", *words]
    monkeypatch.setattr(sys, "argv", given)
    assert main.main() == 1
    assert capsys.readouterr().err.startswith(f"adon-probe-agent: {says}")
