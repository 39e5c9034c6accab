from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from measurement.notify.mail import MailServer, compose, send
from tests.measurement.notify.alarming import alarm, delivery
from tests.measurement.notify.conftest import Tls
from tests.measurement.notify.standin_smtp import MailServerStandIn, running
from tests.support.refusals import refused

SECRET = "hunter2-is-no-password"  # noqa: S105


def at(server: MailServerStandIn, **changes: object) -> MailServer:
    plain = MailServer("127.0.0.1", server.port, "adon@mu.example", "none")
    return replace(plain, **changes)  # type: ignore[arg-type]


def said(server: MailServerStandIn, state: str) -> list[str]:
    return [line.split()[0] for when, line in server.lines if when == state and line]


def test_a_mail_arrives_with_what_a_mail_needs() -> None:
    server = MailServerStandIn()
    with running(server):
        send(delivery(), at(server), 1_000_000.0)
    ((sender, recipient, mail),) = server.mails
    assert sender.startswith("mail FROM:<adon@mu.example>")
    assert recipient == "rcpt TO:<ann@mu.example>"
    assert mail["Subject"].startswith("[critical]")
    assert (mail["Message-ID"], mail["Auto-Submitted"]) == ("<d-1@mu.example>", "auto-generated")
    assert mail["Date"].datetime.timestamp() == 1_000_000.0
    assert "1970-01-01T00:16:40Z" in mail.get_content()


def test_a_repeated_mail_is_the_same_mail() -> None:
    first, second = (compose(delivery(), "adon@mu.example", now) for now in (1.0, 99.0))
    assert first["Message-ID"] == second["Message-ID"]


def test_a_forged_text_adds_no_header_and_no_recipient() -> None:
    server = MailServerStandIn()
    forged = alarm(text="down\r\nBcc: eve@evil.example\r\n\r\n.\r\nRCPT TO:<eve@evil.example>\r\n")
    with running(server):
        send(delivery(forged), at(server), 1.0)
    ((_, recipient, mail),) = server.mails
    assert recipient == "rcpt TO:<ann@mu.example>"
    assert mail["Bcc"] is None
    assert said(server, "plain").count("rcpt") == 1


def test_starttls_comes_before_anything_that_matters(tls: Tls) -> None:
    server = MailServerStandIn(tls.server)
    server.password = SECRET.encode()
    account = at(server, security="starttls", user="adon", password=SECRET)
    with running(server):
        send(delivery(), account, 1.0, context=tls.client)
    assert len(server.mails) == 1
    assert said(server, "plain") == ["ehlo", "STARTTLS"]
    assert "AUTH" in said(server, "tls")


def test_tls_from_the_beginning(tls: Tls) -> None:
    server = MailServerStandIn(tls.server, tls_at_once=True)
    with running(server):
        send(delivery(), at(server, security="tls"), 1.0, context=tls.client)
    assert len(server.mails) == 1
    assert said(server, "plain") == []


def test_a_server_without_tls_is_told_nothing() -> None:
    server = MailServerStandIn()
    with running(server), refused("not-delivered") as caught:
        send(delivery(), at(server, security="starttls", user="adon", password=SECRET), 1.0)
    assert caught.error.temporary
    assert said(server, "plain") == ["ehlo"]


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_is_not_trusted_ends_it(tls: Tls, security: str) -> None:
    server = MailServerStandIn(tls.server, tls_at_once=security == "tls")
    with running(server), refused("not-delivered"):
        send(delivery(), at(server, security=security, user="a", password=SECRET), 1.0, context=tls.stranger)
    assert said(server, "tls") == []
    assert server.mails == []


@pytest.mark.parametrize(
    ("word", "reply", "temporary"),
    [
        ("RCPT", "550 no such user", False),
        ("RCPT", "450 greylisted", True),
        ("MAIL", "553 who are you", False),
        ("DATA", "452 disk full", True),
        ("EHLO", "421 too busy", True),
    ],
)
def test_a_refusal_is_told_from_a_delay(word: str, reply: str, temporary: bool) -> None:
    server = MailServerStandIn()
    server.refuses[word] = reply
    if word == "EHLO":
        server.refuses["HELO"] = reply
    with running(server), refused("not-delivered") as caught:
        send(delivery(), at(server), 1.0)
    assert caught.error.temporary is temporary
    assert reply in str(caught.error)
    assert server.mails == []


def test_a_wrong_password_is_no_secret_told(tls: Tls) -> None:
    """This server repeats the password in its refusal."""
    server = MailServerStandIn(tls.server)
    server.password = b"another"
    account = at(server, security="starttls", user="adon", password=SECRET)
    with running(server), refused("not-delivered") as caught:
        send(delivery(), account, 1.0, context=tls.client)
    assert "535" in str(caught.error)
    assert SECRET not in str(caught.error)
    assert SECRET not in repr(account)
    assert caught.error.temporary


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with refused("not-delivered") as caught:
        send(delivery(), MailServer("127.0.0.1", port, "adon@mu.example", "none"), 1.0)
    assert caught.error.temporary


def test_a_server_that_says_nothing_is_left_after_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        here = MailServer("127.0.0.1", mute.getsockname()[1], "adon@mu.example", "none")
        with refused("not-delivered") as caught:
            send(delivery(), here, 1.0, timeout=0.1)
    assert caught.error.temporary
