"""Studies over the REST API, and as the collector keeps them."""

from __future__ import annotations

import json

import pytest

from adon.client.measurements import UNPACKED
from adon.errors import InvalidInput
from adon.placement.model import Method, placement_to_json
from adon.studies.model import DOCUMENT, PACKED, StudyKind, short_of
from adon.studies.packing import packed, unpacked
from adon.studies.reading import study_of
from apps.collector import studies as kept
from apps.collector.studies import Studies
from measurement.archive import Archive, Retention
from tests.studies.documents import AT, a_placement, documents
from tests.support.refusals import refused
from tests.support.rest_answers import problem_fields

ALL = documents()


def put(world, kind, document=None, who="performance_engineer", **more):
    body = {"kind": kind.value, "document": ALL[kind] if document is None else document, **more}
    answer = world.ask("POST", "/studies", who, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json


@pytest.mark.parametrize("kind", StudyKind)
def test_a_study_is_kept_with_its_document(world, kind):
    made = put(world, kind)
    assert (made["kind"], made["submitted_by"]) == (kind.value, "performance_engineer")
    assert made["at"] == "2025-10-09T08:53:20.000Z"
    found = world.ask("GET", f"/studies/{made['id']}", "researcher").json
    assert found.pop("document") == json.loads(json.dumps(ALL[kind]))
    assert found == made
    assert world.ask("GET", "/studies", "researcher").json["items"] == [made]


def test_studies_come_by_kind_and_time_and_in_pages(world):
    ids = [
        put(
            world, StudyKind.PLACEMENT, {**placement_to_json(a_placement()), "snapshot_at": AT + hour * 3600}
        )["id"]
        for hour in range(5)
    ]
    same = [put(world, kind)["id"] for kind in StudyKind]
    asked = world.ask("GET", "/studies?kind=snapshot").json
    assert [one["kind"] for one in asked["items"]] == ["snapshot"]
    late = world.ask("GET", "/studies?since=2025-10-09T10:00:00Z").json["items"]
    assert [one["id"] for one in late] == ids[:1:-1]
    seen, query = [], "limit=2"
    while query:
        page = world.ask("GET", f"/studies?{query}").json
        seen += [one["id"] for one in page["items"]]
        query = page["next"] and f"limit=2&before={page['next']}"
    assert seen[:4] == ids[:0:-1]
    assert sorted(seen) == sorted({*ids, *same})


def test_a_large_document_comes_packed(world):
    document = ALL[StudyKind.HEALTH_ROUND]
    made = world.ask(
        "POST", "/studies", json={"kind": "health-round", "packed": packed(document), "title": "night"}
    )
    assert made.status_code == 201, made.text
    assert made.json["title"] == "night"
    assert made.json["id"] == put(world, StudyKind.HEALTH_ROUND)["id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "snapshot"}, "document"),
        ({"kind": "snapshot", "document": {}, "packed": "e30="}, "document"),
        ({"kind": "snapshot", "packed": "e30="}, "packed"),
        ({"kind": "snapshot", "document": {}}, "document.kind"),
        ({"kind": "dream", "document": {}}, "kind"),
        (
            {"kind": "snapshot", "document": {**ALL[StudyKind.SNAPSHOT], "hoses": {"nobody": 1.0}}},
            "document.hoses",
        ),
        (
            {"kind": "placement", "document": {**ALL[StudyKind.PLACEMENT], "lower_bound_s": 99.0}},
            "document.lower_bound_s",
        ),
        ({"kind": "placement", "document": ALL[StudyKind.PLACEMENT], "id": "mine"}, "id"),
    ],
)
def test_what_is_no_study_is_refused_by_field_and_nothing_is_kept(world, body, field):
    answer = world.ask("POST", "/studies", json=body)
    assert answer.status_code == 422
    assert field in problem_fields(answer)
    assert world.ask("GET", "/studies").json["items"] == []


@pytest.mark.parametrize("name", ["0123456789abcdef", "..", "0123456789ABCDEF", "x" * 90])
def test_what_is_not_there_is_not_found(world, name):
    assert world.ask("GET", f"/studies/{name}").status_code == 404
    assert world.ask("DELETE", f"/studies/{name}").status_code == 404


def test_a_study_that_is_deleted_is_gone_with_its_document(world):
    name = put(world, StudyKind.SNAPSHOT)["id"]
    assert world.ask("DELETE", f"/studies/{name}", "researcher").status_code == 403
    assert world.ask("DELETE", f"/studies/{name}", "operator").json == {"id": name}
    assert world.ask("GET", f"/studies/{name}").status_code == 404
    with Archive(world.archive, readonly=True) as archive:
        assert archive.documents(DOCUMENT) == []


def test_the_client_packs_what_is_large(world, adon, tmp_path):
    many = {f"task-{number:05}": "machine-of-a-long-name" for number in range(9000)}
    document = {**placement_to_json(a_placement(Method.EXACT)), "machines": many}
    assert len(json.dumps(document)) > UNPACKED
    file = tmp_path / "placement.json"
    file.write_text(json.dumps(document))
    done = adon("study", "submit", "placement", str(file), "--title", "many", "-q")
    assert done.exit_code == 0, done.output
    again = tmp_path / "again.json"
    shown = adon("study", "show", done.stdout.strip(), "-o", str(again))
    assert "many" in shown.stdout
    assert json.loads(again.read_text()) == document


def test_a_round_is_handed_in_without_its_samples(world, adon, tmp_path):
    file = tmp_path / "round.json"
    file.write_text(json.dumps(ALL[StudyKind.HEALTH_ROUND]))
    done = adon("study", "submit", "health-round", str(file), "--json")
    found = world.ask("GET", f"/studies/{json.loads(done.stdout)['id']}").json["document"]
    before = ALL[StudyKind.HEALTH_ROUND]["pairs"]
    assert max(len(one.get("tcp", [])) for one in before) > 1
    assert {len(one.get("tcp", [])) for one in found["pairs"]} <= {0, 1}
    values = [len(one.get("throughput", [])) for one in before]
    assert [len(one.get("throughput", [])) for one in found["pairs"]] == values, "their variance counts"


# -- as the collector keeps them ------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path):
    with Archive(tmp_path / "measurements.db") as found:
        yield found


def study(number=0):
    document = {**placement_to_json(a_placement()), "snapshot_at": AT + number}
    return study_of(StudyKind.PLACEMENT, document, "", "ann", AT), packed(document)


def test_so_many_may_be_handed_in_and_the_same_again(archive, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 3)
    mine = Studies(archive)
    for number in range(3):
        mine.put(*study(number), stays=True)
    with refused(InvalidInput, field="kind"):
        mine.put(*study(3), stays=True)
    mine.put(*study(2), stays=True)
    mine.put(*study(3), stays=False)  # the collector's own are not counted
    mine.delete(study(0)[0].id)
    mine.put(*study(4), stays=True)


def test_what_people_handed_in_stays_and_the_collector_s_own_goes(archive):
    mine = Studies(archive)
    staying, going = study(0), study(1)
    mine.put(*staying, stays=True)
    mine.put(*going, stays=False)
    archive.maintain(AT + kept.KEPT + 60, Retention(documents=kept.RETENTION))
    assert [one["id"] for one in archive.documents(short_of(StudyKind.PLACEMENT))] == [staying[0].id]
    assert archive.document(DOCUMENT, going[0].id) is None
    body = archive.document(DOCUMENT, staying[0].id)
    assert body is not None
    assert unpacked(body[PACKED])["application"] == "sort"
