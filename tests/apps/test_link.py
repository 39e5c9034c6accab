from __future__ import annotations

import json
import queue
import socket
import stat
import threading
from pathlib import Path

import pytest

from adon import problems
from adon.errors import (
    AdonError,
    Conflict,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    Problem,
    Unavailable,
)
from apps import link
from apps.link import LinkClient, LinkServer, Peer
from tests.support.refusals import refused

WAIT = 60.0  # the longest a test waits for what must come; never slept through


class Controller:
    """A stand-in that answers ``echo``, refuses ``refuse``, ignores ``silence`` and records the rest."""

    def __init__(self, path: Path) -> None:
        self.seen: queue.Queue[tuple[Peer, str, dict[str, object]]] = queue.Queue()
        self.error: AdonError = Forbidden("no")
        self.server = LinkServer(path, self.handle)

    def handle(self, peer: Peer, kind: str, payload: dict[str, object]) -> None:
        command = str(payload.get("command"))
        if kind == "echo":
            peer.answer(command, payload)
        elif kind == "refuse":
            raise self.error
        elif kind == "crash":
            raise ZeroDivisionError
        elif kind == "nan":
            peer.answer(command, {"value": float("nan")})
        else:
            self.seen.put((peer, kind, payload))

    def next(self, kind: str) -> tuple[Peer, dict[str, object]]:
        while True:
            peer, seen, payload = self.seen.get(timeout=WAIT)
            if seen == kind:
                return peer, payload


@pytest.fixture(autouse=True)
def _connections_have_time(monkeypatch):
    monkeypatch.setattr(link, "CONNECT_WAIT", WAIT)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.sock"


@pytest.fixture
def controller(path):
    stand_in = Controller(path)
    yield stand_in
    stand_in.server.close()


@pytest.fixture
def client(path, controller):
    end = LinkClient(path, "web")
    yield end
    end.close()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def raw(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(WAIT)
    connection.connect(str(path))
    return connection


def test_a_call_is_answered(client):
    assert client.call("echo", {"x": [1, "ü"]})["x"] == [1, "ü"]


def test_only_our_user_can_open_the_socket(path, controller):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_role_is_announced_and_messages_arrive_in_order(client, controller):
    peer, payload = controller.next("hello")
    assert (peer.role, payload["role"]) == ("web", "web")
    for number in range(50):
        client.send("note", {"number": number})
    assert [controller.next("note")[1]["number"] for _ in range(50)] == list(range(50))


def test_what_came_before_anybody_listened_is_told_when_somebody_does(client, controller):
    controller.next("hello")
    for number in range(link.UNHEARD + 3):
        controller.server.broadcast("state", {"n": number}, role="web")
    client.call("echo", {"n": 1})  # an answer comes after what was sent before it
    heard = []
    client.on("state", lambda payload: heard.append(payload["n"]))
    assert heard == list(range(3, link.UNHEARD + 3))
    controller.server.broadcast("state", {"n": -1}, role="web")
    client.call("echo", {"n": 2})
    assert heard[-1] == -1
    client.on("state", heard.append)
    assert len(heard) == link.UNHEARD + 1, "nothing is told twice"


def test_what_another_connection_brought_is_not_told(path):
    first = Controller(path)
    client = LinkClient(path, "web")
    first.next("hello")
    first.server.broadcast("state", {"n": 1}, role="web")
    client.call("echo", {"n": 1})
    first.server.close()
    second = Controller(path)
    second.next("hello")
    second.server.broadcast("state", {"n": 2}, role="web")
    client.call("echo", {"n": 2})
    heard = []
    client.on("state", heard.append)
    assert heard == [{"n": 2}]
    client.close()
    second.server.close()


ERRORS = [
    InvalidInput([Problem("size", "is zero"), Problem("weights", "are zero", "f.yaml", 7, code="missing")]),
    NotFound("flow", "f-9"),
    Conflict("version", "exists", code="duplicate"),
    NotAuthenticated("who?"),
    Forbidden("no"),
    Unavailable("later"),
    AdonError("broken"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_an_error_is_raised_here_as_it_was_raised_there(client, controller, error):
    controller.error = error
    with pytest.raises(type(error)) as raised:
        client.call("refuse", {})
    assert type(raised.value) is type(error)
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)
    assert raised.value.status == error.status


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, NotAuthenticated),
        (403, Forbidden),
        (404, NotFound),
        (418, InvalidInput),
        (502, Unavailable),
        (500, AdonError),
    ],
)
def test_an_answer_of_a_stranger_is_sorted_by_its_status(status, kind):
    assert type(problems.from_document({"status": status, "detail": "proxy"})) is kind


def test_a_handler_that_fails_does_not_cut_the_peer_off(client):
    for kind in ("crash", "nan"):
        with pytest.raises(AdonError) as raised:
            client.call(kind, {})
        assert raised.value.status == 500
        assert "Traceback" not in str(raised.value)
    assert client.call("echo", {"x": 1})["x"] == 1


def test_no_answer_is_unavailable(client):
    with refused("timeout"):
        client.call("silence", {}, timeout=0.05)


def test_no_controller_is_unavailable(path, monkeypatch):
    monkeypatch.setattr(link, "CONNECT_WAIT", 0.01)
    client = LinkClient(path, "web")
    with refused("not-running"):
        client.call("echo", {})
    client.close()
    with refused("not-running"):
        client.call("echo", {})


def test_a_call_does_not_wait_for_the_pause_between_attempts(path, monkeypatch):
    monkeypatch.setattr(link, "BACKOFF", (60.0, 60.0))
    client = LinkClient(path, "web")
    with pytest.raises(Unavailable):
        client.call("echo", {}, timeout=0.01)  # has been tried in vain: it pauses from now on
    controller = Controller(path)
    try:
        assert client.call("echo", {"x": 1})["x"] == 1
    finally:
        client.close()
        controller.server.close()


def test_a_call_under_way_ends_when_the_controller_goes(client, controller):
    outcome: queue.Queue[BaseException] = queue.Queue()

    def call() -> None:
        try:
            client.call("silence", {}, timeout=WAIT)
        except Unavailable as error:
            outcome.put(error)

    thread = threading.Thread(target=call)
    thread.start()
    controller.next("silence")
    controller.server.close()
    assert "went away" in str(outcome.get(timeout=WAIT))
    thread.join(WAIT)


def test_messages_wait_for_a_controller_that_restarts(path):
    first = Controller(path)
    client = LinkClient(path, "collector")
    greetings: queue.Queue[object] = queue.Queue()
    client.on("hello", greetings.put)
    greetings.get(timeout=WAIT)
    first.next("hello")
    first.server.close()
    while client.connected:
        threading.Event().wait(0.005)
    client.send("measurement", {"value": 1})
    second = Controller(path)
    assert second.next("measurement")[1] == {"value": 1}
    greetings.get(timeout=WAIT)
    client.close()
    second.server.close()


def test_the_oldest_go_when_too_many_wait(path, monkeypatch):
    monkeypatch.setattr(link, "CLIENT_QUEUE", 3)
    client = LinkClient(path, "collector")
    for number in range(5):
        client.send("note", {"number": number})
    controller = Controller(path)
    assert [controller.next("note")[1]["number"] for _ in range(3)] == [2, 3, 4]
    client.close()
    controller.server.close()


def test_broadcast_reaches_one_role_only(path, controller):
    got: dict[str, queue.Queue[object]] = {role: queue.Queue() for role in ("web", "collector")}
    clients = [LinkClient(path, role) for role in got]
    for role, end in zip(got, clients, strict=True):
        end.on("state", got[role].put)
        controller.next("hello")
    controller.server.broadcast("state", {"n": 1}, role="web")
    controller.server.broadcast("state", {"n": 2})
    assert [got["web"].get(timeout=WAIT) for _ in range(2)] == [{"n": 1}, {"n": 2}]
    assert got["collector"].get(timeout=WAIT) == {"n": 2}
    assert got["collector"].empty()
    for end in clients:
        end.close()


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"[]\n",
        b'{"kind": 3, "payload": {}}\n',
        b'{"kind": "x", "payload": {"v": NaN}}\n',
        b'{"kind": "x"}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b"x" * (link.MAX_LINE + 2),
    ],
    ids=["text", "list", "kind", "nan", "no-payload", "bytes", "deep", "long"],
)
def test_what_is_not_a_message_costs_its_sender_the_connection_and_nobody_else(path, client, line, caplog):
    client.call("echo", {})
    caplog.set_level("INFO", logger="apps.link")
    with raw(path) as stranger:
        try:
            stranger.sendall(line)
            assert stranger.recv(1) == b""
        except (BrokenPipeError, ConnectionResetError):
            pass  # dropped before it had written all of it
    assert client.call("echo", {"x": 1})["x"] == 1
    assert sum("not a message" in record.message for record in caplog.records) == 1


def test_a_slow_peer_is_dropped_and_never_waited_for(path, controller, client, monkeypatch):
    with raw(path) as slow:
        slow.sendall(b'{"kind": "hello", "payload": {"role": "slow"}}\n')
        while (peer := controller.next("hello")[0]).role != "slow":
            pass
        text = "x" * 10_000
        for _ in range(link.SERVER_QUEUE + 100):  # far more than the socket's own buffer holds
            peer.send("state", {"text": text})
        assert peer.gone
    assert client.call("echo", {"x": 1})["x"] == 1


def test_what_waits_for_a_peer_has_so_many_bytes_at_most(path, controller, client, monkeypatch):
    monkeypatch.setattr(link, "SERVER_BYTES", 2_000_000)
    with raw(path) as slow:
        slow.sendall(b'{"kind": "hello", "payload": {"role": "slow"}}\n')
        while (peer := controller.next("hello")[0]).role != "slow":
            pass
        for _ in range(10):  # few messages, and large ones
            peer.send("state", {"text": "x" * 900_000})
        assert peer.gone
    for _ in range(10):  # what was read does not count
        assert client.call("echo", {"x": "x" * 900_000})


def test_a_socket_left_behind_is_replaced(path):
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.close()
    controller = Controller(path)
    raw(path).close()
    controller.server.close()
    assert not path.exists()


def test_a_second_controller_is_refused_and_the_first_lives(path, client):
    with refused(Conflict, field="data"):
        LinkServer(path, lambda *_: None)
    assert client.call("echo", {"x": 1})["x"] == 1


def test_a_file_in_the_way_is_not_removed(path):
    path.write_text("precious")
    with refused(Conflict, field="data"):
        LinkServer(path, lambda *_: None)
    assert path.read_text() == "precious"


def test_a_path_too_long_is_named(tmp_path):
    with refused(InvalidInput, field="data"):
        LinkServer(tmp_path / ("x" * 150), lambda *_: None)


def test_what_cannot_be_sent_is_refused_to_the_sender(client):
    with pytest.raises(InvalidInput):
        client.call("echo", {"text": "x" * link.MAX_LINE})
    with pytest.raises(ValueError, match="note"):
        client.send("note", {"value": float("inf")})


def test_a_callback_may_not_wait_for_the_link(path, controller):
    client = LinkClient(path, "web")
    outcome: queue.Queue[object] = queue.Queue()

    def callback(_payload: dict[str, object]) -> None:
        try:
            client.call("echo", {})
        except RuntimeError as error:
            outcome.put(error)

    client.on("state", callback)
    controller.next("hello")
    controller.server.broadcast("state", {})
    assert "cannot wait" in str(outcome.get(timeout=WAIT))
    client.close()


def test_no_descriptor_or_thread_is_left(path):
    before = open_descriptors()
    controller = Controller(path)
    for _ in range(3):
        end = LinkClient(path, "web")
        end.call("echo", {})
        end.close()
    controller.server.close()
    for thread in threading.enumerate():
        if thread.name.startswith("link-"):
            thread.join(WAIT)
    assert not [t for t in threading.enumerate() if t.name.startswith("link-")]
    assert open_descriptors() <= before


def test_lines_are_json_lines():
    assert json.loads(link.encode("a", {"b": 1})) == {"kind": "a", "payload": {"b": 1}}


def test_who_is_accepted_while_the_server_closes_is_let_go(path):
    controller = Controller(path)
    admit, server = controller.server._admit, controller.server
    closed = threading.Event()

    def late(*arguments: object) -> None:
        server.close()  # between accept and the list of peers
        admit(*arguments)
        closed.set()

    server._admit = late
    with raw(path) as stranger:
        assert closed.wait(WAIT)
        assert stranger.recv(1) == b""  # with the peer kept, this would time out
    assert server.peers == ()
