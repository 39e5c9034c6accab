"""Who a certificate lets in, and the bytes in between."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from adon.config.controller import ControllerTls
from adon.errors import InvalidInput
from apps.campus_edge.streams import PlainStream, TlsStream, certificate_names
from apps.campus_edge.tls import Credentials, Identity
from tests.apps.authority import Authority
from tests.support.refusals import refused

MU, OSU, OTHER = 0xA01, 0xA02, 0xA03
BOUND = Identity({MU: "edge1.mu.example", OSU: "edge1.osu.example"})


@pytest.mark.parametrize(
    ("dpid", "names", "refused"),
    [
        (MU, {"edge1.mu.example"}, None),
        (MU, {"edge1.mu.example", "another"}, None),
        (MU, {"edge1.osu.example"}, "edge1.mu.example"),
        (MU, set(), "edge1.mu.example"),
        (OTHER, {"edge3.example"}, None),
        (OTHER, set(), None),
        (OTHER, {"edge1.mu.example"}, "another"),
    ],
)
def test_a_certificate_proves_the_switch_it_is_bound_to_and_no_other(
    dpid: int, names: set[str], refused: str | None
) -> None:
    cause = BOUND.impostor(dpid, frozenset(names))
    assert cause is None if refused is None else refused in str(cause)


def test_only_a_bound_name_proves_anything() -> None:
    assert BOUND.proven(MU, frozenset({"edge1.mu.example"}))
    assert not BOUND.proven(MU, frozenset({"edge1.osu.example"}))
    assert not BOUND.proven(OTHER, frozenset({"edge3.example"}))


@pytest.mark.parametrize(
    ("allowed", "name", "lets_in"),
    [
        (None, "anybody", True),
        (frozenset({"edge3"}), "edge3", True),
        (frozenset({"edge3"}), "edge1.mu.example", True),
        (frozenset({"edge3"}), "anybody", False),
        (frozenset(), "anybody", False),
    ],
)
def test_the_names_that_may_connect(allowed: frozenset[str] | None, name: str, lets_in: bool) -> None:
    identity = Identity(BOUND.bound, allowed)
    assert (identity.stranger(frozenset({name})) is None) == lets_in


def test_the_names_of_a_certificate_are_its_common_name_and_its_dns_names() -> None:
    certificate = {
        "subject": ((("organizationName", "MU"),), (("commonName", "Edge1"),)),
        "subjectAltName": (("DNS", "edge1.MU.example"), ("IP Address", "192.0.2.1")),
    }
    assert certificate_names(certificate) == {"edge1", "edge1.mu.example"}
    assert certificate_names({}) == frozenset()


def settings_of(authority: Authority, name: str = "controller") -> ControllerTls:
    certificate, key = authority.issue(name, "localhost")
    return ControllerTls(certificate=str(certificate), key=str(key), ca=str(authority.file))


def test_files_that_do_not_belong_together_are_wrong_input_and_no_key_is_shown(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    settings = settings_of(authority)
    _, other = authority.issue("other")
    with refused(InvalidInput, field="controller.tls"):
        Credentials(settings.model_copy(update={"key": str(other)}))


def test_the_context_changes_with_the_files_and_only_then(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    credentials = Credentials(settings_of(authority))
    first = credentials.context()
    assert credentials.context() is first
    credentials.reload()
    second = credentials.context()
    assert second is not first
    settings_of(authority)
    assert credentials.context() is not second


@pytest.fixture
def pair(tmp_path: Path) -> tuple[TlsStream, ssl.SSLSocket]:
    """Both ends of a TLS connection, the handshake done."""
    authority = Authority(tmp_path)
    credentials = Credentials(settings_of(authority))
    ours, theirs = socket.socketpair()
    context = ssl.create_default_context(cafile=str(authority.file))
    context.load_cert_chain(*authority.issue("edge1", "edge1.mu.example"))
    stream = TlsStream(PlainStream(ours, 60.0), credentials.context())
    shaking = threading.Thread(target=stream.handshake, args=(time.monotonic() + 60,))
    shaking.start()
    client = context.wrap_socket(theirs, server_hostname="localhost")
    shaking.join(60)
    assert stream.names == {"edge1", "edge1.mu.example"}
    return stream, client


def test_one_thread_may_read_while_another_writes(pair: tuple[TlsStream, ssl.SSLSocket]) -> None:
    stream, client = pair
    sent, size = os.urandom(3_000_000), 0

    def echo() -> None:
        left = len(sent)
        while left:
            data = client.recv(65_536)
            client.sendall(data)
            left -= len(data)

    threads = [threading.Thread(target=echo), threading.Thread(target=stream.sendall, args=(sent,))]
    for thread in threads:
        thread.start()
    parts = []
    while size < len(sent):
        parts.append(stream.recv(60.0))
        size += len(parts[-1])
    for thread in threads:
        thread.join(60)
    assert b"".join(parts) == sent
    client.close()
    stream.close()


def test_nothing_to_read_and_the_end_are_two_things(pair: tuple[TlsStream, ssl.SSLSocket]) -> None:
    stream, client = pair
    with pytest.raises(TimeoutError):
        stream.recv(0.01)
    client.sendall(b"x")
    assert stream.recv(60.0) == b"x"
    client.close()  # without saying so in TLS, as a switch that loses power
    with pytest.raises(OSError, match=r"EOF|reset") as broken:
        stream.recv(60.0)
    assert not isinstance(broken.value, TimeoutError)
    stream.close()
