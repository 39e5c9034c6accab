from __future__ import annotations

import os

import pytest

from mininet_topos.isolation import (
    NETEM,
    PROGRAMS,
    REMEDIES,
    ROOT,
    Platform,
    choose_platform,
    inspect_machine,
)
from tests.support.refusals import refused

EVERYTHING = frozenset(REMEDIES)


@pytest.mark.parametrize(
    ("wanted", "needs_netem", "missing", "chosen"),
    [
        (None, True, set(), "host"),
        (None, True, {"netem"}, "guest"),
        (None, False, {"netem"}, "host"),
        (None, False, {"root"}, "guest"),
        (None, False, {"guest"}, "host"),
        ("guest", False, set(), "guest"),
        ("host", False, {"netem", "guest"}, "host"),
    ],
)
def test_host_is_chosen_unless_root_or_needed_netem_is_missing(wanted, needs_netem, missing, chosen):
    choice = choose_platform(wanted, needs_netem=needs_netem, machine=EVERYTHING - missing)
    assert choice.platform == Platform(chosen)


def test_choice_of_the_guest_names_the_missing_requirement_of_the_host():
    choice = choose_platform(None, needs_netem=True, machine=EVERYTHING - {NETEM})
    assert choice.reason.startswith("netem: ")


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        ("host", {"root"}),
        ("host", {"netem"}),
        ("guest", {"guest"}),
        (None, {"root", "guest"}),
        (None, {"ovs-vswitchd"}),
        ("guest", {"mnexec"}),
    ],
)
def test_each_missing_requirement_is_named(wanted, missing):
    with refused("missing-requirement") as refusal:
        choose_platform(wanted, needs_netem=True, machine=EVERYTHING - missing)
    assert {line.partition(":")[0] for line in str(refusal.error).splitlines()} == missing


def test_missing_program_is_named_with_its_package():
    with refused("missing-requirement") as refusal:
        choose_platform(None, needs_netem=False, machine=EVERYTHING - {"tc"})
    assert PROGRAMS["tc"] in str(refusal.error)


def test_unknown_platform_is_refused():
    with refused("invalid", "platform"):
        choose_platform("cloud", needs_netem=False, machine=EVERYTHING)


def test_without_root_netem_is_not_missed(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    met = inspect_machine()
    assert ROOT not in met
    assert NETEM in met
