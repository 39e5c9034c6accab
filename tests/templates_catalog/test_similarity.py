"""How alike two specifications are, whether one succeeded, and what would be more than it gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.templates_catalog.builtins import builtin_templates, scaled
from adon.templates_catalog.model import Template
from adon.templates_catalog.similarity import SHARES, excess, ranked, similarity, success, wilson
from tests.templates_catalog.experience import a_template, an_outcome
from tests.templates_catalog.strategies import templates

BUILTIN = {template.name: template for template in builtin_templates()}


def test_the_shares_are_of_a_whole() -> None:
    assert sum(SHARES.values()) == pytest.approx(1)


@settings(max_examples=100)
@given(templates(), templates())
def test_it_is_a_share_symmetric_and_one_for_the_same(one: Template, other: Template) -> None:
    there, back = similarity(one, other), similarity(other, one)
    assert 0 - 1e-9 <= there.value <= 1 + 1e-9
    assert there.value == pytest.approx(back.value)
    assert similarity(one, one).value == pytest.approx(1)
    assert [part.part for part in there.parts] == list(SHARES)
    for part in there.parts:
        assert 0 <= part.distance <= 1
        assert bool(part.differs) == (part.distance > 0), "whatever takes something off says what it is"
    assert there.value == pytest.approx(1 - sum(part.lost for part in there.parts))


def test_each_is_most_like_itself_among_the_built_in_ones() -> None:
    for template in BUILTIN.values():
        first, second, *_ = ranked(template, BUILTIN.values())
        assert first.reference == template.reference
        assert second.value < 0.8
    assert [one.reference for one in ranked(BUILTIN["rivvir"], BUILTIN.values())][1] == "eldercare@1"


def test_it_is_explained() -> None:
    found = similarity(
        a_template(qspec={"throughput": {"min": "600 Mbps"}, "loss": {"max": "0.1 %"}}), a_template()
    )
    assert found.text == (
        "like soykb@1: 0.98, because the same weights, rspec, protocol, sites, streams; "
        "qspec: throughput 600 Mbps here, 700 Mbps there (-0.02)"
    )


@pytest.mark.parametrize(
    ("changes", "part", "distance", "differs"),
    [
        ({"protocol": "udp"}, "protocol", 1.0, "udp here, tcp there"),
        (
            {"weights": {"loss": 1.0}},
            "weights",
            0.8,
            "throughput 0.00 here, 0.80 there, loss 1.00 here, 0.20 there",
        ),
        ({"streams": 8}, "streams", 1.0, "streams 8 here, 1 there"),
        ({"streams": 2}, "streams", 1 / 3, "streams 2 here, 1 there"),
        ({"qspec": {"throughput": {"min": "700 Mbps"}}}, "qspec", 0.5, "loss none here, 0.1 % there"),
        (
            {"qspec": {"throughput": {"min": "5.6 Gbps"}, "loss": {"max": "0.1 %"}}},
            "qspec",
            0.5,
            "throughput 5.6 Gbps here, 700 Mbps there",
        ),
        (
            {"rspec": {"bandwidth_ceiling": "10 Gbps", "sites": ["osu"]}},
            "sites",
            0.5,
            "osu here, all sites there",
        ),
        (
            {"rspec": {"bandwidth_ceiling": "10 Gbps", "software": ["irods"]}},
            "rspec",
            0.5,
            "software: irods only here",
        ),
    ],
)
def test_parts_are_apart_by_what_differs(
    changes: dict[str, Any], part: str, distance: float, differs: str
) -> None:
    found = {one.part: one for one in similarity(a_template(**changes), a_template()).parts}
    assert found[part].distance == pytest.approx(distance)
    assert found[part].differs == differs
    assert all(one.distance == 0 for name, one in found.items() if name != part)


def test_scale_is_felt() -> None:
    assert similarity(scaled(BUILTIN["soykb"], 0.01), BUILTIN["soykb"]).value < 0.8


# -- whether it succeeded ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "of", "least"),
    # By hand: Wilson's formula with z = 1.96; the last is Newcombe (1998), table I, case 81 of 263.
    [(0, 0, 0.0), (0, 10, 0.0), (10, 10, 0.7225), (90, 100, 0.8256), (20, 20, 0.8389), (81, 263, 0.2553)],
)
def test_the_lower_end_of_wilson_s_interval(kept: int, of: int, least: float) -> None:
    assert wilson(kept, of) == pytest.approx(least, abs=5e-5)


@given(st.integers(0, 300), st.integers(1, 300))
def test_more_successes_are_no_less_and_more_of_the_same_share_are_surer(kept: int, more: int) -> None:
    of = kept + more
    assert 0 <= wilson(kept, of) <= kept / of
    assert wilson(kept, of) <= wilson(kept + 1, of)
    assert wilson(kept, of) <= wilson(2 * kept, 2 * of) + 1e-12


def test_only_flows_of_that_version_that_nobody_cancelled_count() -> None:
    from adon.frozenmap import FrozenMap

    violated = an_outcome(2, quality=FrozenMap({"met": 1.0, "violated": 1.0}))
    others = [
        an_outcome(3, template="soykb@2"),
        an_outcome(4, state="cancelled"),
        an_outcome(5, state="failed"),
        an_outcome(6, state="expired", admitted_at=None),
    ]
    found = success("soykb@1", [an_outcome(1), violated, *others])
    assert (found.outcomes, found.kept) == (4, 1)
    assert found.at_least == wilson(1, 4)


# -- never more rights ---------------------------------------------------------------------------------

RICH = {
    "priority": 500,
    "streams": 4,
    "qspec": {"throughput": {"min": "700 Mbps"}},
    "rspec": {
        "bandwidth_ceiling": "10 Gbps",
        "storage": "1 TB",
        "sites": ["osu", "tacc"],
        "compute": {"worker_nodes": 2, "cores": 8, "memory": "16 GB"},
    },
}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, []),
        ({"priority": 400, "streams": 1}, []),
        ({"priority": 501}, ["priority"]),
        ({"streams": 5}, ["streams"]),
        ({"qspec": {"throughput": {"min": "701 Mbps"}}}, ["qspec.throughput.min"]),
        ({"selection": {"switch_margin": 0.5}}, ["selection.switch_margin"]),
        ({"selection": {"min_dwell": "1 s"}}, ["selection.min_dwell"]),
        ({"marking": {"dscp": 46}}, ["marking"]),
        ({"monitoring": [{"of": "source"}]}, ["monitoring"]),
        (
            {
                "triggers": [
                    {
                        "name": "up",
                        "when": {"metric": "loss", "above": "1 %"},
                        "do": {"action": "priority", "by": 499},
                    }
                ]
            },
            ["triggers"],
        ),
        ({"rspec": {**RICH["rspec"], "bandwidth_ceiling": "11 Gbps"}}, ["rspec.bandwidth_ceiling"]),
        ({"rspec": {"sites": ["osu"]}}, ["rspec.bandwidth_ceiling"]),
        ({"rspec": {**RICH["rspec"], "sites": []}}, ["rspec.sites"]),
        ({"rspec": {**RICH["rspec"], "sites": ["osu", "mu"]}}, ["rspec.sites"]),
        ({"rspec": {**RICH["rspec"], "storage": "2 TB"}}, ["rspec.storage"]),
        (
            {"rspec": {**RICH["rspec"], "compute": {"worker_nodes": 3, "cores": 9, "memory": "17 GB"}}},
            ["rspec.compute.worker_nodes", "rspec.compute.cores", "rspec.compute.memory"],
        ),
    ],
)
def test_every_right_beyond_is_named(changes: dict[str, Any], fields: list[str]) -> None:
    found = excess(a_template(**{**RICH, **changes}), a_template(**RICH))
    assert [line.partition(":")[0] for line in found] == fields


def test_where_nothing_is_reserved_nothing_may_be() -> None:
    free = a_template(qspec={}, rspec={})
    assert [line.partition(":")[0] for line in excess(a_template(**RICH), free)] == [
        "streams",
        "qspec.throughput.min",
        "rspec.storage",
        "rspec.compute",
    ]


@settings(max_examples=60)
@given(templates())
def test_a_template_gives_no_more_than_itself(template: Template) -> None:
    assert excess(template, template) == ()
