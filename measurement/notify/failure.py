"""Why something could not be delivered."""

from __future__ import annotations

from measurement.errors import MeasurementError, shorten


class NotDelivered(MeasurementError):
    """A message did not reach its target.

    :ivar cause: in words, one line, without secrets: targets of webhooks are among these.
    :ivar temporary: whether it may be tried again.
    """

    code = "not-delivered"

    def __init__(self, cause: str, *, temporary: bool, code: str | None = None) -> None:
        self.cause = shorten(cause)
        self.temporary = temporary
        super().__init__(self.cause, code=code)
