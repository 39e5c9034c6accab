"""Health of instances, placements and evaluations as pages."""

from __future__ import annotations

import re

import pytest

from adon.errors import NotFound
from adon.studies.model import StudyKind
from apps.dashboard.instances import evaluation_page, health_page, placement_page
from measurement.model import to_json
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import parts, text
from tests.studies.documents import AT, a_round, id_of, several
from tests.support.web_world import World

PAGES = (health_page, placement_page, evaluation_page)


@pytest.fixture
def kept(world: World) -> None:
    """Several studies of each kind."""
    for kind, document in several():
        body = {"kind": kind.value, "document": document}
        answer = world.ask("POST", "/studies", "performance_engineer", json=body)
        assert answer.status_code == 201, answer.text


def said(component: object) -> str:
    return " ".join(text(component).split())


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.PATH)
def test_without_a_study_a_page_says_how_one_comes(visiting: Visiting, page: object) -> None:
    told = said(page.live(visiting("researcher")))  # type: ignore[attr-defined]
    assert "adon study submit" in told
    assert "Show" not in said(page.show(visiting("researcher")))  # type: ignore[attr-defined]


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.PATH)
def test_a_study_of_another_kind_or_none_is_not_found(visiting: Visiting, page: object) -> None:
    other = id_of(StudyKind.SNAPSHOT, dict(several())[StudyKind.SNAPSHOT])
    for name in (other, "0123456789abcdef"):
        with pytest.raises(NotFound):
            page.live(visiting(query={"study": name}))  # type: ignore[attr-defined]


# -- health --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_the_latest_round_is_shown_unless_another_is_asked_for(visiting: Visiting) -> None:
    told = said(health_page.live(visiting("researcher")))
    assert "19 of" in told
    assert "icmp and udp" in told
    earlier = id_of(StudyKind.HEALTH_ROUND, to_json(a_round(AT - 3600.0, 1.2)))
    assert earlier in said(health_page.live(visiting(query={"study": earlier})))


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"k": "2"}, "2 healthiest"),
        ({"k": "2", "towards": "a1"}, "towards a1"),
        ({"k": "2", "towards": "a1", "order": "worst"}, "unhealthiest towards"),
        ({"k": "2", "order": "worst"}, "2 unhealthiest"),
        ({"k": "2", "order": "worst"}, "No set"),
        ({"k": "9"}, "5 instances"),
        ({"k": "2", "towards": "nobody"}, "'nobody'"),
    ],
)
def test_whom_to_take_is_told_or_why_nobody(visiting: Visiting, query: dict[str, str], words: str) -> None:
    assert words in said(health_page.live(visiting(query=query)))


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "query",
    [
        {"k": "-1"},
        {"k": "x"},
        {"k": "1e9"},
        {"k": "²"},
        {"source": "a1"},
        {"source": "a1", "destination": "a1"},
        {"source": "<b>", "destination": "a1"},
    ],
)
def test_an_address_that_asks_for_nothing_sensible_shows_the_round(
    visiting: Visiting, query: dict[str, str]
) -> None:
    told = said(health_page.live(visiting(query=query)))
    assert "19 of" in told
    assert "healthiest among" not in told


# -- placements -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_placement_tells_its_proof_its_limit_and_the_other_methods(visiting: Visiting) -> None:
    found = placement_page.live(visiting("researcher"))
    told = said(found)
    for words in ("b1)", "25 s", "40 s", "map-1, map-2"):
        assert words in told
    assert "Shared bottlenecks" in told
    ways = {str(getattr(one, "href", "")) for one in parts(found)}
    links = sorted(way for way in ways if way.startswith("/placements?study="))
    assert len(links) == 4
    proofs = [said(placement_page.live(visiting(query={"study": way[-16:]}))) for way in links]
    assert sum("not proven" in one for one in proofs) == 3


# -- evaluations ----------------------------------------------------------------------------------------


@pytest.fixture
def runs() -> dict[str, str]:
    """The ids of the runs, by what they are."""
    return {
        document["name"]: id_of(kind, document)
        for kind, document in several()
        if kind is StudyKind.EVALUATION
    }


@pytest.mark.usefixtures("kept")
def test_a_run_is_told_as_table_v_with_distances(visiting: Visiting, runs: dict[str, str]) -> None:
    told = said(evaluation_page.live(visiting(query={"study": runs["first"]})))
    assert "Mbps" in told
    assert re.search(r"home (19\.\d+|2\d\.\d+) \(", told), told
    assert "Failed 1" in told
    assert "Diameter" in told
