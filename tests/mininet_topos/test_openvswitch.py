from __future__ import annotations

import os

import pytest

from adon.errors import Unavailable
from mininet_topos.openvswitch import OpenVSwitch

RECORDING = """#!/bin/sh
# ovs-ofctl -O OpenFlow13 --names add-flows SWITCH -
test "$5" != refusing || { echo "$5: refused" >&2; exit 1; }
{ echo "$OVS_RUNDIR $*"; cat; } >"$OVS_RUNDIR/$5.told"
"""


@pytest.fixture
def switches(tmp_path, monkeypatch):
    program = tmp_path / "ovs-ofctl"
    program.write_text(RECORDING)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return OpenVSwitch(tmp_path)


def test_each_switch_gets_its_rules_and_one_without_is_not_asked(switches, tmp_path):
    rules = {f"s{number}": [f"priority={number}", "drop"] for number in range(40)}
    switches.add_flows({**rules, "empty": []})
    told = {path.stem: path.read_text() for path in tmp_path.glob("*.told")}
    words = "-O OpenFlow13 --names add-flows"
    assert told == {name: f"{tmp_path} {words} {name} -\npriority={name[1:]}\ndrop\n" for name in rules}


def test_a_refused_rule_is_told_in_the_programs_words(switches):
    with pytest.raises(Unavailable, match=r"add-flows refusing -: refusing: refused$"):
        switches.add_flows({"good": ["drop"], "refusing": ["nonsense"]})


def test_a_program_that_is_missing_is_named(tmp_path):
    with pytest.raises(Unavailable, match="no-such-program"):
        OpenVSwitch(tmp_path).run("no-such-program")
