"""The real server, its limits and its patience: slow clients, floods, forged headers, the end."""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from functools import partial

import pytest
import requests
from flask import request

from adon.config.access import Access
from adon.config.controller import WebLimits
from adon.yamlfile import check_model
from apps.rest import connections, wsgi_bridge
from apps.rest.identity.ways import NAME as WAYS
from apps.rest.identity.ways import open_ways
from apps.rest.rate_windows import Rates
from apps.rest.request_origin import network_of, plain
from tests.apps.edge import SourceAddress, eventually
from tests.support import web_world as web
from tests.support.fake_collector import NOW


def raw(url, data, patience=60.0):
    """What comes back for these bytes, until the server ends the connection."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=patience) as connection:
        connection.sendall(data)
        found = b""
        while piece := connection.recv(65536):
            found += piece
        return found


HEAD = b"GET /api/v1/healthz HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (HEAD + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n", b"431"),
        (b"POST /api/v1/flows HTTP/1.1\r\nHost: x\r\nContent-Length: 1000001\r\n\r\n", b"413"),
        (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        (b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
    ],
    ids=["not HTTP", "head too large", "body too large", "two lengths", "no ASCII"],
)
def test_what_cannot_be_served_is_refused_without_a_trace(served, data, status):
    answer = raw(served, data)
    assert answer.startswith(b"HTTP/1.1 " + status), answer[:200]
    assert b"Traceback" not in answer
    assert b"server: adon" in answer
    assert (b'"code":"headers-too-large"' in answer.replace(b'": "', b'":"')) == (status == b"431")


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"POST /api/v1/flows HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"]
)
def test_who_does_not_finish_a_request_is_let_go_and_others_are_served(served, monkeypatch, begun):
    monkeypatch.setattr(connections, "LOOK_EVERY_S", 0.2)
    for module, name in ((connections, "HEAD_S"), (wsgi_bridge, "SLOW_CLIENT_S")):
        monkeypatch.setattr(module, name, 2.0)  # enough for a whole request on a busy machine
    host, port = served.removeprefix("http://").split(":")
    held = [socket.create_connection((host, int(port)), timeout=60) for _ in range(40)]
    for one in held:
        with suppress(ConnectionError):  # it may have been cut off before a byte was sent
            one.sendall(begun)
    assert requests.get(f"{served}/api/v1/healthz", timeout=60).status_code == 200
    for one in held:
        found = b""
        with suppress(ConnectionResetError):  # cut off with bytes that nobody had read yet
            found = one.recv(4096)
        assert found == b"" or found.startswith(b"HTTP/1.1 408")
        one.close()


def test_who_does_not_take_the_last_bytes_of_answers_is_let_go(world, monkeypatch, caplog):
    """They are made, and all of them written: what lies in the server's own buffer costs memory."""
    for name in ("UNTAKEN_S", "LOOK_EVERY_S"):
        monkeypatch.setattr(connections, name, 0.2)
    monkeypatch.setattr(web.socket, "create_server", partial(narrow, socket.create_server))
    caplog.set_level(logging.INFO, connections.__name__)
    with world.served() as url, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(60)
        slow.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        slow.sendall((HEAD + b"\r\n") * 60)  # their answers fill what the kernel holds, and some more
        eventually(lambda: "event=web.slow-client cause=answer" in caplog.text, "it is waited for")
        found = b""
        with suppress(ConnectionResetError):
            while piece := slow.recv(65536):
                found += piece
        assert found.count(b"HTTP/1.1 200") < 60


def narrow(create, *where, **more):
    """A listener whose connections hold little on their way out."""
    made = create(*where, **more)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return made


def test_too_many_requests_are_refused_with_when_to_come_again(world):
    limits = WebLimits.model_validate({"anonymous": {"requests": 2, "per": "60 s"}})
    known = Rates(limits)
    found = [known.take("anonymous", "192.0.2.1") for _ in range(3)]
    assert [one.allowed for one in found] == [True, True, False]
    assert found[0].headers["RateLimit-Policy"] == '"anonymous";q=2;w=60'
    assert 1 <= int(found[2].headers["Retry-After"]) <= 60
    assert known.take("anonymous", "192.0.2.2").allowed


def test_one_ipv6_host_has_one_share():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")
    # A socket for both protocols tells IPv4 clients so; in one /64 all of them would share one allowance.
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("::ffff:192.0.2.2")
    assert (plain("::ffff:192.0.2.1"), plain("2001:db8::1"), plain("")) == ("192.0.2.1", "2001:db8::1", "")


def test_connections_above_the_limit_are_answered_with_503(world):
    with world.served(most_connections=10) as url:
        host, port = url.removeprefix("http://").split(":")
        held = [socket.create_connection((host, int(port)), timeout=60) for _ in range(10)]
        assert requests.get(f"{url}/api/v1/healthz", timeout=60).status_code == 503
        for one in held:
            one.close()
        eventually(lambda: requests.get(f"{url}/api/v1/healthz", timeout=60).status_code == 200)


SHIBBOLETH = {"Adon-Proxy-Secret": "s3cret", "Shib-Identity-Provider": "https://idp", "eppn": "ann@mu.edu"}


def test_who_speaks_for_an_identity_provider_is_known_by_the_connection_not_by_a_header(world, tmp_path):
    """Behind a proxy that tells whose request it is: that proxy is believed, and nobody passes for it."""
    (tmp_path / "secret").write_text("s3cret")
    shibboleth = {"proxies": ["127.0.0.1"], "secret_file": str(tmp_path / "secret")}
    settings = check_model({"shibboleth": shibboleth, "default_roles": ["researcher"]}, Access)
    world.app.extensions[WAYS] = open_ways(settings, lambda: NOW, {})
    with world.served(proxies=("127.0.0.1/32",)) as url:

        def ask(source, said):
            with requests.Session() as session:
                session.mount("http://", SourceAddress(source))
                return session.get(
                    f"{url}/sign-in/shibboleth",
                    headers={**SHIBBOLETH, "X-Forwarded-For": said},
                    allow_redirects=False,
                    timeout=60,
                ).status_code

        assert ask("127.0.0.1", "198.51.100.7") == 303, "the web server in front, for somebody"
        assert ask("127.0.0.2", "127.0.0.1") == 401, "somebody past it"


def test_what_a_stranger_says_about_the_client_is_dropped(world, served):
    seen = []

    def note():
        seen.append((request.remote_addr, dict(request.headers)))

    world.app.before_request_funcs.setdefault(None, []).append(note)
    said = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil"}
    assert requests.get(f"{served}/api/v1/healthz", headers=said, timeout=60).status_code == 200
    assert seen[0][0] == "127.0.0.1"
    assert not [name for name in seen[0][1] if name.startswith("X-Forwarded")]


def test_who_left_is_forgotten(world, served):
    headers = {"Authorization": f"Bearer {world.tokens['admin']}"}
    with requests.get(f"{served}/api/v1/events", headers=headers, stream=True, timeout=60) as answer:
        assert answer.status_code == 200
        eventually(lambda: world.stream.listening == 1, "it does not listen")
    eventually(lambda: world.stream.listening == 0, "the place stays taken")
