"""Points that know whom they serve: tokens and strangers, over real TLS."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from measurement.point import certificate
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.states import RunState
from measurement.pscheduler.transport import Credentials, Transport
from tests.apps.edge import eventually
from tests.measurement.point.running import A, B, RunningPoint, digest, start, start_known, stop, token_of
from tests.support.refusals import refused

pytestmark = pytest.mark.integration

FULL, ONLY_RTT, READER, THIRD, CONTROLLER = (
    f"{name}-token-0123456789" for name in ("full", "rtt", "reader", "third", "controller")
)
TRUST = """
reading = "known"
[[known]]
name = "controller"
token_sha256 = "{controller}"
may = ["start", "read"]
[[known]]
name = "full"
token_sha256 = "{full}"
may = ["start", "read"]
[[known]]
name = "only-rtt"
token_sha256 = "{only_rtt}"
may = ["start"]
tests = ["rtt"]
towards = ["127.0.0.2/32"]
[[known]]
name = "reader"
token_sha256 = "{reader}"
may = ["read"]
[[known]]
name = "third"
token_sha256 = "{third}"
may = ["take-part"]
"""


def known() -> str:
    tokens = {"full": FULL, "only_rtt": ONLY_RTT, "reader": READER, "third": THIRD, "controller": CONTROLLER}
    return TRUST.format(**{name: digest(token) for name, token in tokens.items()})


@contextmanager
def forbidden() -> Iterator[None]:
    """Check that the point answers with 403."""
    with refused("rejected") as caught:
        yield
    assert caught.error.status == 403


@dataclass
class Pair:
    a: RunningPoint
    b: RunningPoint

    def client(self, credentials: Credentials, point: RunningPoint | None = None) -> PSchedulerClient:
        asked = self.a if point is None else point
        return PSchedulerClient(asked.url, str(asked.certificate), credentials=credentials)

    @property
    def ends(self) -> specs.Ends:
        return specs.Ends(A, B, self.a.node, self.b.node)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    running = start_known(tmp_path_factory.mktemp("trust"), {"a": A, "b": B}, known())
    yield Pair(running["a"], running["b"])
    assert [stop(point) for point in running.values()] == [0, 0]


def await_log(point: RunningPoint, *words: str, times: int = 1) -> None:
    """Wait until so many lines of the log contain these words."""
    eventually(
        lambda: sum(all(word in line for word in words) for line in list(point.log)) >= times,
        f"no line contains {words}",
    )


def test_nobody_may_start_or_read_not_even_from_this_host(pair: Pair) -> None:
    with forbidden():
        pair.client(Credentials()).post(specs.rtt(pair.ends, 1), Schedule())
    assert pair.client(Credentials()).api() == 6
    assert pair.a.get("/tasks").json() == []
    assert pair.a.get("/schedule").json() == []
    assert pair.a.post("/owd", {"address": A, "packets": 1, "lifetime": 1}).status_code == 403
    await_log(pair.a, "event=refused", "path=/pscheduler/tasks")


def test_a_wrong_token_is_nobodys(pair: Pair) -> None:
    with forbidden():
        pair.client(Credentials("wrong-" + FULL)).post(specs.rtt(pair.ends, 1), Schedule())


def test_the_controller_starts_what_two_points_measure(pair: Pair) -> None:
    client = pair.client(Credentials(CONTROLLER))
    task = client.post(specs.throughput(pair.ends, 1), Schedule(slip=60))
    first = client.first_run(task)
    run = eventually(lambda: one if (one := client.run(task, first.uuid)).state.terminal else None)
    assert run.state is RunState.FINISHED, run.document.fields
    path = f"/tasks/{task.uuid}/runs/{run.uuid}"
    assert pair.a.get(path).status_code == 403
    assert pair.a.get(f"{path}/result").status_code == 403
    assert pair.a.get(f"/tasks/{task.uuid}/runs").status_code == 403
    assert pair.a.get(f"/tasks/{task.uuid}", key=task.key).status_code == 403
    assert pair.a.delete(f"/tasks/{task.uuid}", key=task.key).status_code == 403
    assert pair.client(Credentials(READER)).run(task, run.uuid).state is RunState.FINISHED
    with forbidden():
        pair.client(Credentials(ONLY_RTT)).run(task, run.uuid)
    client.cancel(task)


def test_a_reader_starts_nothing(pair: Pair) -> None:
    with forbidden():
        pair.client(Credentials(READER)).post(specs.rtt(pair.ends, 1), Schedule())


def test_rights_end_with_the_test_and_the_destination(pair: Pair) -> None:
    client = pair.client(Credentials(ONLY_RTT))
    ends = pair.ends
    with forbidden():
        client.post(specs.throughput(ends, 1), Schedule())
    with forbidden():
        client.post(specs.rtt(ends._replace(dest="127.0.0.3"), 1), Schedule())
    task = client.post(specs.rtt(ends, 1), Schedule())
    assert client.first_run(task).start > 0
    client.cancel(task)


def test_a_point_takes_part_and_starts_nothing_of_its_own(pair: Pair) -> None:
    point = Credentials(token_of("a"))
    with forbidden():
        pair.client(point, pair.b).post(specs.rtt(pair.ends, 1), Schedule())
    http = Transport(pair.b.url, str(pair.b.certificate), credentials=point)
    assert http.post("/owd", {"address": B, "packets": 1, "lifetime": 1}).json()


def test_a_task_that_another_leads_is_not_ours_to_touch(pair: Pair) -> None:
    client = pair.client(Credentials(CONTROLLER))
    task = client.post(specs.throughput(pair.ends, 20), Schedule(slip=60))
    run = client.first_run(task)
    # At A the controller owns the task: B, which takes part, may not drop A's own runs.
    point = Credentials(token_of("b"))
    http = Transport(pair.a.url, str(pair.a.certificate), credentials=point)
    with refused("rejected") as caught:
        http.delete(f"/tasks/{task.uuid}/runs/{run.uuid}")
    assert caught.error.status == 400
    # At B the task is A's: the controller has no right to take part.
    with forbidden():
        Transport(pair.b.url, str(pair.b.certificate), credentials=Credentials(FULL)).delete(
            f"/tasks/{task.uuid}/runs/{run.uuid}"
        )
    # Another point has the right, but it is not its task.
    third = Transport(pair.b.url, str(pair.b.certificate), credentials=Credentials(THIRD))
    with forbidden():
        third.delete(f"/tasks/{task.uuid}/runs/{run.uuid}")
    with forbidden():
        third.delete(f"/tasks/{task.uuid}")
    client.cancel(task)


def test_who_connects_and_says_nothing_holds_up_nobody(pair: Pair) -> None:
    host, port = pair.a.node.split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(100)]
    try:
        assert pair.a.get("/api").json() == 6
    finally:
        for connection in silent:
            connection.close()


def test_plain_http_on_a_tls_port_is_refused_in_one_line(pair: Pair) -> None:
    with pytest.raises(requests.ConnectionError):
        requests.get(f"http://{pair.a.node}/pscheduler/api", timeout=60)
    await_log(pair.a, "event=refused", "TLS handshake")


def test_without_a_trust_file_another_host_may_not_start(tmp_path: Path) -> None:
    point = start(tmp_path, A, "--allow", "127.0.0.0/8")
    try:
        await_log(point, "event=loopback_only")
        client = point.client()
        client.cancel(client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1), Schedule()))
    finally:
        assert stop(point) == 0


def test_a_trust_file_read_anew_takes_rights_away(tmp_path: Path) -> None:
    certificate.ensure(tmp_path, ["a", A])
    file = tmp_path / "who.toml"
    entry = f'[[known]]\nname="c"\ntoken_sha256="{digest(FULL)}"\nmay=["start"]\n'
    file.write_text(entry)
    point = start(tmp_path, A, "--trust", str(file))
    try:
        client = PSchedulerClient(point.url, str(point.certificate), credentials=Credentials(FULL))
        client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1), Schedule())
        file.write_text("nonsense")
        point.process.send_signal(signal.SIGHUP)
        await_log(point, "event=trust_not_changed")
        client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1), Schedule())
        file.write_text(entry.replace("start", "read"))
        point.process.send_signal(signal.SIGHUP)
        await_log(point, "event=trusting", times=2)
        with forbidden():
            client.post(specs.rtt(specs.Ends(A, B, point.node, point.node), 1), Schedule())
    finally:
        assert stop(point) == 0


def test_a_trust_file_with_a_mistake_keeps_a_point_from_starting(tmp_path: Path) -> None:
    (tmp_path / "trust.toml").write_text("known = 5")
    with pytest.raises(AssertionError, match="cannot_start"):
        start(tmp_path, A)
