from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access import policy
from adon.access.identity import Actor
from adon.access.policy import Action, Permission
from adon.config import load
from adon.config.policy import MeasurementGrant, Policy
from adon.errors import Forbidden, InvalidInput, NotAuthenticated
from adon.values import Role
from measurement.model import Series

NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"
THROUGHPUT = Series("al2s", "mu", "osu", "throughput")
BACK = Series("al2s", "osu", "mu", "throughput")
MEMORY = Series("", "mu-dtn", "", "host.memory_available")


def actor(name: str = "ann", *roles: str, groups: tuple[str, ...] = ()) -> Actor:
    return Actor(name, frozenset(roles or ("researcher",)), frozenset(groups))


def grant(may: str = "read", **fields: Any) -> MeasurementGrant:
    return MeasurementGrant.model_validate({"may": may, **fields})


def may_measure(
    who: Actor | None, deed: str, series: Series, grants: Sequence[MeasurementGrant]
) -> Permission:
    return policy.Policy(grants).decide(who, Action(f"measurement.{deed}"), series)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("series", [THROUGHPUT, MEMORY])
def test_without_entries_roles_decide(role: Role, series: Series) -> None:
    runs_the_network = role in (Role.ADMIN, Role.OPERATOR, Role.PERFORMANCE_ENGINEER)
    assert may_measure(actor("ann", role), "read", series, ()).allowed
    assert may_measure(actor("ann", role), "start", series, ()).allowed is runs_the_network
    assert not may_measure(actor("ann", "emperor"), "read", series, ()).allowed


CASES: list[tuple[dict[str, Any], Actor, Series, bool]] = [
    ({}, actor(), THROUGHPUT, True),
    ({}, actor("ann", "emperor"), THROUGHPUT, True),
    ({"who": ["ann"]}, actor(), THROUGHPUT, True),
    ({"who": ["ann"]}, actor("bob"), THROUGHPUT, False),
    ({"roles": ["researcher", "auditor"]}, actor(), THROUGHPUT, True),
    ({"roles": ["auditor"]}, actor(), THROUGHPUT, False),
    ({"groups": ["urn:x:soykb"]}, actor(groups=("urn:x:soykb",)), THROUGHPUT, True),
    ({"groups": ["urn:x:soykb"]}, actor(), THROUGHPUT, False),
    ({"who": ["ann"], "roles": ["auditor"]}, actor(), THROUGHPUT, False),
    ({"metrics": ["throughput"]}, actor(), THROUGHPUT, True),
    ({"metrics": ["rtt", "loss"]}, actor(), THROUGHPUT, False),
    ({"metrics": ["host.*"]}, actor(), MEMORY, True),
    ({"metrics": ["host.memory"]}, actor(), MEMORY, False),
    ({"metrics": ["hos.*"]}, actor(), MEMORY, False),
    ({"from": ["mu"]}, actor(), THROUGHPUT, True),
    ({"from": ["mu"]}, actor(), BACK, False),
    ({"from": ["mu"], "to": ["mu", "osu"]}, actor(), THROUGHPUT, True),
    ({"from": ["mu"], "to": ["mu"]}, actor(), THROUGHPUT, False),
    ({"from": ["mu-dtn"]}, actor(), MEMORY, True),
    ({"to": ["mu"]}, actor(), MEMORY, False),
]


@pytest.mark.parametrize("deed", ["start", "read"])
@pytest.mark.parametrize(("fields", "who", "series", "allowed"), CASES)
def test_an_entry_grants_what_it_says_and_nothing_else(
    fields: dict[str, Any], who: Actor, series: Series, allowed: bool, deed: Any
) -> None:
    assert may_measure(who, deed, series, [grant(deed, **fields)]).allowed is allowed


def test_an_entry_for_reading_leaves_starting_as_it_was() -> None:
    entries = [grant("read", who=["bob"])]
    assert not may_measure(actor(), "read", THROUGHPUT, entries).allowed
    assert may_measure(actor("eve", "operator"), "start", THROUGHPUT, entries).allowed
    assert not may_measure(actor("eve", "operator"), "read", THROUGHPUT, entries).allowed


def test_entries_add_up() -> None:
    entries = [grant(who=["bob"]), grant(metrics=["rtt"]), grant(who=["ann"], to=["osu"])]
    assert may_measure(actor(), "read", THROUGHPUT, entries).allowed
    assert not may_measure(actor(), "read", BACK, entries).allowed


def test_administrators_always_may_and_nobody_without_identity() -> None:
    entries = [grant("read", who=["bob"]), grant("start")]
    assert may_measure(actor("root", "admin"), "read", THROUGHPUT, entries).allowed
    assert not may_measure(None, "start", THROUGHPUT, entries).allowed


def test_the_reason_names_who_what_and_where() -> None:
    refused = may_measure(actor(), "read", THROUGHPUT, [grant(who=["bob"])])
    assert {"measurement_access", "ann", "read", "throughput", "mu", "osu"} <= {*refused.reason.split()}
    reason = may_measure(actor(), "read", MEMORY, [grant()]).reason
    assert {"host.memory_available", "mu-dtn"} <= {*reason.split()}


def test_authorise_says_whose_fault_it_is() -> None:
    policy.Policy().authorise(actor(), Action.MEASUREMENT_READ, THROUGHPUT)
    for_bob = policy.Policy([grant("start", who=["bob"])])
    with pytest.raises(Forbidden):
        for_bob.authorise(actor(), Action.MEASUREMENT_START, THROUGHPUT)
    with pytest.raises(NotAuthenticated):
        policy.Policy().authorise(None, Action.MEASUREMENT_READ, THROUGHPUT)


def test_grant_gives_nothing_beyond_the_scope_of_a_token() -> None:
    limited = replace(actor(), scope=frozenset({"flow.read"}))
    for subject in (THROUGHPUT, None):
        found = policy.Policy([grant(who=["ann"])]).decide(limited, Action.MEASUREMENT_READ, subject)
        assert (found.allowed, "token" in found.reason) == (False, True)


def test_a_list_is_narrowed_to_what_may_be_read() -> None:
    items = [(THROUGHPUT, 1), (BACK, 2), (THROUGHPUT, 3), (MEMORY, 4)]
    assert policy.Policy([grant(**{"from": ["mu"]})]).readable(actor(), items) == [1, 3]
    assert policy.Policy().readable(actor(), items) == [1, 2, 3, 4]
    assert policy.Policy().readable(None, items) == []


@given(
    st.lists(
        st.builds(
            grant,
            may=st.sampled_from(["read", "start"]),
            who=st.none() | st.lists(st.sampled_from(["ann", "bob"]), min_size=1),
            metrics=st.none() | st.lists(st.sampled_from(["throughput", "rtt", "host.*"])),
            to=st.none() | st.lists(st.sampled_from(["mu", "osu"])),
        ),
        max_size=4,
    ),
    st.sampled_from([THROUGHPUT, BACK, MEMORY]),
)
def test_one_more_entry_takes_nothing_away(entries: list[MeasurementGrant], series: Series) -> None:
    """Once there is an entry; the first one replaces what roles grant."""
    for number in range(1, len(entries)):
        before = may_measure(actor(), "read", series, entries[:number]).allowed
        first = not any(entry.may == "read" for entry in entries[:number])
        assert first or may_measure(actor(), "read", series, entries).allowed >= before


# -- the configuration -----------------------------------------------------------------------------------


def read(tmp_path: Path, section: str) -> Policy:
    text = NETWORK.read_text().replace("policy:\n", f"policy:\n  measurement_access:\n{section}\n")
    file = tmp_path / "network.yaml"
    file.write_text(text)
    return load(file).policy


def test_an_example(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "    - {may: start, roles: [performance_engineer], from: [mu], to: [osu]}\n"
        "    - {may: read, groups: ['urn:x:soykb'], metrics: [throughput, 'pegasus.*']}",
    )
    first, second = found.measurement_access
    assert (first.roles, first.from_, first.to, first.who) == (
        (Role.PERFORMANCE_ENGINEER,),
        ("mu",),
        ("osu",),
        None,
    )
    assert second.metrics == ("throughput", "pegasus.*")


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("{roles: [auditor]}", "may"),
        ("{may: dance}", "may"),
        ("{may: read, roles: [emperor]}", "roles"),
        ("{may: read, metrics: ['*']}", "metrics"),
        ("{may: read, metrics: ['Host.*']}", "metrics"),
        ("{may: read, who: ['']}", "who"),
        ("{may: read, sites: [mu]}", "sites"),
    ],
)
def test_a_slip_is_named(tmp_path: Path, entry: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, f"    - {entry}")
    assert any(f"measurement_access.0.{field}" in problem.field for problem in refused.value.problems)
