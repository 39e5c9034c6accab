from __future__ import annotations

from dataclasses import replace

import pytest

from adon.access.identity import Actor
from adon.access.self_service import Precedent, Terms, lacking, may_register

ANN = Actor("ann", frozenset({"researcher"}))
TERMS = Terms(similarity=0.9, outcomes=20, kept=0.8)
GOOD = Precedent("soykb@3", 0.93, 24, 0.86)


def test_a_similar_one_that_succeeded_is_enough() -> None:
    found = may_register(ANN, TERMS, [GOOD], None)
    assert found.allowed
    assert found.reason == "like soykb@3 (0.93), whose flows kept their QSpec by 86% at least"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"similarity": 0.89}, "similarity 0.89 is below 0.90"),
        ({"outcomes": 19}, "19 outcomes, and 20 are needed"),
        ({"kept": 0.79}, "the QSpec was kept by 79% at least, and 80% are needed"),
        ({"excess": ("priority: 800 here, 500 there",)}, "priority: 800 here, 500 there"),
    ],
)
def test_what_lacks_is_told(changes: dict[str, object], why: str) -> None:
    poor = replace(GOOD, **changes)  # type: ignore[arg-type]
    assert lacking(TERMS, poor) == [why]
    found = may_register(ANN, TERMS, [poor], None)
    assert (found.allowed, found.reason) == (False, f"like soykb@3: {why}")


def test_one_that_is_enough_is_enough_though_another_is_more_similar() -> None:
    nearer = replace(GOOD, reference="other@1", similarity=0.99, excess=("priority: too high",))
    assert may_register(ANN, TERMS, [nearer, GOOD], None).allowed


def test_it_is_off_without_terms() -> None:
    found = may_register(ANN, None, [GOOD], None)
    assert (found.allowed, "policy.self_service" in found.reason) == (False, True)


@pytest.mark.parametrize(("owner", "allowed"), [(None, True), ("ann", True), ("eve", False)])
def test_a_name_is_free_or_one_s_own(owner: str | None, allowed: bool) -> None:
    assert may_register(ANN, TERMS, [GOOD], owner).allowed is allowed


def test_an_empty_catalog_has_nothing_like_it() -> None:
    assert may_register(ANN, TERMS, [], None).reason == "nothing in the catalog is like it"
