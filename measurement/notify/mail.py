"""Mail by SMTP (RFC 5321, RFC 5322), marked as sent by a program (RFC 3834).

With ``starttls`` (RFC 3207) or ``tls`` the server's certificate is verified, and nothing is sent, no password
either, to a server that does not offer it.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

from measurement.notify import message
from measurement.notify.failure import NotDelivered
from measurement.notify.outbox import Delivery

TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in, and as whom.

    :param sender: the address in From, and of the envelope.
    :param user: None to hand in without logging in.
    """

    host: str
    port: int
    sender: str
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: str = field(default="", repr=False)


def compose(delivery: Delivery, sender: str, now: float) -> EmailMessage:
    """The mail of a delivery; the same again when it is tried again."""
    words = message.subject(delivery), message.text(delivery)
    return write_mail(sender, delivery.subscription.target, *words, delivery.id, now)


def write_mail(sender: str, to: str, subject: str, text: str, name: str, now: float) -> EmailMessage:
    """A mail of a program.

    :param name: of this mail; the same when it is tried again.
    """
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = to
    mail["Subject"] = subject
    mail["Date"] = formatdate(now)
    mail["Message-ID"] = f"<{name}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(text)
    return mail


def send(
    delivery: Delivery,
    server: MailServer,
    now: float,
    *,
    context: ssl.SSLContext | None = None,
    timeout: float = TIMEOUT_S,
) -> None:
    """Compose the mail of a delivery and hand it in.

    :param context: how the server's certificate is verified; by default with the system's CAs.
    :raises NotDelivered: if it was not taken.
    """
    hand_in(compose(delivery, server.sender, now), server, context=context, timeout=timeout)


def hand_in(
    mail: EmailMessage,
    server: MailServer,
    *,
    context: ssl.SSLContext | None = None,
    timeout: float = TIMEOUT_S,
) -> None:
    """Hand a mail in; see :func:`send`.

    :raises NotDelivered: if it was not taken.
    """
    trust = ssl.create_default_context() if context is None else context
    try:
        with _connect(server, trust, timeout) as smtp:
            if server.user is not None:
                smtp.login(server.user, server.password)
            smtp.send_message(mail)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise _delivery_error(error, server) from None


def _connect(server: MailServer, trust: ssl.SSLContext, timeout: float) -> smtplib.SMTP:
    us = socket.gethostname()  # smtplib would ask the DNS for it, which may take long
    if server.security == "tls":
        return smtplib.SMTP_SSL(server.host, server.port, local_hostname=us, timeout=timeout, context=trust)
    smtp = smtplib.SMTP(server.host, server.port, local_hostname=us, timeout=timeout)
    if server.security == "starttls":
        try:
            smtp.starttls(context=trust)
        except BaseException:
            smtp.close()
            raise
    return smtp


def _delivery_error(error: Exception, server: MailServer) -> NotDelivered:
    """What went wrong, in words; the server's text is foreign, and might repeat what it was sent."""
    cause, temporary = _cause(error)
    if server.password:
        cause = cause.replace(server.password, "***")
    return NotDelivered(f"{server.host}:{server.port}: {cause}", temporary=temporary)


def _cause(error: Exception) -> tuple[str, bool]:
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, text = next(iter(error.recipients.values()))
            return f"the recipient is refused: {code} {_decode(text)}", code < 500
        case smtplib.SMTPAuthenticationError():
            # The operator will put it right; the mail need not be lost.
            return f"our password is refused: {error.smtp_code} {_decode(error.smtp_error)}", True
        case smtplib.SMTPResponseException():
            permanent = 500 <= error.smtp_code < 600
            return f"{error.smtp_code} {_decode(error.smtp_error)}", not permanent
        case smtplib.SMTPNotSupportedError():
            return f"the server does not offer what we need: {error}", True
        case ssl.SSLError():
            return f"the certificate is not trusted: {error.reason}", True
        case _:
            return str(error) or type(error).__name__, True


def _decode(text: bytes | str) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
