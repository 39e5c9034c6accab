"""A mail server that speaks enough SMTP for a client: EHLO, STARTTLS, AUTH PLAIN, one mail at a time."""

from __future__ import annotations

import base64
import email
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from typing import Any


class MailServerStandIn(socketserver.ThreadingTCPServer):
    """Takes mail and keeps it.

    :ivar mails: what arrived: sender, recipient, message.
    :ivar lines: everything that clients said, per connection state (``plain`` or ``tls``).
    :ivar refuses: per command word, the reply that it gets instead of the usual one.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, context: ssl.SSLContext | None = None, *, tls_at_once: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.context, self.tls_at_once = context, tls_at_once
        self.password: bytes | None = None
        self.mails: list[tuple[str, str, EmailMessage]] = []
        self.lines: list[tuple[str, str]] = []
        self.refuses: dict[str, str] = {}

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is what some tests are about."""


class _Session(socketserver.BaseRequestHandler):
    server: MailServerStandIn

    def handle(self) -> None:
        self.stream, self.state = self.request, "plain"
        if self.server.tls_at_once:
            self._secure()
        self.file = self.stream.makefile("rb")
        self._say("220 mail.example ESMTP")
        self.sender = self.recipient = ""
        while line := self.file.readline():
            text = line.decode().strip()
            self.server.lines.append((self.state, text))
            word = text.split(maxsplit=1)[0].upper() if text else ""
            if word in self.server.refuses:
                self._say(self.server.refuses[word])
            elif not self._obey(word, text):
                return

    def _obey(self, word: str, text: str) -> bool:
        if word == "EHLO":
            offers = ["mail.example"]
            if self.server.context is not None and self.state == "plain":
                offers.append("STARTTLS")
            if self.server.password is not None and self.state == "tls":
                offers.append("AUTH PLAIN")
            for number, offer in enumerate(offers, 1):
                self._say(f"250{'-' if number < len(offers) else ' '}{offer}")
        elif word == "STARTTLS":
            self._say("220 go ahead")
            self._secure()
            self.file = self.stream.makefile("rb")
        elif word == "AUTH":
            given = base64.b64decode(text.split()[2]).split(b"\0")[2]
            self._say("235 welcome" if given == self.server.password else f"535 no: {given.decode()}")
        elif word == "MAIL":
            self.sender = text
            self._say("250 ok")
        elif word == "RCPT":
            self.recipient = text
            self._say("250 ok")
        elif word == "DATA":
            self._data()
        elif word == "QUIT":
            self._say("221 bye")
            return False
        else:
            self._say("250 ok")
        return True

    def _data(self) -> None:
        self._say("354 go ahead")
        lines = []
        while (line := self.file.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b"..") else line)
        message = email.message_from_bytes(b"".join(lines), policy=default)
        assert isinstance(message, EmailMessage)
        self.server.mails.append((self.sender, self.recipient, message))
        self._say("250 taken")

    def _secure(self) -> None:
        assert self.server.context is not None
        self.stream = self.server.context.wrap_socket(self.stream, server_side=True)
        self.state = "tls"

    def _say(self, text: str) -> None:
        self.stream.sendall(text.encode() + b"\r\n")


@contextmanager
def running(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve from a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
