"""Every list in pages: nothing twice, nothing missed, wherever the pages are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.api.base import NewestFirst
from adon.errors import InvalidInput
from apps.rest.pagination import TimePage, cursor, read_cursor
from measurement.model import Metric, PathKey
from tests.support.factories import make_measurement
from tests.support.fake_collector import NOW, alarm
from tests.support.refusals import refused
from tests.support.web_world import COMPUTED, SOYKB

WINDOW = {"scope": "path", "name": "al2s", "begins": "2099-11-21T02:00:00Z", "ends": "2099-11-21T04:00:00Z"}
RESERVATION = {"compute": "osu-hpc", "worker_nodes": 1, "ends": "2025-10-10T00:00:00Z"}


def walked(world, path, limit, who="admin"):
    """All items of a list, page by page, as its Link header leads."""
    found, address = [], f"{path}{'&' if '?' in path else '?'}limit={limit}"
    for _ in range(100):
        answer = world.ask("GET", address, who)
        assert answer.status_code == 200, answer.text
        assert len(answer.json["items"]) <= limit
        found += answer.json["items"]
        if answer.json["next"] is None:
            assert "Link" not in answer.headers
            return found
        target, relation = answer.headers["Link"].split(";")
        assert relation.strip() == 'rel="next"'
        address = target.strip("<>").removeprefix("/api/v1")
    raise AssertionError("it has no end")


@pytest.fixture
def full(world):
    """Several of everything that is listed."""
    for _ in range(3):
        flow = world.flow(world.submit("researcher"))
        world.stage.report(flow, "finished")
        world.ask("POST", "/maintenance", json=WINDOW)
        world.ask("POST", "/jobs", "researcher", json={"site": "osu-hpc", "job": "align"})
        world.ask("POST", "/reservations", "researcher", json=RESERVATION)
        world.ask("POST", "/subscriptions", "researcher", json={"channel": "stream"})
    for name in ("a", "b"):
        world.ask("POST", "/templates", json={**SOYKB, "name": name})
    world.ask("POST", "/templates", json={**SOYKB, "priority": 1})
    world.put(*(alarm(_series(), age, "x") for age in (10, 10.5, 11)))
    return world


def _series():
    from measurement.model import Series

    return Series("al2s", "mu", "osu", "rtt")


LISTS = [
    "/templates",
    "/templates/soykb/versions",
    "/flows",
    "/flows/f-1/history",
    "/flows/f-1/decisions",
    "/decisions",
    "/outcomes",
    "/paths",
    "/rules",
    "/rules/diff",
    "/measurements",
    "/measurements/series",
    "/measurements/boxes?metric=rtt&since=2025-10-09T00:00:00Z&until=2025-10-09T12:00:00Z",
    "/executions",
    "/points",
    "/alarms",
    "/subscriptions",
    "/maintenance",
    "/sites",
    "/jobs",
    "/resources",
    "/reservations",
    "/policy",
    "/hosts",
    "/tokens",
    "/audit",
]


@pytest.mark.parametrize("path", [*LISTS, "/users"])
def test_pages_put_together_are_the_list(full, path):
    whole = walked(full, path, 100)
    assert whole
    for limit in (1, 2):
        assert walked(full, path, limit) == whole


@pytest.mark.parametrize("path", LISTS)
def test_a_limit_and_a_cursor_that_are_none_are_refused(full, path):
    joint = "&" if "?" in path else "?"
    assert full.ask("GET", f"{path}{joint}limit=0").status_code == 422
    for name in ("before", "after"):
        answer = full.ask("GET", f"{path}{joint}{name}=%00nothing")
        assert answer.status_code in (404, 422), name
        assert answer.mimetype == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["/version", "/network", "/flows/f-1", "/healthz", "/openapi.json", "/schedule"]
)
def test_an_unknown_parameter_is_refused_everywhere(full, path):
    answer = full.ask("GET", path + "?colour=blue")
    assert answer.status_code == 422
    assert answer.json["problems"][0]["field"] == "colour"


def test_a_parameter_that_is_given_twice_is_refused(world):
    answer = world.ask("GET", "/flows?limit=1&limit=2")
    (problem,) = answer.json["problems"]
    assert (answer.status_code, problem["field"], problem["code"]) == (422, "limit", "duplicate")


def test_measurements_of_one_moment_are_all_found(world):
    key, at = PathKey("al2s", "osu", "mu"), NOW - 5
    rtt = {"key": key, "metric": Metric.RTT, "observed_at": at + 1}
    world.append(*(make_measurement(**rtt, value=0.01 + n, source=f"run-{n}") for n in range(7)))
    found = walked(world, "/measurements?source=osu&destination=mu", 2)
    assert sorted(one["value"] for one in found) == pytest.approx([0.01 + n for n in range(7)])


# -- filters -------------------------------------------------------------------------------------------

FLOW_FILTERS = [
    ("text=nowhere", []),
    ("text=RUN%20b", ["f-2"]),
    ("text=100%25", []),
    ("text=soykb", ["f-2", "f-1"]),
    ("host=mu-dtn", ["f-2", "f-1"]),
    ("host=osu-dtn&state=queued", ["f-2"]),
    ("path=al2s", ["f-1"]),
    ("template=soykb", ["f-2", "f-1"]),
    ("template=soykb@1", ["f-2", "f-1"]),
    ("template=soy", []),
    ("template=soykb@2", []),
    ("since=2025-10-09T08:53:20Z", ["f-2", "f-1"]),
    ("until=2025-10-09T08:53:20Z", []),
]


@pytest.mark.parametrize(("query", "found"), FLOW_FILTERS)
def test_flows_are_filtered(world, query, found):
    world.submit("researcher", label="Run A")
    world.submit("rival", label="Run B", qspec={"throughput": {"min": "60 Mbps"}})
    assert [one["id"] for one in world.ask("GET", f"/flows?{query}").json["items"]] == found
    own = {one["id"] for one in world.ask("GET", f"/flows?{query}", "rival").json["items"]}
    assert own == set(found) & {"f-2"}


DECISION_FILTERS = [
    ("", ["f-3", "f-2", "f-1"]),
    ("flow=f-1", ["f-1"]),
    ("outcome=queue", ["f-2"]),
    ("path=internet", ["f-3"]),
    ("site=osu-hpc", ["f-3", "f-1"]),
    ("site=mu-hpc", []),
    ("template=computed", ["f-3", "f-1"]),
    ("template=soykb@2", []),
    ("since=2025-10-09T08:53:21Z", ["f-3", "f-2"]),
    ("until=2025-10-09T08:53:21Z", ["f-1"]),
]


@pytest.mark.parametrize(("query", "found"), DECISION_FILTERS)
def test_decisions_of_all_flows_are_filtered(world, query, found):
    world.report_sites()
    world.ask("POST", "/templates", json=COMPUTED)
    world.stage.measure("internet", rtt=0.001)
    by_rtt = {"qspec": {"throughput": {"min": "1 Mbps"}}, "weights": {"rtt": 1, "throughput": 0}}
    for who, asked in (
        ("researcher", {"template": "computed"}),
        ("researcher", {"qspec": {"throughput": {"min": "60 Mbps"}}}),
        ("rival", {"template": "computed", **by_rtt}),
    ):
        world.submit(who, **asked)
        world.stage.pass_time(1)
    items = world.ask("GET", f"/decisions?{query}").json["items"]
    assert [one["flow"] for one in items] == found
    own = world.ask("GET", f"/decisions?{query}", "researcher").json["items"]
    assert own == [one for one in items if one["flow"] != "f-3"]


# -- cursors -------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 7))
def test_pages_by_time_miss_nothing(times, limit):
    whole = sorted(enumerate(map(float, times)), key=lambda one: (-one[1], -one[0]))
    found, following = [], None
    for _ in range(40):
        page = TimePage(NewestFirst(limit=limit, before=following))
        read = [one for one in whole if page.until is None or one[1] < page.until][: page.limit]
        shown, following = page.cut(read, lambda one: one[1])
        found += shown
        if following is None:
            break
    assert found == whole


@given(st.floats(-1e11, 1e11), st.one_of(st.integers(), st.text(max_size=20)))
def test_a_cursor_is_read_back(at, name):
    assert read_cursor(cursor(at, name), type(name)) == (at, name)


@pytest.mark.parametrize(
    "text", ["", "x", "WzEsIDJd!", "W10", "bnVsbA", "W1syXSwgMV0", "WzFlOTksIDFd", "é", "=" * 9]
)
def test_a_cursor_of_somebody_else_is_refused(text):
    with refused(InvalidInput, field="before"):
        read_cursor(text, int)
