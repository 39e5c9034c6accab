"""From confirmed advice to a best practice in a new version of the template."""

from __future__ import annotations

import pytest

from adon import yamlfile
from adon.broker.tuning.advice import advise
from adon.broker.tuning.confirmation import confirm
from adon.broker.tuning.practice import best_practice, practice_for, with_practice
from adon.broker.tuning.streams import Bound
from adon.errors import Conflict
from adon.templates_catalog.best_practice import BestPractice
from adon.templates_catalog.builtins import builtin_templates
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from tests.broker.tuning.test_confirmation import AFTER, APPLIED, BEFORE, outcomes
from tests.broker.tuning.values import MIB, host, path, unknown

SOYKB = next(template for template in builtin_templates() if template.name == "soykb")
ADVICE = advise(path(), host(), host("osu-dtn"), Bound(16, ""))
CONFIRMED = confirm(outcomes(BEFORE, AFTER), APPLIED, None)


def practice() -> BestPractice:
    return best_practice(ADVICE, CONFIRMED, APPLIED, APPLIED + 1000, "ann")


def test_what_is_kept() -> None:
    kept = practice()
    assert kept.place == ("al2s", "mu-dtn", "osu-dtn")
    assert (kept.streams, kept.buffer, kept.mtu, kept.congestion_control) == (1, 79 * MIB, 9000, "cubic")
    assert kept.settings["net.ipv4.tcp_rmem"] == f"4096 131072 {79 * MIB}"
    assert (kept.before_throughput, kept.after_throughput) == (100e6, 150e6)
    assert kept.before == ("f-1", "f-2", "f-3", "f-4", "f-5", "f-6")
    assert kept.achieved.low < 1.5 < kept.achieved.high
    assert kept.predicted is not None
    assert kept.accepted_by == "ann"
    assert (kept.accepted_at - kept.applied_at).total_seconds() == 1000


def test_a_new_version_carries_it_and_the_old_one_stays() -> None:
    catalog, first = Catalog().add(SOYKB)
    body = with_practice(first, practice())
    catalog, second = catalog.add(yamlfile.check_model(body, Template))
    assert second.version == first.version + 1
    assert practice_for(second, "al2s", "mu-dtn", "osu-dtn") == practice()
    assert practice_for(second, "internet", "mu-dtn", "osu-dtn") is None
    assert catalog.get("soykb", first.version).best_practices == ()
    assert second.qspec == first.qspec
    assert second.weights == first.weights


def test_a_newer_one_takes_the_place_of_an_older() -> None:
    first = yamlfile.check_model(with_practice(SOYKB, practice()), Template)
    later = practice().model_copy(update={"streams": 4})
    second = yamlfile.check_model(with_practice(first, later), Template)
    assert [one.streams for one in second.best_practices] == [4]


def test_it_is_written_and_read_back() -> None:
    template = yamlfile.check_model(with_practice(SOYKB, practice()), Template)
    assert yamlfile.parse_model(yamlfile.dump(template), Template) == template


@pytest.mark.parametrize("after", [BEFORE, AFTER[:3]])
def test_what_is_not_confirmed_is_not_kept(after: tuple[float, ...]) -> None:
    with pytest.raises(Conflict, match=r"not confirmed|too few"):
        best_practice(ADVICE, confirm(outcomes(BEFORE, after), APPLIED, None), APPLIED, APPLIED, "ann")


def test_advice_that_says_nothing_is_not_kept() -> None:
    empty = advise(path(rtt=None), unknown(), unknown("osu-dtn"))
    with pytest.raises(Conflict, match="nothing to keep"):
        best_practice(empty, CONFIRMED, APPLIED, APPLIED, "ann")
