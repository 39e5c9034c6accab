from __future__ import annotations

import os
from dataclasses import replace

import pytest

from mininet_topos.isolation import PROGRAMS, Machine, Platform, choose_platform, inspect_machine
from tests.support.refusals import refused

EVERYTHING = Machine(root=True, netem=True, guest=True)


@pytest.mark.parametrize(
    ("wanted", "needs_netem", "lacks", "chosen"),
    [
        (None, True, {}, "host"),
        (None, True, {"netem": False}, "guest"),
        (None, False, {"netem": False}, "host"),
        (None, False, {"root": False}, "guest"),
        (None, False, {"guest": False}, "host"),
        ("guest", False, {}, "guest"),
        ("host", False, {"netem": False, "guest": False}, "host"),
    ],
)
def test_host_is_chosen_unless_root_or_needed_netem_is_missing(wanted, needs_netem, lacks, chosen):
    machine = replace(EVERYTHING, **lacks)
    choice = choose_platform(wanted, needs_netem=needs_netem, machine=machine)
    assert choice.platform == Platform(chosen)


def test_choice_of_the_guest_names_what_the_host_lacks():
    choice = choose_platform(None, needs_netem=True, machine=replace(EVERYTHING, netem=False))
    assert choice.reason.startswith("netem: ")


@pytest.mark.parametrize(
    ("wanted", "lacks", "named"),
    [
        ("host", {"root": False}, "root"),
        ("host", {"netem": False}, "netem"),
        ("guest", {"guest": False}, "guest"),
        (None, {"root": False, "guest": False}, "root"),
        (None, {"root": False, "guest": False}, "guest"),
        (None, {"missing": ("ovs-vswitchd",)}, "ovs-vswitchd"),
        ("guest", {"missing": ("mnexec",)}, "mnexec"),
    ],
)
def test_what_a_platform_needs_and_lacks_is_named(wanted, lacks, named):
    with refused("missing-requirement", named):
        choose_platform(wanted, needs_netem=True, machine=replace(EVERYTHING, **lacks))


def test_missing_programs_are_named_with_their_packages():
    with refused("missing-requirement") as refusal:
        choose_platform(None, needs_netem=False, machine=replace(EVERYTHING, missing=("ovsdb-server", "tc")))
    assert {PROGRAMS["ovsdb-server"], PROGRAMS["tc"]} <= set(str(refusal.error).replace(",", "").split())


def test_unknown_platform_is_refused():
    with refused("invalid", "platform"):
        choose_platform("cloud", needs_netem=False, machine=EVERYTHING)


def test_netem_is_looked_for_only_as_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    machine = inspect_machine()
    assert (machine.root, machine.netem) == (False, False)
