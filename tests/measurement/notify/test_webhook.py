from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest

from measurement.notify.failure import NotDelivered
from measurement.notify.subscription import Channel
from measurement.notify.webhook import Policy, is_public, send
from tests.measurement.notify.alarming import alarm, delivery, subscription
from tests.measurement.notify.conftest import Tls
from tests.measurement.notify.standin_smtp import running
from tests.support.refusals import refused
from tests.support.webhook_receiver import SECRET, WebhookReceiver, is_signed


def to(url: str) -> Any:
    return delivery(to=subscription(channel=Channel.WEBHOOK, target=url))


def here(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def named(*hosts: str) -> Policy:
    return Policy(frozenset(hosts), SECRET)


def test_a_call_arrives_signed() -> None:
    receiver = WebhookReceiver()
    with running(receiver):
        url = f"http://hooks.example:{receiver.port}/T0/x?token=1"
        send(to(url), named("hooks.example"), 1_000_000.9, resolve=here)
    ((path, headers, body),) = receiver.calls
    assert (path, headers["host"]) == ("/T0/x?token=1", f"hooks.example:{receiver.port}")
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("d-1", "1000000")
    assert json.loads(body)["alarms"][0]["id"] == "a-1"
    assert is_signed(SECRET, headers, body)
    assert not is_signed(b"another", headers, body)
    assert not is_signed(SECRET, headers, body.replace(b"a-1", b"a-2"))
    assert not is_signed(SECRET, {**headers, "webhook-timestamp": "1000001"}, body)


def test_without_a_secret_nothing_claims_to_be_signed() -> None:
    receiver = WebhookReceiver()
    with running(receiver):
        send(to(f"http://localhost:{receiver.port}"), Policy(frozenset({"localhost"})), 1.0)
    ((path, headers, _),) = receiver.calls
    assert path == "/"
    assert "webhook-signature" not in headers


def test_over_tls_to_the_name_at_the_address_that_was_checked(tls: Tls) -> None:
    receiver = WebhookReceiver(tls)
    with running(receiver):
        url = f"https://hooks.example:{receiver.port}/"
        send(to(url), named("hooks.example"), 1.0, resolve=here, context=tls.client)
        evil = f"https://evil.example:{receiver.port}/"
        with refused("not-delivered"):
            send(to(evil), named("evil.example"), 1.0, resolve=here, context=tls.client)
        with refused("not-delivered"):
            send(to(url), named("hooks.example"), 1.0, resolve=here, context=tls.stranger)
    assert len(receiver.calls) == 1


@pytest.mark.parametrize(
    ("status", "temporary"),
    [
        (301, False),
        (302, False),
        (307, False),
        (400, False),
        (404, False),
        (410, False),
        (429, True),
        (503, True),
    ],
)
def test_what_is_not_taken(status: int, temporary: bool) -> None:
    receiver = WebhookReceiver()
    receiver.status = status
    with running(receiver), refused("not-delivered") as caught:
        send(to(f"http://localhost:{receiver.port}/hook"), named("localhost"), 1.0)
    assert caught.error.temporary is temporary
    assert [path for path, _, _ in receiver.calls] == ["/hook"], "a redirect was followed"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.0.10", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("255.255.255.255", False),
        ("224.0.0.1", False),
        ("::", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.215.14", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::7f00:1", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_what_is_public(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["169.254.169.254"], ["93.184.215.14", "127.0.0.1"], ["::ffff:127.0.0.1"]],
)
def test_a_name_that_leads_inside_is_not_called(addresses: list[str]) -> None:
    receiver = WebhookReceiver()
    url = f"http://hooks.example:{receiver.port}/"
    with running(receiver), refused("target-not-permitted") as caught:
        send(to(url), Policy(secret=SECRET), 1.0, resolve=lambda *_: addresses)
    assert not caught.error.temporary
    assert receiver.calls == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "0x7f000001", "2130706433", "127.1"])
def test_loopback_in_any_spelling_is_not_called(host: str) -> None:
    receiver = WebhookReceiver()
    with running(receiver), pytest.raises(NotDelivered):
        send(to(f"http://{host}:{receiver.port}/"), Policy(), 1.0)
    assert receiver.calls == []


def test_the_name_is_asked_for_once() -> None:
    """A name server that answers differently the second time gains nothing."""
    receiver, asked = WebhookReceiver(), list[str]()

    def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

    with running(receiver):
        send(to(f"http://hooks.example:{receiver.port}/"), named("hooks.example"), 1.0, resolve=rebinding)
    assert asked == ["hooks.example"]
    assert len(receiver.calls) == 1


def test_a_host_that_the_configuration_does_not_name() -> None:
    with refused("target-not-permitted") as caught:
        send(to("https://other.example/"), named("hooks.example"), 1.0, resolve=here)
    assert not caught.error.temporary


def test_a_name_without_address() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    for resolve in (unknown, lambda *_: []):
        with refused("not-delivered") as caught:
            send(to("https://hooks.example/"), named("hooks.example"), 1.0, resolve=resolve)
        assert caught.error.temporary


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    receiver = WebhookReceiver()
    with running(receiver):
        send(to(f"http://localhost:{receiver.port}/"), named("localhost"), 1.0)
    assert len(receiver.calls) == 1


def test_the_next_address_is_tried() -> None:
    receiver = WebhookReceiver()
    with running(receiver):
        url = f"http://hooks.example:{receiver.port}/"
        send(to(url), named("hooks.example"), 1.0, resolve=lambda *_: ["127.0.0.2", "127.0.0.1"])
    assert len(receiver.calls) == 1


def test_the_rest_of_the_url_is_a_secret() -> None:
    receiver = WebhookReceiver()
    receiver.status = 500
    with running(receiver), refused("not-delivered") as caught:
        send(to(f"http://localhost:{receiver.port}/T0/sesame?key=open"), named("localhost"), 1.0)
    assert "localhost" in str(caught.error)
    assert "sesame" not in str(caught.error)
    assert "open" not in str(caught.error)
    assert SECRET.decode() not in repr(named("localhost"))


def drip(stream: socket.socket, ended: threading.Event) -> None:
    """Answer one byte at a time, for ever."""
    connection, _ = stream.accept()
    with connection:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not ended.wait(0.01):
            try:
                connection.sendall(b"x")
            except OSError:
                return


def test_an_answer_that_never_ends_is_ended() -> None:
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as slow:
        thread = threading.Thread(target=drip, args=(slow, ended), daemon=True)
        thread.start()
        url = f"http://localhost:{slow.getsockname()[1]}/"
        with refused("not-delivered") as caught:
            send(to(url), named("localhost"), 1.0, timeout=5.0, deadline=0.2, resolve=here)
        ended.set()
        thread.join()
    assert caught.error.temporary


def test_a_handshake_that_never_ends_is_ended(tls: Tls) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"https://localhost:{mute.getsockname()[1]}/"
        with pytest.raises(NotDelivered):
            send(to(url), named("localhost"), 1.0, context=tls.client, timeout=60, deadline=0.2, resolve=here)


@pytest.mark.parametrize(
    "answer", [b"", b"hello\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500]
)
def test_what_is_no_http_is_no_success(answer: bytes) -> None:
    def serve() -> None:
        connection, _ = stream.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as stream:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with refused("not-delivered") as caught:
            send(to(f"http://localhost:{stream.getsockname()[1]}/"), named("localhost"), 1.0, resolve=here)
        thread.join()
    assert caught.error.temporary


def test_a_large_digest_arrives_whole() -> None:
    receiver = WebhookReceiver()
    many = delivery(
        *(alarm(f"a-{n}") for n in range(100)),
        to=subscription(channel=Channel.WEBHOOK, target="http://localhost/"),
    )
    with running(receiver):
        target = subscription(channel=Channel.WEBHOOK, target=f"http://localhost:{receiver.port}/")
        send(type(many)(many.id, target, many.alarms, 0), named("localhost"), 1.0)
    ((_, _, body),) = receiver.calls
    assert len(json.loads(body)["alarms"]) == 100
