from __future__ import annotations

from typing import Any

import pytest

from measurement.point.archives import Archive, parse_archives, parse_data
from measurement.point.archiving import Delivery
from measurement.point.model import TESTS, Run, Schedule, Task
from measurement.point.specs import parse_spec
from measurement.point.views import archived
from measurement.pscheduler.states import RunState

URL = "https://collector.example.org:8443/results?x=1"


def http(**data: Any) -> dict[str, Any]:
    return {"archiver": "http", "data": {"_url": URL, **data}}


def test_what_pscheduler_documents_is_understood():
    (found,) = parse_archives(
        [
            {
                "schema": 2, "archiver": "http", "runs": "all", "ttl": "PT30M",
                "data": {
                    "schema": 3, "_url": URL, "op": "put", "verify-ssl": False, "timeout": "PT5S",
                    "_headers": {"Authorization": "Bearer EXAMPLE"},
                    "retry-policy": [{"attempts": 2, "wait": "PT1S"}, {"attempts": 1, "wait": "PT1M"}],
                },
            }
        ]
    )  # fmt: skip
    assert found == Archive(
        URL, "PUT", {"Authorization": "Bearer EXAMPLE"}, False, 5.0, (1.0, 1.0, 60.0), "all", 1800.0
    )
    assert found.place == "https://collector.example.org:8443"
    assert "EXAMPLE" not in repr(found)


def test_without_more_than_a_url_it_is_posted_once_and_verified():
    assert parse_archives([http()]) == (Archive(URL),)
    assert Archive(URL).verify is True


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        ([], "archives.0"),
        ({"archiver": "bitbucket", "data": {}}, "archives.0.archiver"),
        ({"archiver": "http", "data": {}}, "archives.0.data._url"),
        ({**http(), "transform": {"script": "."}}, "archives.0.transform"),
        (http(_url="file:///etc/passwd"), "archives.0.data._url"),
        (http(_url="https://user:secret@host/"), "archives.0.data._url"),
        (http(_url="https://host/\r\nX: y"), "archives.0.data._url"),
        (http(op="delete"), "archives.0.data.op"),
        (http(bind="192.0.2.1"), "archives.0.data.bind"),
        (http(_headers={"Host": "elsewhere"}), "archives.0.data._headers"),
        (http(_headers={"A": "b\r\nC: d"}), "archives.0.data._headers"),
        (http(_headers={"A b": "c"}), "archives.0.data._headers"),
        (http(timeout="PT1H"), "archives.0.data.timeout"),
        (http(**{"retry-policy": [{"attempts": 0, "wait": "PT1S"}]}), "retry-policy.0.attempts"),
        (http(**{"retry-policy": [{"attempts": 600, "wait": "P0D"}] * 2}), "more than 1000 attempts"),
        ({**http(), "ttl": "PT0S"}, "archives.0.ttl"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(document, cause):
    with pytest.raises(ValueError, match=cause.replace(".", r"\.")) as caught:
        parse_archives([document])
    assert "secret" not in str(caught.value)


def test_data_alone_is_checked_the_same():
    parse_data("http", {"_url": URL})
    with pytest.raises(ValueError, match=r"data\._url"):
        parse_data("http", {})
    with pytest.raises(ValueError, match='No archiver "syslog"'):
        parse_data("syslog", {})


GOOD, BAD = {"succeeded": True}, {"succeeded": False}


@pytest.mark.parametrize(("runs", "taken"), [("succeeded", [GOOD]), ("failed", [BAD]), ("all", [GOOD, BAD])])
def test_which_runs_are_sent(runs, taken):
    archive = Archive(URL, runs=runs)
    assert [result for result in (GOOD, BAD, None) if archive.takes(result)] == taken


def task(*archives: Archive, **document: Any) -> Task:
    spec = {"dest": "192.0.2.1"}
    body = {"test": {"type": "rtt", "spec": spec}, "schedule": {}, **document}
    rtt = parse_spec("rtt", spec)
    once = Schedule(0)
    return Task(
        "t" * 8, body, TESTS["rtt"], rtt, once, ("",), 0, 8.0, 0.0, "127.0.0.1", "key", archives=archives
    )


def test_it_is_tried_as_the_policy_says_and_not_after_its_time():
    run = Run("r", "t", 0.0, 100.0, 0.0, RunState.FINISHED, merged=GOOD)
    waits = task(Archive(URL, waits=(1.0, 60.0)))
    assert [Delivery(waits, run, 0, failed=n).next_wait(500) for n in (1, 2, 3)] == [1.0, 60.0, None]
    short = task(Archive(URL, waits=(1.0, 60.0), ttl=30.0))
    assert [Delivery(short, run, 0, failed=n).next_wait(110) for n in (1, 2)] == [1.0, None]
    assert Delivery(task(Archive(URL)), run, 0, failed=1).next_wait(100) is None


def test_what_is_sent_has_pschedulers_form_and_nothing_private():
    archives = [http(_headers={"Authorization": "Bearer EXAMPLE"})]
    known = task(Archive(URL), archives=archives, reference={"id": 7}, _key="secret")
    run = Run(
        "9f0b8f3a-1111-4111-8111-111111111111", known.uuid, 1.0, 5.0, 0.0, RunState.FINISHED, GOOD, GOOD
    )
    sent = archived(known, run, "https://p.example.org/pscheduler")
    assert sent["id"] == run.uuid
    assert sent["schedule"] == {"start": "1970-01-01T00:00:01+00:00", "duration": "PT4S"}
    assert sent["test"] == {"type": "rtt", "spec": {"dest": "192.0.2.1"}}
    assert (sent["tool"]["name"], sent["participants"], sent["reference"]) == ("ping", [None], {"id": 7})
    assert sent["result"] == GOOD
    assert sent["run"]["href"].endswith(f"/runs/{run.uuid}")
    assert {"result", "archivings"}.isdisjoint(sent["run"])
    assert "archives" not in sent["task"]
    assert "secret" not in str(sent)
    assert "EXAMPLE" not in str(sent)
