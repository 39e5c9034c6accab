"""Whose headers count, and who is noted for sending them."""

from __future__ import annotations

from typing import Any

import pytest

from adon.config.access import Shibboleth
from adon.errors import NotAuthenticated
from apps.rest.identity.shibboleth import MOST_NOTED, Attempts, TrustedProxy, peer
from apps.rest.request_origin import PEER

SECRET = "correct horse"  # noqa: S105
SETTINGS = Shibboleth(proxies=("127.0.0.1/32", "2001:db8::/64"), secret_file="unread")  # noqa: S106
SENT = "HTTP_ADON_PROXY_SECRET"
HEADERS = {SENT: SECRET, "HTTP_SHIB_IDENTITY_PROVIDER": "https://idp", "HTTP_EPPN": "a@b.edu"}


def told(address: str | None = "127.0.0.1", **changes: Any) -> dict[str, Any]:
    return {"REMOTE_ADDR": address, **HEADERS, **changes}


@pytest.mark.parametrize(
    ("environ", "sent"),
    [
        (told(), True),
        (told("::ffff:127.0.0.1"), True),
        (told("2001:db8::7"), True),
        (told("127.0.0.2"), False),
        (told("2001:db8:1::7"), False),
        (told(""), False),
        (told(None), False),
        (told("nonsense"), False),
        (told(**{SENT: "correct horses"}), False),
        (told(**{SENT: ""}), False),
        (told(**{SENT: f"{SECRET},{SECRET}"}), False),  # the header came twice
        (told(**{SENT: "corr\u00ebct"}), False),
        ({"REMOTE_ADDR": "127.0.0.1"}, False),
        # another part of us believed X-Forwarded-For; the connection says who it was
        (told("127.0.0.1", **{PEER: "10.0.0.9"}), False),
        (told("10.0.0.9", **{PEER: "127.0.0.1"}), True),
    ],
)
def test_who_may_speak_for_mod_shib(environ: dict[str, Any], sent: bool) -> None:
    assert TrustedProxy(SETTINGS, SECRET).sent(environ) is sent


def test_a_unix_socket_is_trusted_only_if_it_is_named() -> None:
    unix = Shibboleth(proxies=("unix",), secret_file="unread")  # noqa: S106
    assert TrustedProxy(unix, SECRET).sent(told(""))
    assert not TrustedProxy(unix, SECRET).sent(told("127.0.0.1"))
    assert not TrustedProxy(unix, SECRET).sent(told("", **{SENT: "x"}))


def test_the_assertion() -> None:
    proxy = TrustedProxy(SETTINGS, SECRET)
    found = proxy.assertion(told(HTTP_ENTITLEMENT="urn:a;urn:m\u00c3\u00a4ce", HTTP_MEMBER="soy"))
    assert found.issuer == "https://idp"
    assert found.principal == "a@b.edu"
    assert found.entitlements == {"urn:a", "urn:mäce"}
    assert found.groups == {"soy"}
    with pytest.raises(NotAuthenticated):
        proxy.assertion(told("10.0.0.9"))
    with pytest.raises(NotAuthenticated):
        proxy.assertion(told(HTTP_SHIB_IDENTITY_PROVIDER=""))


def test_headers_may_have_other_names() -> None:
    named = Shibboleth(proxies=("127.0.0.1/32",), secret_file="u", headers={"principal": "X-Remote-User"})  # noqa: S106
    found = TrustedProxy(named, SECRET).assertion(told(HTTP_X_REMOTE_USER="ann@b.edu"))
    assert found.principal == "ann@b.edu"


def test_each_sender_of_such_headers_is_noted_once() -> None:
    attempts = Attempts(TrustedProxy(SETTINGS, SECRET))
    assert attempts.look(told()) is None  # the one who may
    assert attempts.look({"REMOTE_ADDR": "10.0.0.9"}) is None
    assert attempts.look(told("10.0.0.9")) == "10.0.0.9"
    assert attempts.look(told("10.0.0.9")) is None
    assert attempts.look(told("", **{SENT: "x"})) == "unix"
    for number in range(MOST_NOTED + 10):
        attempts.look(told(f"10.1.{number // 256}.{number % 256}"))
    assert attempts.look(told("10.9.9.9")) is None  # enough is known; memory stays flat


def test_without_shibboleth_every_such_header_is_an_attempt() -> None:
    assert Attempts(None).look(told()) == "127.0.0.1"
    assert Attempts(None).look({"REMOTE_ADDR": "127.0.0.1", "HTTP_REMOTE_USER": "admin"}) == "127.0.0.1"


def test_the_peer_is_the_other_end_of_the_connection() -> None:
    assert peer({"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}) == "10.0.0.1"
    assert peer({}) == ""
    assert peer({"REMOTE_ADDR": "198.51.100.1", PEER: ""}) == "", "a Unix socket, behind which somebody asks"
