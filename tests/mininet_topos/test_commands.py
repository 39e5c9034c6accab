from __future__ import annotations

import os

import pytest

from adon.errors import Unavailable
from mininet_topos import commands

SWITCHES = [word for number in range(100) for word in ("--", "set", f"s{number}")]


def test_what_a_program_reads_and_prints():
    assert commands.output(["sh", "-c", 'cat; echo "$HOW"'], "so ", environment={"HOW": "too"}) == "so too\n"


@pytest.mark.parametrize(
    ("argv", "told", "message"),
    [
        (["no-such-program"], None, "^no-such-program: .*No such file"),
        (["sh", "-c", "echo it is so >&2; exit 3"], None, "^sh -c .*: it is so$"),
        (["sh", "-c", "echo it is so; exit 3"], "mu: sh", "^mu: sh: it is so$"),
        (["sleep", "60"], None, "^sleep 60: no answer within 0.1 s$"),
        (["false", *SWITCHES], None, "^false -- set s0 -- .* set [.]{3}: $"),
        (["sh", "-c", f"# {'x' * 300}\nexit 1"], None, "^sh -c # x{192} [.]{3}: $"),
    ],
    ids=["absent", "stderr", "stdout", "slow", "many words", "long word"],
)
def test_one_that_fails_is_quoted_and_of_a_long_command_the_beginning_is_told(argv, told, message):
    with pytest.raises(Unavailable, match=message):
        commands.output(argv, told=told, timeout=0.1 if argv[0] == "sleep" else 15)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"),
        ("", f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"),
        (None, f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"),
    ],
)
def test_the_systems_programs_are_found_by_users_too(monkeypatch, path, expected):
    given = {} if path is None else {"PATH": path}
    assert commands.with_system_programs(given) == {"PATH": expected}
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert commands.output(["sh", "-c", "command -v tc"]).endswith("/tc\n")
    assert "tc utility" in commands.output(["tc", "-V"])
