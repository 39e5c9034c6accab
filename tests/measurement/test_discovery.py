from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from measurement.errors import BadAnswer, PointUnavailable
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.discovery import ToolAnswer
from tests.measurement.standin import StandIn, reply, stand_in

TEST = specs.throughput(specs.Ends("127.0.0.1", "127.0.0.2", "a", "b"), 10)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as running:
        yield running


@pytest.fixture
def client(server: StandIn) -> PSchedulerClient:
    return PSchedulerClient(server.url, attempts=1, pause=lambda _: None)


def test_what_a_host_can_do(server: StandIn, client: PSchedulerClient) -> None:
    server.plugins = {
        "tests": [{"name": "throughput", "version": "1.0", "scheduling-class": "exclusive", "schema": 1}],
        "tools": [
            {"name": "nuttcp", "tests": ["throughput"], "preference": 0},
            {"name": "iperf3", "tests": ["throughput"], "preference": 1, "description": "iperf3"},
            {"name": "ping", "tests": ["rtt"]},
        ],
        "archivers": [{"name": "http"}],
    }
    found = client.capabilities()
    assert found.api == 6
    assert found.tests["throughput"].scheduling_class == "exclusive"
    assert found.tools_for("throughput") == ["iperf3", "nuttcp"]
    assert found.tools_for("mood") == []
    assert list(found.archivers) == ["http"]


def task(**changes: object) -> dict[str, object]:
    spec = {"source": "127.0.0.1", "dest": "127.0.0.2"}
    href = "https://elsewhere.invalid/pscheduler/tasks/11111111-1111-4111-8111-111111111111"
    return {"href": href, "test": {"type": "rtt", "spec": spec}, "schedule": {}, **changes}


@pytest.mark.parametrize(
    ("known", "repeats", "owner", "tool"),
    [
        (task(), False, "", ""),
        (task(schedule={"repeat": "PT5M"}, tool="ping"), True, "", "ping"),
        (task(schedule={"repeat-cron": "* * * * *"}), True, "", ""),
        (task(schedule=None, reference={"owner": "me"}), False, "me", ""),
        (task(reference={"owner": 1}), False, "", ""),
        (task(reference=[1]), False, "", ""),
    ],
)
def test_a_task_of_somebody_is_found_under_our_own_url(
    server: StandIn, client: PSchedulerClient, known: object, repeats: bool, owner: str, tool: str
) -> None:
    server.misbehave["GET /tasks"] = lambda handler: reply(handler, 200, [known])
    (found,) = client.tasks_between("127.0.0.1", "127.0.0.2")
    assert found.task.url == f"{server.url}/tasks/11111111-1111-4111-8111-111111111111"
    assert (found.known.repeats, found.known.owner, found.known.tool) == (repeats, owner, tool)
    assert (found.known.test, found.known.spec["dest"]) == ("rtt", "127.0.0.2")


@pytest.mark.parametrize("known", [task(href="x"), task(test=[]), task(test={"type": "rtt"}), [], 1])
def test_a_task_that_is_none_is_a_bad_answer(
    server: StandIn, client: PSchedulerClient, known: object
) -> None:
    server.misbehave["GET /tasks"] = lambda handler: reply(handler, 200, [known])
    with pytest.raises(BadAnswer):
        client.tasks_between("127.0.0.1", "127.0.0.2")


@pytest.mark.parametrize("answer", [{}, [1], [{"version": "1"}], "tests", None])
def test_a_list_that_is_none_is_a_bad_answer(
    server: StandIn, client: PSchedulerClient, answer: object
) -> None:
    server.misbehave["GET /tests"] = lambda handler: reply(handler, 200, answer)
    with pytest.raises(BadAnswer):
        client.capabilities()


def test_a_specification_is_checked_before_it_is_posted(server: StandIn, client: PSchedulerClient) -> None:
    assert client.objection(TEST) is None
    server.objection = "'duration' is too short"
    assert client.objection(TEST) == "'duration' is too short"
    assert server.posted == []


@pytest.mark.parametrize(
    ("status", "text"),
    [(500, "Traceback\nKeyError: 'dest'"), (404, 'No test "x" is available.'), (400, "no")],
)
def test_a_traceback_is_an_objection_too(
    server: StandIn, client: PSchedulerClient, status: int, text: str
) -> None:
    server.misbehave["GET /tests"] = lambda handler: reply(handler, status, text, "text/plain")
    objection = client.objection(TEST)
    assert objection is not None
    assert text.split()[0] in objection


def test_a_host_that_is_down_objects_to_nothing(server: StandIn, client: PSchedulerClient) -> None:
    server.misbehave["GET /tests"] = lambda handler: reply(handler, 503, "down", "text/plain")
    with pytest.raises(PointUnavailable):
        client.objection(TEST)


def test_tools_say_why_they_cannot(server: StandIn, client: PSchedulerClient) -> None:
    server.plugins["tools"] = [
        {"can-run": {"can-run": True}, "tool": {"name": "iperf3"}},
        {"can-run": {"can-run": False, "reasons": ["no UDP"]}, "tool": {"name": "nuttcp"}},
    ]
    assert client.tools(TEST) == [ToolAnswer("iperf3", True), ToolAnswer("nuttcp", False, ("no UDP",))]


def test_an_older_server_is_asked_as_such(server: StandIn, client: PSchedulerClient) -> None:
    def old(handler: BaseHTTPRequestHandler) -> None:
        if "api=6" in handler.path:
            reply(handler, 501, "No API above 4.", "text/plain")
        else:
            reply(handler, 200, [{"name": "iperf3"}])

    server.misbehave["GET /tools"] = old
    assert client.tools(TEST) == [ToolAnswer("iperf3", True)]
