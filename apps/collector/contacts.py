"""The measurement points as they are configured: where they are, whom we trust there, who we are to them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from adon.config import Configuration
from adon.config.measurements import Mail, MeasurementPoint
from adon.config.types import PINNED
from adon.errors import InvalidInput
from apps.collector.identity import Identity
from measurement.notify.mail import MailServer
from measurement.poller import Point
from measurement.pscheduler import leftovers
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.transport import Credentials, Pinned, Verify

LOG = logging.getLogger(__name__)


def points(
    configuration: Configuration, folder: Path, pause: Callable[[float], None], identity: Identity
) -> dict[str, Point]:
    """A client for each measurement point.

    :param identity: who we are in what we post.
    :param folder: where the configuration file is; certificate files are named relative to it.
    :param pause: sleeps; raises at shutdown.
    :raises InvalidInput: for a URL or certificate file that cannot be used.
    """
    return {
        name: Point(client(f"measurements.points.{name}", point, folder, pause, identity), point.node_name)
        for name, point in configuration.measurements.points.items()
    }


def client(
    field: str, host: MeasurementPoint, folder: Path, pause: Callable[[float], None], identity: Identity
) -> PSchedulerClient:
    """A client for one pScheduler host; as :func:`points`.

    :param field: where in the configuration it stands.
    """
    verify = parse_verify(host.verify, folder)
    if verify is False:
        LOG.warning("event=certificate_not_verified host=%s url=%s", field, host.url)
    try:
        return PSchedulerClient(
            host.url,
            verify,
            pause=pause,
            credentials=_credentials(field, host, folder),
            owner=identity.owner,
            secret=identity.secret,
        )
    except ValueError as error:
        raise InvalidInput.of(field, error) from None


def sweep(left: Mapping[str, Point]) -> None:
    """Cancel what these clients' owner has left on their points; may take as long as the slowest point."""
    for name, point in left.items():
        swept = leftovers.sweep(point.client)
        point.client.close()
        for error in swept.errors:
            LOG.warning('event=not_swept point=%s cause="%s"', name, error)
        if swept.cancelled:
            LOG.info("event=swept point=%s tasks=%d", name, swept.cancelled)


def parse_verify(text: str, folder: Path) -> Verify:
    """How a certificate is verified, from ``verify`` of the configuration.

    :param folder: of the files that the configuration names.
    """
    if text in ("system", "none"):
        return text == "system"
    return Pinned(text.removeprefix(PINNED)) if text.startswith(PINNED) else str(folder / text)


def _credentials(field: str, point: MeasurementPoint, folder: Path) -> Credentials:
    token = None
    if point.token_file is not None:
        token = secret(folder / point.token_file, f"{field}.token_file")
    return Credentials(token)


def secret(file: Path, field: str) -> str:
    """What a file of one secret holds.

    :raises InvalidInput: naming the field, if it cannot be read or is empty.
    """
    try:
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "is not text"
        raise InvalidInput.of(field, f"{file.name}: {cause}") from None
    if not text:
        raise InvalidInput.of(field, f"{file.name}: is empty")
    return text


def mail_server(wanted: Mail, folder: Path) -> MailServer:
    """Where mail is handed in.

    :param folder: of the files that the configuration names.
    :raises InvalidInput: for a password file that cannot be read.
    """
    password = ""
    if wanted.password_file is not None:
        password = secret(folder / wanted.password_file, "measurements.notify.mail.password_file")
    return MailServer(wanted.host, wanted.port, wanted.sender, wanted.security, wanted.user, password)
