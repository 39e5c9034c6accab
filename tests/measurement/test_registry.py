"""What announcements are worth, the registry's client, and points that announce themselves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.errors import BadAnswer, Rejected
from measurement.lookup import RegistryClient
from measurement.point import certificate
from measurement.point.announcing import EVERY, LONGEST_WAIT, wait_after
from measurement.pscheduler.connections import Credentials
from measurement.registry import (
    SILENT_AFTER,
    Announcement,
    Directory,
    Entry,
    Refused,
    Standing,
    register,
)
from tests.measurement.point.running import A, start, stop

ONE, TWO = "1a" * 32, "2b" * 32
SAID = Announcement("mu", "https://192.0.2.1:4443/pscheduler", ("192.0.2.1",), ONE, ("rtt",), "0.1.0", 1000.0)
NOW = 1010.0

announcements = st.builds(
    Announcement,
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True),
    st.sampled_from(["https://a.example/pscheduler", "http://[2001:db8::1]:4443/pscheduler"]),
    st.lists(st.ip_addresses().map(str), max_size=4).map(tuple),
    st.none() | st.just(ONE),
    st.lists(st.sampled_from(["rtt", "throughput", "adon-metric"]), max_size=3).map(tuple),
    st.just("1.0.0+local"),
    st.floats(0, 1e10),
)


@settings(max_examples=50)
@given(announcements)
def test_an_announcement_survives_json(said: Announcement) -> None:
    assert Announcement.from_json(json.loads(json.dumps(said.to_json()))) == said


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"name": "../x"}, "name"),
        ({"name": None}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"url": "ftp://a/"}, "url"),
        ({"url": "https://user:secret@a/"}, "url"),
        ({"url": "https://a:99999/"}, "url"),
        ({"url": "https://a/\x1b[2J"}, "url"),
        ({"url": "https://[::1/"}, "url"),
        ({"addresses": ["nowhere"]}, "addresses"),
        ({"addresses": ["192.0.2.1"] * 65}, "addresses"),
        ({"addresses": "192.0.2.1"}, "addresses"),
        ({"certificate_sha256": ONE.upper()}, "certificate_sha256"),
        ({"tests": [5]}, "tests"),
        ({"tests": ["<script>"]}, "tests"),
        ({"version": ""}, "version"),
        ({"at": float("nan")}, "at"),
        ({"at": True}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_what_is_no_announcement_is_refused_by_field(change: dict[str, Any], cause: str) -> None:
    with pytest.raises(Refused, match=cause) as caught:
        Announcement.from_json({**SAID.to_json(), **change})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("missing", ["name", "url", "addresses", "tests", "version", "at"])
def test_what_is_missing_is_named(missing: str) -> None:
    document = SAID.to_json()
    del document[missing]
    with pytest.raises(Refused, match=f"{missing}: is missing"):
        Announcement.from_json(document)


@pytest.mark.parametrize("document", [None, [], "mu", 5])
def test_what_is_no_object_is_refused(document: object) -> None:
    with pytest.raises(Refused, match="JSON object"):
        Announcement.from_json(document)


HELD = {"mu": Entry(SAID, Standing.KNOWN, 900.0, 1000.0)}


@pytest.mark.parametrize(
    ("known", "expected", "said", "standing"),
    [
        ({}, {"mu": ONE}, SAID, Standing.KNOWN),
        ({}, {"mu": None}, SAID, Standing.KNOWN),
        ({}, {}, SAID, Standing.UNKNOWN),
        (HELD, {"mu": None}, SAID, Standing.KNOWN),
        (HELD, {"mu": TWO}, replace(SAID, certificate=TWO), Standing.KNOWN),  # the operator said so
    ],
)
def test_what_an_announcement_is_worth(known, expected, said, standing) -> None:
    entry = register(known, expected, "mu", said, NOW)
    assert (entry.standing, entry.announcement) == (standing, said)
    assert (entry.first_seen, entry.last_seen) == (900.0 if known else NOW, NOW)


@pytest.mark.parametrize(
    ("known", "expected", "sender", "said", "cause"),
    [
        ({}, {"mu": ONE}, "osu", SAID, "osu may not announce mu"),
        ({}, {"mu": TWO}, "mu", SAID, "another certificate than the one configured"),
        ({}, {"mu": TWO}, "mu", replace(SAID, certificate=None), "another certificate"),
        (HELD, {"mu": None}, "mu", replace(SAID, certificate=TWO), "certificate has changed"),
        (HELD, {"mu": None}, "mu", replace(SAID, certificate=None), "certificate has changed"),
        (HELD, {}, "mu", replace(SAID, certificate=TWO), "certificate has changed"),
        (HELD, {"mu": ONE}, "mu", replace(SAID, at=999.0), "older announcement"),
        ({}, {"mu": ONE}, "mu", replace(SAID, at=NOW + 301), "in the future"),
    ],
)
def test_what_is_not_believed(known, expected, sender, said, cause) -> None:
    with pytest.raises(Refused, match=cause):
        register(known, expected, sender, said, NOW)


def test_strangers_do_not_fill_a_registry() -> None:
    crowd = {f"x{n}": Entry(replace(SAID, name=f"x{n}"), Standing.UNKNOWN, 0.0, 0.0) for n in range(1000)}
    with pytest.raises(Refused, match="too many unknown points"):
        register(crowd, {}, "mu", SAID, NOW)
    assert register(crowd, {"mu": None}, "mu", SAID, NOW).standing is Standing.KNOWN


def test_a_registry_outlives_a_restart_and_asks_who_is_expected_anew() -> None:
    held: list[bytes] = []
    first = Directory({"mu": None}, lambda: NOW, keep=held.append)
    first.announce("mu", SAID.to_json())
    first.announce("osu", replace(SAID, name="osu").to_json())
    again = Directory({"osu": None}, lambda: NOW, held[-1])
    assert {name: entry.standing for name, entry in again.entries().items()} == {
        "mu": Standing.UNKNOWN,
        "osu": Standing.KNOWN,
    }
    with pytest.raises(Refused, match="changed"):
        again.announce("mu", replace(SAID, certificate=TWO).to_json())
    assert again.entries()["mu"].announcement == SAID
    assert again.forget("mu")
    assert not again.forget("mu")
    again.announce("mu", replace(SAID, certificate=TWO).to_json())


def test_what_cannot_be_kept_is_not_acknowledged() -> None:
    def full(_: bytes) -> None:
        raise OSError("no space left")

    directory = Directory({"mu": None}, lambda: NOW, keep=full)
    with pytest.raises(OSError, match="no space"):
        directory.announce("mu", SAID.to_json())
    assert directory.listed() == []


@pytest.mark.parametrize("held", [b"{", b"5", b"[5]", b'[{"name": "mu"}]'])
def test_what_is_no_registry_is_not_taken_for_an_empty_one(held: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # JSON's own, or ours
        Directory({}, lambda: NOW, held)


def test_silence_shows() -> None:
    times = [NOW]
    directory = Directory({"mu": None}, lambda: times[0])
    directory.announce("mu", SAID.to_json())
    times[0] += SILENT_AFTER
    assert [item["silent"] for item in directory.listed()] == [False]
    times[0] += 1
    assert [item["silent"] for item in directory.listed()] == [True]


@given(st.integers(0, 1000), st.floats(0, 1, exclude_max=True))
def test_waits_grow_stay_bounded_and_differ(failures: int, chance: float) -> None:
    wait = wait_after(failures, chance)
    assert 0.5 <= wait <= (LONGEST_WAIT if failures else 1.1 * EVERY)
    assert wait_after(failures, 0.0) < wait_after(failures, 0.99)


class Registry(ThreadingHTTPServer):
    """A registry that speaks HTTP; refuses the first requests if told to."""

    def __init__(self, expected: dict[str, str | None]) -> None:
        self.directory = Directory(expected, time.time)
        self.answers: list[int] = []
        self.tokens: list[str | None] = []
        self.listing: Any = None
        super().__init__((A, 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://{A}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        listing = self.server.listing
        self._answer(200, self.server.directory.listed() if listing is None else listing)

    def do_POST(self) -> None:
        self.server.tokens.append(self.headers["Authorization"])
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.answers:
            self._answer(self.server.answers.pop(0), "not now")
            return
        try:
            self.server.directory.announce("mu", document)
        except ValueError as error:
            self._answer(422, str(error))
        else:
            self._answer(200, None)

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry({"mu": None}) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_announcing_and_looking_up(registry: Registry) -> None:
    client = RegistryClient(registry.url, credentials=Credentials("token-of-mu"))
    said = replace(SAID, at=time.time())
    client.announce(said)
    (entry,) = client.points()
    assert (entry.announcement, entry.standing) == (said, Standing.KNOWN)
    assert registry.tokens == ["Bearer token-of-mu"]
    with pytest.raises(Rejected, match="may not announce"):
        client.announce(replace(said, name="osu"))


@pytest.mark.parametrize("listing", [{}, [5], [{"name": "mu"}], [{**SAID.to_json(), "standing": "king"}]])
def test_a_listing_that_is_none_is_refused(registry: Registry, listing: Any) -> None:
    registry.listing = listing
    with pytest.raises(BadAnswer, match="points"):
        RegistryClient(registry.url).points()


@pytest.mark.integration
def test_a_point_announces_itself_at_boot_until_it_is_heard(registry: Registry, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("token-of-mu\n")
    registry.answers += [503, 503]
    point = start(
        tmp_path / "mu", A, "--announce", registry.url, "--announce-token-file", str(token),
        "--url", "https://192.0.2.1:4443/pscheduler",
    )  # fmt: skip
    try:
        for _ in range(100):
            if registry.directory.entries():
                break
            time.sleep(0.1)
        said = registry.directory.entries()["mu"].announcement
        assert said.url == "https://192.0.2.1:4443/pscheduler"
        assert said.certificate == certificate.fingerprint(point.certificate.read_text())
        assert "rtt" in said.tests
        assert said.addresses
        assert set(registry.tokens) == {"Bearer token-of-mu"}
        assert any("event=not_announced" in line for line in point.log)
        assert not any("token-of-mu" in line for line in point.log)
    finally:
        assert stop(point) == 0
