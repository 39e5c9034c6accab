"""Where a point shall send results itself: archivers ``http`` and ``rabbitmq``; pure.

Two defaults of pScheduler's are turned round: its http archiver does not check certificates and gives
up at the first failure.  Failed runs are archived only if asked for.  ``_url`` and ``_headers`` hold
secrets: a server answers them as null, and they are in no ``repr`` here.  (A task's own ``_key`` is in
every pushed result: whoever receives results can cancel the task.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from measurement.pscheduler.iso8601 import format_duration


class Retry(NamedTuple):
    """So many attempts, so many seconds apart."""

    attempts: int
    wait: float


PATIENT = (Retry(5, 10.0), Retry(10, 60.0))


@dataclass(frozen=True, slots=True)
class ArchiveRequest:
    """One entry of a task's ``archives``.

    :param data: what the archiver is told; may hold secrets.
    :param failures: whether runs that failed are sent too.
    :param ttl: seconds after which an unsent result is given up.
    """

    archiver: str
    data: Mapping[str, object] = field(repr=False)
    failures: bool = True
    ttl: float = 1800.0

    @property
    def document(self) -> dict[str, object]:
        """As JSON."""
        return {
            "schema": 2,
            "archiver": self.archiver,
            "data": dict(self.data),
            "runs": "all" if self.failures else "succeeded",
            "ttl": format_duration(self.ttl),
        }


def http(
    url: str, *, token: str | None = None, verify: bool = True, retries: Sequence[Retry] = PATIENT
) -> ArchiveRequest:
    """Results by POST to ``url``, with a bearer token if given; any 2xx is an acknowledgement."""
    data: dict[str, object] = {
        "schema": 3,
        "_url": url,
        "op": "post",
        "verify-ssl": verify,
        "retry-policy": _policy(retries),
    }
    if token is not None:
        data["_headers"] = {"Authorization": f"Bearer {token}"}
    return ArchiveRequest("http", data)


def rabbitmq(
    url: str, *, exchange: str = "", routing_key: str = "", retries: Sequence[Retry] = PATIENT
) -> ArchiveRequest:
    """Results to an AMQP broker (``amqps://user:password@host/vhost``)."""
    data = {
        "schema": 1,
        "_url": url,
        "exchange": exchange,
        "routing-key": routing_key,
        "retry-policy": _policy(retries),
    }
    return ArchiveRequest("rabbitmq", data)


def _policy(retries: Sequence[Retry]) -> list[dict[str, object]]:
    return [{"attempts": retry.attempts, "wait": format_duration(retry.wait)} for retry in retries]
