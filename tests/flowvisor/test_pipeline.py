"""Numbers that an operator holds against a dump, and the page that lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules import pipeline
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import (
    LABEL_MASK,
    METER_COUNT,
    METER_FIRST,
    POLICY_MASK,
    Pipeline,
    both,
    group_number,
    is_ours,
    label,
    owner_of,
    policy_number,
)
from adon.flowvisor.rules.rule import GroupEntry, MeterEntry, Rule
from tests.flowvisor.network import AL2S, MU, PATHS

PAGE = (Path(__file__).parents[2] / "docs" / "switches.md").read_text()


def test_the_page_has_every_band_and_every_kind() -> None:
    for name in vars(pipeline):
        if name.endswith("_PRIORITY"):
            assert f"| {getattr(pipeline, name)}" in PAGE, name
    for kind in Kind:
        word = kind.name.removeprefix("FLOW_").removesuffix("S").lower()
        assert f"| `0x{kind.value:02x}` | {word[:5]}" in PAGE, kind
    assert f"{METER_FIRST} to {METER_FIRST + METER_COUNT - 1}" in PAGE
    assert f"{pipeline.GROUP_PREFIX} and above" in PAGE


@pytest.mark.parametrize(
    ("form", "tables", "transit"),
    [
        (Pipeline(), (0,), 0),
        (Pipeline(table_offset=7), (7,), 7),
        (Pipeline(staged=True), (0, 1, 2), 2),
        (Pipeline(staged=True, table_offset=7), (7, 8, 9), 9),
    ],
)
def test_tables(form: Pipeline, tables: tuple[int, ...], transit: int) -> None:
    assert form.tables == tables
    assert form.transit == transit


@given(st.integers(1, (1 << 36) - 1))
def test_label_and_policy_number_share_the_metadata(number: int) -> None:
    together = both(label(AL2S), policy_number(number))
    assert together.mask == (1 << 64) - 1
    assert together.value & LABEL_MASK == label(AL2S).value
    assert together.value & POLICY_MASK == number << 24


def test_labels_tell_paths_and_directions_apart() -> None:
    labels = [label(way).value for path in PATHS for way in (path, path.reverse())]
    assert len(set(labels)) == len(labels)
    assert 0 not in labels


@pytest.mark.parametrize(
    ("entry", "owner", "ours"),
    [
        (Rule(MU, 1, Match(), (), cookie(Kind.FLOW_INGRESS, 17)), "f-17", True),
        (Rule(MU, 1, Match(), (), 0x5ADC15C0), "unknown-5adc15c0", False),
        (GroupEntry(MU, group_number(3), "fast_failover", ()), "path-3", True),
        (GroupEntry(MU, 3, "fast_failover", ()), "group-3", False),
        (MeterEntry(MU, METER_FIRST, 1000, 1000, owner=17), "f-17", True),
        (MeterEntry(MU, METER_FIRST, 1000, 1000), f"meter-{METER_FIRST}", True),
        (MeterEntry(MU, METER_FIRST + METER_COUNT, 1000, 1000), f"meter-{METER_FIRST + METER_COUNT}", False),
    ],
)
def test_whose_an_entry_is(entry: Rule | GroupEntry | MeterEntry, owner: str, ours: bool) -> None:
    assert (owner_of(entry), is_ours(entry)) == (owner, ours)
