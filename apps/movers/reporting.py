"""What the controller is told of transfers."""

from __future__ import annotations

from typing import Any, Protocol

from adon.errors import AdonError
from adon.transfers.machine import Report

TELL_WITHIN_S = 5.0


class Controller(Protocol):
    """The link, as far as it is used here."""

    @property
    def connected(self) -> bool:
        """Whether the controller is there now."""

    def call(self, kind: str, payload: dict[str, Any], timeout: float = ...) -> dict[str, Any]:
        """Send a command and wait for its answer."""


def tell(controller: Controller, flow: int, report: Report) -> AdonError | None:
    """Tell a report and wait for the answer; why it was not taken, or None.  Any thread."""
    body = {"flow": flow, "status": report.status, "bytes": report.bytes, "detail": report.detail}
    try:
        controller.call("flow.report", body, timeout=TELL_WITHIN_S)
    except AdonError as error:
        return error
    return None
