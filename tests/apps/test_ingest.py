from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from apps.collector.ingest import Door, IngestServer, Intake, Rate, Settings, create_app
from measurement.archive import Appended, Archive
from measurement.errors import ArchiveError
from measurement.point import certificate
from measurement.point.trust import Known, Right, Trust
from measurement.sources.received import Value
from tests.measurement.sources import messages
from tests.measurement.sources.messages import NOW, POINT_A, STRANGER

TOKENS = {name: f"token-of-{name}" for name in ("campus", "elsewhere", "new", "reader")}
REPORTERS = {"campus": POINT_A, "elsewhere": STRANGER}
LARGEST = 200_000


class Running:
    """An ingest server with an archive of its own."""

    def __init__(self, folder: Path, settings: Settings, trust: Trust, rate: Rate) -> None:
        self.file = folder / "archive.db"
        self.lock = threading.Lock()
        self.broken = False
        self.door = Door(lambda: trust, rate)
        intake = Intake(messages.resolve, self.keep, REPORTERS.get, lambda: NOW)
        self.server = IngestServer(create_app(self.door, intake, settings.largest), settings)

    def keep(self, values: Sequence[Value]) -> Appended:
        if self.broken:
            raise ArchiveError("the disk is full")
        with self.lock, Archive(self.file) as archive:
            return archive.append(values)

    def post(
        self, body: Any, token: str | None = TOKENS["campus"], path: str = "/results", **more: Any
    ) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        more["headers"] = {**headers, **more.get("headers", {})}
        return requests.post(self.server.url + path, data=data, timeout=60, **more)

    def archived(self) -> int:
        with Archive(self.file) as archive:
            return len(archive.query())


def known(name: str) -> Known:
    digest = hashlib.sha256(TOKENS[name].encode()).hexdigest()
    rights = frozenset({Right.READ if name == "reader" else Right.ARCHIVE})
    return Known(name, rights, frozenset({digest}))


def running_in(folder: Path) -> Iterator[Running]:
    trust = Trust(tuple(known(name) for name in TOKENS))
    running = Running(folder, Settings(largest=LARGEST), trust, Rate(1.0, 1000.0))
    with running.server:
        yield running
        assert running.server.alive


@pytest.fixture
def ingest(tmp_path: Path) -> Iterator[Running]:
    yield from running_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For tests that leave nothing in it."""
    yield from running_in(tmp_path_factory.mktemp("ingest"))


def test_a_result_is_acknowledged_when_the_archive_has_it(ingest: Running) -> None:
    message = messages.message()
    first = ingest.post(message)
    assert (first.status_code, first.json()) == (200, {"new": 2, "duplicates": 0, "refused": []})
    assert ingest.archived() == 2
    again = ingest.post(message)
    assert (again.status_code, again.json()) == (200, {"new": 0, "duplicates": 2, "refused": []})
    assert ingest.archived() == 2


def basic(name: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


@pytest.mark.parametrize("verb", ["PUT", "POST"])
@pytest.mark.parametrize("path", ["/results", "/logstash"])
@pytest.mark.parametrize("shown", [f"Bearer {TOKENS['campus']}", basic("campus", TOKENS["campus"])])
def test_result_is_archived_as_perfsonars_definition_sends_it(
    ingest: Running, verb: str, path: str, shown: str
) -> None:
    headers = {"x-ps-observer": "192.0.2.10", "content-type": "application/json", "Authorization": shown}
    answer = requests.request(
        verb, ingest.server.url + path, json=messages.message(), headers=headers, timeout=60
    )
    assert (answer.status_code, answer.json()["new"]) == (200, 2)
    assert ingest.archived() == 2


def test_curl_archives_a_document(ingest: Running, tmp_path: Path) -> None:
    (tmp_path / "message.json").write_text(json.dumps(messages.message()))

    def curl(*words: str) -> str:
        command = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT"]
        command += ["--data-binary", f"@{tmp_path}/message.json", *words, f"{ingest.server.url}/results"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    assert curl() == "401"
    assert curl("-u", "campus:guessed") == "401"
    assert curl("-u", f"elsewhere:{TOKENS['campus']}") == "401"  # another sender's token
    assert ingest.archived() == 0
    assert curl("-u", f"campus:{TOKENS['campus']}") == "200"
    assert ingest.archived() == 2


@pytest.mark.parametrize("shown", [None, "Bearer guessed", "Basic !", "Basic Og==", "Digest a=b", "Bearer"])
def test_wrong_credentials_are_told_both_schemes(shared: Running, shown: str | None) -> None:
    headers = {} if shown is None else {"Authorization": shown}
    answer = requests.put(
        shared.server.url + "/results", json=messages.message(), headers=headers, timeout=60
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "not-authenticated")
    assert {"Bearer", "Basic"} <= set(answer.headers["WWW-Authenticate"].replace(",", "").split())


NO_RATE = {"succeeded": True, "summary": {"summary": {}}}
MALFORMED: list[tuple[dict[str, Any], str]] = [
    (messages.message(name="seventeen"), "id"),
    (messages.message(test=None), "test"),
    (messages.message("No Test"), "test.type"),
    (messages.message(test={"type": "rtt", "spec": [1]}), "test.spec"),
    (messages.message(result={"sent": 3}), "result.succeeded"),
    (messages.message(result={**messages.RTT, "mean": "fast"}), "result.mean"),
    (messages.message(run=None, schedule={"start": "yesterday"}), "schedule.start"),
    (messages.message(run=None, schedule={"start": "2026-01-01T00:00:00Z"}), "schedule.duration"),
    (messages.message(participants="ps-a.example.net"), "participants"),
    (messages.message("throughput", {"succeeded": True}), "result.summary"),
    (messages.message("throughput", NO_RATE), "result.summary.summary.throughput-bits"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field"), MALFORMED)
def test_malformed_document_names_its_field(shared: Running, body: dict[str, Any], field: str) -> None:
    answer = shared.post(body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")
    assert (answer.json()["code"], answer.json()["problems"][0]["field"]) == ("invalid-input", field)
    assert answer.json()["problems"][0]["code"] == "malformed"


def test_result_from_the_future_has_a_code(shared: Running) -> None:
    answer = shared.post(messages.message(ended=NOW + 3600))
    (problem,) = answer.json()["problems"]
    assert (answer.status_code, problem["field"], problem["code"]) == (422, "run", "in-future")


def test_body_that_is_not_json_has_a_code(shared: Running) -> None:
    answer = shared.post(b'{"id": ')
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


@pytest.mark.parametrize(
    "body",
    [
        messages.message("http", {"succeeded": True, "time": "PT1S"}),
        messages.message(spec={"dest": "203.0.113.5"}),
        messages.message(result={"succeeded": False, "error": "no route"}),
        messages.message(result=None) | {"result": None, "run": {"state": "missed"}},
    ],
)
def test_result_that_is_not_for_adon_is_final_at_once(shared: Running, body: dict[str, Any]) -> None:
    before = shared.archived()
    answer = shared.post(body)
    assert (answer.status_code, len(answer.json()["refused"])) == (200, 1)
    assert shared.archived() == before


def test_an_archive_that_cannot_keep_it_is_no_acknowledgement(ingest: Running) -> None:
    ingest.broken = True
    answer = ingest.post(messages.message())
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    ingest.broken = False
    assert ingest.post(messages.message()).status_code == 200


@pytest.mark.parametrize(
    ("token", "body", "status"),
    [
        (None, messages.message(), 401),
        ("guessed", messages.message(), 401),
        ("", messages.message(), 401),
        (TOKENS["new"], messages.message(), 403),  # known, but no measurement point
        (TOKENS["reader"], messages.message(), 403),
        (TOKENS["elsewhere"], messages.message(), 403),  # took no part
        (TOKENS["campus"], b'{"id": ', 400),
        (TOKENS["campus"], b"\xff" * 100, 400),
        (TOKENS["campus"], b"[" * 100_000, 400),
        (TOKENS["campus"], b'{"id": NaN}', 400),
        (TOKENS["campus"], b"", 400),
        (TOKENS["campus"], b"[]", 422),
        (TOKENS["campus"], {}, 422),
        (TOKENS["campus"], messages.message(ended=NOW + 3600), 422),
        (TOKENS["campus"], messages.message(result={"succeeded": True}), 422),
        (TOKENS["campus"], b" " * (LARGEST + 1), 413),
    ],
)
def test_what_is_not_taken_is_never_a_fault_of_ours(
    shared: Running, token: str | None, body: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = shared.archived()
    answer = shared.post(body, token)
    assert answer.status_code == status
    assert shared.archived() == before
    if status != 413:  # which the web server answers before the application is asked
        lines = [record.getMessage() for record in caplog.records if "event=refused" in record.getMessage()]
        assert len(lines) == 1
        assert "\n" not in lines[0]
        assert not any(secret in lines[0] for secret in TOKENS.values())


def test_a_failed_test_is_acknowledged_so_that_it_is_not_sent_for_ever(shared: Running) -> None:
    answer = shared.post(messages.message(result={"succeeded": False, "error": "no route"}))
    assert answer.status_code == 200
    assert "no route" in answer.json()["refused"][0]


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: x",
        "Content-Length: -5",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: gzip",
        "Content-Encoding: gzip\r\nContent-Length: 2",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue\r\nContent-Length: 2",
    ],
)
def test_odd_requests_get_no_5xx(shared: Running, head: str) -> None:
    host, port = shared.server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        start = f"POST /results HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKENS['campus']}\r\n"
        connection.sendall(f"{start}{head}\r\nConnection: close\r\n\r\n{{}}\r\n0\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    # 501 is what RFC 9112 (6.1) asks for where a transfer coding is not known.
    assert not any(status.startswith(b"5") and status != b"501" for status in statuses), answer
    assert shared.post(messages.message()).status_code == 200


def test_a_body_without_length_is_bounded_too(shared: Running) -> None:
    chunks = (b" " * 10_000 for _ in range(100))
    headers = {"Authorization": f"Bearer {TOKENS['campus']}"}
    try:
        answer = requests.post(shared.server.url + "/results", data=chunks, headers=headers, timeout=60)
    except requests.ConnectionError:
        return  # it hung up in the middle, which bounds it as well
    assert 400 <= answer.status_code < 500


def test_too_much_is_told_to_wait(tmp_path: Path) -> None:
    running = Running(tmp_path, Settings(), Trust((known("campus"), known("elsewhere"))), Rate(0.01, 3.0))
    with running.server:
        statuses = [running.post(messages.message()).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        assert (
            running.post({}, TOKENS["elsewhere"]).status_code == 422
        )  # who has done nothing pays for nothing
        assert int(running.post({}).headers["Retry-After"]) > 1


def test_who_guesses_tokens_is_slowed_down(ingest: Running) -> None:
    statuses = [ingest.post({}, f"guess-{number}").status_code for number in range(40)]
    assert statuses[:20] == [401] * 20
    assert statuses.count(429) >= 15
    assert ingest.post(messages.message()).status_code == 200


def test_health_is_open_and_counts(ingest: Running) -> None:
    ingest.post(messages.message())
    ingest.post(messages.message(), None)
    answer = requests.get(ingest.server.url + "/healthz", timeout=60).json()
    assert answer["status"] == "ok"
    assert answer["counted"] == {"messages": 1, "refused": 0, "new": 2, "duplicates": 0, "status_401": 1}


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, tuple[Path, Path]]:
    found = {}
    for name in ("server", "campus"):
        folder = tmp_path / name
        folder.mkdir()
        found[name] = certificate.ensure(folder, [name, "localhost", "127.0.0.1"])
    return found


def test_a_token_is_sent_over_tls_and_a_client_certificate_is_nobody(
    tmp_path: Path, certificates: dict[str, tuple[Path, Path]]
) -> None:
    settings = Settings(certificate=certificates["server"])
    running = Running(tmp_path, settings, Trust((known("campus"),)), Rate())
    verify = str(certificates["server"][0])
    with running.server:
        shown = tuple(map(str, certificates["campus"]))
        assert running.post(messages.message(), verify=verify).status_code == 200
        url, name_and_token = f"{running.server.url}/logstash", ("campus", TOKENS["campus"])
        answer = requests.put(url, json=messages.message(), auth=name_and_token, verify=verify, timeout=60)
        assert (answer.status_code, answer.json()["new"]) == (200, 2)
        assert running.post(messages.message(), None, verify=verify, cert=shown).status_code == 401


def test_who_connects_and_says_nothing_holds_up_nobody(
    tmp_path: Path, certificates: dict[str, tuple[Path, Path]]
) -> None:
    settings = Settings(certificate=certificates["server"])
    running = Running(tmp_path, settings, Trust((known("campus"),)), Rate())
    with running.server:
        host, port = running.server.url.removeprefix("https://").split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(4)]
        try:
            answer = running.post(messages.message(), verify=str(certificates["server"][0]))
        finally:
            for connection in silent:
                connection.close()
    assert answer.status_code == 200


@given(st.lists(st.floats(0, 10), max_size=60), st.floats(0.1, 10), st.integers(1, 10))
def test_no_more_is_let_in_than_the_rate_allows(gaps: list[float], per_second: float, burst: int) -> None:
    rate, bucket, now, let_in = Rate(per_second, float(burst)), None, 100.0, 0
    for gap in gaps:
        now += gap
        bucket, wait = rate.take(bucket, now)
        let_in += wait == 0
        if wait:
            assert rate.take(bucket, now + wait + 1e-6)[1] == 0
    assert let_in <= burst + (now - 100.0) * per_second + 1e-6
