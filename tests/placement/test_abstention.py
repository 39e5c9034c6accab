"""When placement by measurement does not pay."""

from __future__ import annotations

import pytest

from adon.placement.abstention import advise_placement, byte_variation
from adon.placement.model import Application, DecidingLink, LinkKind, Method, Placement, Task
from measurement.health.model import Pair
from tests.placement.problems import application

LINK = DecidingLink(LinkKind.PATH, (Pair("a", "b"),), 1.0, 0.0, 1.0)
UNEVEN = {"i>j": 100, "j>i": 1}
EVEN = {"i>j": 100, "j>i": 99}


def placed(seconds: float) -> Placement:
    return Placement("app", 0.0, Method.EXACT, {"i": "a"}, seconds, LINK)


@pytest.mark.parametrize(
    ("now", "then", "sent", "pays", "reason"),
    [
        (3600.0, 1800.0, UNEVEN, True, "30 min"),
        (300.0, 150.0, UNEVEN, False, "too short:"),
        (36000.0, 34000.0, EVEN, False, "the tasks"),
        (36000.0, 34000.0, UNEVEN, False, "the paths"),
        (360.0, 180.0, UNEVEN, False, "too short:"),
        (36000.0, 32760.0, UNEVEN, False, "the paths"),
        (100.0, 120.0, UNEVEN, False, "the paths"),
        (0.0, 0.0, UNEVEN, False, "nothing"),
    ],
)
def test_advice_has_a_reason(now: float, then: float, sent: dict[str, int], pays: bool, reason: str) -> None:
    found = advise_placement(application(sent), placed(then), [placed(now)])
    assert found.pays == pays
    assert found.reason.startswith(reason)


def test_gain_counts_from_the_median_of_the_baselines() -> None:
    others = [placed(seconds) for seconds in (9000.0, 1000.0, 2000.0)]
    found = advise_placement(application(UNEVEN), placed(500.0), others)
    assert (found.pays, found.saved, found.share) == (True, 1500.0, 0.75)


def test_byte_variation_by_hand() -> None:
    assert byte_variation(application({"i>j": 30, "j>i": 10})) == pytest.approx(0.5)
    assert byte_variation(Application("one", (Task("t", 1.0),))) == 0.0
