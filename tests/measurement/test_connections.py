from __future__ import annotations

import hashlib
import ssl
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from measurement.errors import PointError, PointUntrusted, shorten
from measurement.point.certificate import ensure
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.transport import Credentials, Pinned, Timeouts
from tests.measurement.standin import StandIn, reply, stand_in
from tests.support.refusals import refused

TOKEN = "-".join(["a", "token", "that", "nobody", "should", "see"])


def certificate(folder: Path, name: str, *names: str) -> tuple[Path, Path]:
    (folder / name).mkdir()
    return ensure(folder / name, names or ("127.0.0.1",))


def context(files: tuple[Path, Path]) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*files)
    return made


def pin(file: Path) -> Pinned:
    return Pinned(hashlib.sha256(ssl.PEM_cert_to_DER_cert(file.read_text())).hexdigest())


def client(server: StandIn, verify: Any = True, **more: Any) -> PSchedulerClient:
    more.setdefault("timeouts", Timeouts(60.0, 60.0, 60.0))
    return PSchedulerClient(server.url, verify, pause=lambda _: None, **more)


def test_a_kept_connection_that_the_server_has_closed_meanwhile_is_replaced() -> None:
    def answer_and_close(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 200, 6)
        handler.close_connection = True  # without having said so

    with stand_in(keep_alive=True) as server:
        server.misbehave["GET /api"] = answer_and_close
        asked = client(server)
        assert [asked.api() for _ in range(3)] == [6, 6, 6]


def test_a_pinned_certificate_is_trusted_whatever_name_it_bears(tmp_path: Path) -> None:
    files = certificate(tmp_path, "one", "some.other.host")
    with stand_in(context(files)) as server:
        assert client(server, pin(files[0])).api() == 6
        with pytest.raises(PointUntrusted):
            client(server, str(files[0])).api()


@pytest.mark.parametrize("pinned", [True, False], ids=["fingerprint", "file"])
def test_a_certificate_that_changes_between_two_requests_is_not_trusted(tmp_path: Path, pinned: bool) -> None:
    first, second = certificate(tmp_path, "one"), certificate(tmp_path, "two")
    with stand_in(context(first)) as server:
        asked = client(server, pin(first[0]) if pinned else str(first[0]))
        assert asked.api() == 6
        server.context = context(second)
        before = server.connections
        with refused("point-untrusted") as caught:
            asked.api()
        assert server.connections == before + 1  # not tried again
        assert "\n" not in str(caught.error)
        server.context = context(first)
        assert asked.api() == 6


def test_no_check_is_no_check(tmp_path: Path) -> None:
    with stand_in(context(certificate(tmp_path, "one", "x"))) as server:
        assert client(server, False).api() == 6
        with pytest.raises(PointUntrusted):
            client(server, True).api()


def test_a_token_is_sent_and_never_shown() -> None:
    with stand_in() as server:
        asked = client(server, credentials=Credentials(TOKEN))
        asked.api()
        assert server.authorizations == [f"Bearer {TOKEN}"]
        server.misbehave["GET /api"] = lambda handler: reply(
            handler, 403, f"no: {handler.headers['Authorization']}", "text/plain"
        )
        with pytest.raises(PointError) as caught:
            asked.api()
    assert TOKEN not in str(caught.value)
    assert TOKEN not in repr(Credentials(TOKEN))
    assert TOKEN not in shorten(f'{{"Authorization": "Bearer {TOKEN}"}}')


def test_a_token_does_not_go_in_the_clear_nor_to_another_host() -> None:
    with refused(ValueError, "credentials"):
        PSchedulerClient("http://a.example.net", credentials=Credentials(TOKEN))
    with stand_in() as server, stand_in() as other:

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", f"{other.url}/api")
            handler.end_headers()

        server.misbehave["GET /api"] = redirect
        with refused("redirect"):
            client(server, credentials=Credentials(TOKEN)).api()
        assert other.asked == []
