"""Health of instances, placements and evaluations as pages."""

from __future__ import annotations

import re
import statistics
from dataclasses import replace

import pytest

from adon.errors import NotFound
from adon.placement.documents import placement_to_json
from adon.placement.model import Method
from adon.studies.model import StudyKind
from adon.studies.packing import written
from apps.dashboard.instances import evaluation_page, health_page, placement_page
from apps.dashboard.instances.opened import Read
from measurement.health.choosing import towards
from measurement.health.documents import to_json as round_to_json
from measurement.health.model import Pair
from measurement.health.scoring import around, scores
from measurement.snapshot.documents import to_json as snapshot_to_json
from tests.apps.web import World
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import parts, text
from tests.studies.documents import AT, a_placement, a_round, a_snapshot, id_of, several

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


def test_what_was_read_is_read_once_and_of_many_the_last_are_kept() -> None:
    read: list[str] = []

    def reading(document: str) -> str:
        read.append(document)
        return document.upper()

    known = Read(2)
    study = {name: {"kind": "snapshot", "id": name, "document": name} for name in "abc"}
    assert [known.value(study[name], reading) for name in "abaca"] == list("ABACA")
    assert read == ["a", "b", "c"]
    assert known.value(study["b"], reading) == "B"
    assert read == ["a", "b", "c", "b"]


# -- health --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_the_latest_round_is_shown_unless_another_is_asked_for(visiting: Visiting) -> None:
    told = said(health_page.live(visiting("researcher")))
    assert "19 of 20" in told
    assert "no answer to icmp and udp" in told
    earlier = id_of(StudyKind.HEALTH_ROUND, round_to_json(a_round(AT - 3600.0, 1.2)))
    assert earlier in said(health_page.live(visiting(query={"study": earlier})))


def test_of_an_even_number_of_pairs_the_median_is_between_two_as_in_the_summary(
    world: World, visiting: Visiting
) -> None:
    whole = a_round()
    found = {pair: one for pair, one in whole.found.items() if pair.source != "c1"}
    record = replace(whole, planned=tuple(found), found=found, scores=scores(found), failures=())
    made = world.ask(
        "POST", "/studies", json={"kind": "health-round", "document": round_to_json(record)}
    ).json
    totals = sorted(one.total for one in record.scores.values() if one.total is not None)
    assert len(totals) % 2 == 0
    assert f"{statistics.median(totals):.2f}" != f"{totals[len(totals) // 2]:.2f}", "else this shows nothing"
    assert f"median health {statistics.median(totals):.2f}" in made["summary"]
    assert f"Median health {statistics.median(totals):.2f}" in said(health_page.live(visiting("researcher")))


@pytest.mark.usefixtures("kept")
def test_a_pair_tells_the_parts_of_its_score_and_how_it_was_before(visiting: Visiting) -> None:
    here = visiting(query={"source": "a1", "destination": "b1"})
    told = said(health_page.live(here))
    score = a_round().scores[Pair("a1", "b1")]
    for part, value in score.parts.items():
        assert f"{health_page.PARTS[part]} {value:.2f}" in told
    assert "in the last 3 rounds" in told
    assert "timeout: no answer" in told
    silent = said(health_page.live(visiting(query={"source": "c1", "destination": "a2"})))
    assert "it was not reached" in silent
    assert "the instance does not answer" in silent


@pytest.mark.usefixtures("kept")
def test_a_history_goes_back_no_farther_than_a_page_may_read(
    visiting: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_page, "HISTORY_BYTES", len(written(round_to_json(a_round()))) * 1.5)
    told = said(health_page.live(visiting(query={"source": "a1", "destination": "b1"})))
    assert "in the last 1 round." in told


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"k": "2"}, "The 2 healthiest among each other"),
        ({"k": "2", "towards": "a1"}, "The 2 healthiest towards a1"),
        ({"k": "2", "towards": "a1", "order": "worst"}, "The 2 unhealthiest towards a1"),
        ({"k": "2", "order": "worst"}, "The 2 unhealthiest among each other"),
        ({"k": "2", "order": "worst"}, "No set is less healthy."),
        ({"k": "9"}, "count: 9 are wanted of 5 instances"),
        ({"k": "2", "towards": "nobody"}, "This round has no instance 'nobody'."),
    ],
)
def test_whom_to_take_is_told_or_why_nobody(visiting: Visiting, query: dict[str, str], words: str) -> None:
    assert words in said(health_page.live(visiting(query=query)))


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("place", ["a1", "b1", "c1"])
@pytest.mark.parametrize("worst", [False, True])
def test_towards_a_place_health_is_normalised_around_it(visiting: Visiting, place: str, worst: bool) -> None:
    chosen = towards(place, around(place, a_round().found), 2, worst=worst)
    query = {"k": "2", "towards": place, "order": "worst" if worst else ""}
    told = said(health_page.live(visiting(query=query)))
    assert f"{', '.join(chosen.instances)} Their mean health is {chosen.health:.3f}." in told


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
    assert "Each to each" in told
    assert "healthiest among" not in told
    assert "Its health in the last" not in told


@pytest.mark.parametrize(
    ("click", "query"),
    [
        ({"points": [{"x": "b1", "y": "a1"}]}, "?k=3&source=a1&destination=b1"),
        ({"points": [{"x": "a1", "y": "a1"}]}, None),
        ({"points": [{"x": 1, "y": 2}]}, None),
        (None, None),
    ],
)
def test_a_click_on_a_cell_leads_to_its_pair(click: object, query: str | None) -> None:
    assert health_page.clicked(click, {"k": "3", "source": "", "destination": "c1"}) == query  # type: ignore[arg-type]


# -- placements -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_placement_tells_its_proof_its_limit_and_the_other_methods(visiting: Visiting) -> None:
    found = placement_page.live(visiting("researcher"))
    told = said(found)
    for words in ("the path between two machines (a1 > b1)", "exact 25 s", "greedy 40 s", "map-1, map-2"):
        assert words in told
    assert "Shared bottlenecks" in told
    ways = {str(getattr(one, "href", "")) for one in parts(found)}
    links = sorted(way for way in ways if way.startswith("/placements?study="))
    assert len(links) == 4
    proofs = [said(placement_page.live(visiting(query={"study": way[-16:]}))) for way in links]
    assert sum("proven: none is faster" in one for one in proofs) == 1
    assert sum("not proven" in one for one in proofs) == 3


def test_a_placement_without_its_snapshot_says_so(world: World, visiting: Visiting) -> None:
    document = dict(several())[StudyKind.PLACEMENT]
    world.ask("POST", "/studies", json={"kind": "placement", "document": document})
    told = said(placement_page.live(visiting("researcher")))
    assert "is not kept" in told
    assert "there is this one only" in told


def test_only_the_same_application_over_the_same_network_is_beside(world: World, visiting: Visiting) -> None:
    mine = a_placement()
    elsewhere = replace(a_placement(Method.RANDOM, 90.0), snapshot_at=AT - 60.0)
    another = replace(a_placement(Method.ROUND_ROBIN, 90.0), application="another")
    kept = [(StudyKind.PLACEMENT, placement_to_json(one)) for one in (mine, elsewhere, another)]
    for kind, document in [*kept, (StudyKind.SNAPSHOT, snapshot_to_json(a_snapshot(AT - 60.0)))]:
        made = world.ask("POST", "/studies", json={"kind": kind.value, "document": document})
        assert made.status_code == 201, made.text
    told = said(placement_page.live(visiting(query={"study": id_of(*kept[0])})))
    assert "there is this one only" in told
    assert "is not kept" in told


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
    assert "Mean (standard deviation) in Mbit/s" in told
    assert re.search(r"home 19\.\d+ \(0\.\d+\)|home 2\d\.\d+ \(", told), told
    assert "Failed 1" in told
    assert "Diameter" in told
    assert "is not here" in told


@pytest.mark.usefixtures("kept")
def test_the_questions_of_a_document_that_adon_brings_are_answered(
    visiting: Visiting, runs: dict[str, str]
) -> None:
    name = next(one for one in runs if one not in ("first", "second"))
    told = said(evaluation_page.live(visiting(query={"study": runs[name]})))
    assert "The numbers" in told
    assert "206.5" in told, "[CEEM]'s largest distance"


@pytest.mark.usefixtures("kept")
def test_two_runs_are_compared(visiting: Visiting, runs: dict[str, str]) -> None:
    query = {"study": runs["second"], "with": runs["first"]}
    told = said(evaluation_page.live(visiting(query=query)))
    assert "of 3 paths tested 0 are higher and 3 lower than before" in told.lower()
    assert "0.700 times" in told


@pytest.mark.usefixtures("kept")
def test_runs_of_two_documents_are_not_compared(visiting: Visiting, runs: dict[str, str]) -> None:
    other = next(one for name, one in runs.items() if name not in ("first", "second"))
    told = said(evaluation_page.live(visiting(query={"study": runs["first"], "with": other})))
    assert "cannot be compared: document" in told
