"""What can go wrong with a custom metric, as members of the measurement plane's own family."""

from __future__ import annotations

from measurement.errors import MeasurementError, shorten


class CustomMetricError(MeasurementError):
    """Root of this part of the family."""

    code = "custom-metric-error"


class MetricFailed(CustomMetricError):
    """A metric that could not be sampled now; it may be the next time.

    :ivar cause: one line that may leave the host: no arguments, no output of the program.
    :ivar detail: what the program said, for this host's own log only.
    """

    code = "metric-failed"

    def __init__(self, cause: str, detail: str = "", *, code: str | None = None) -> None:
        self.cause = shorten(cause)
        self.detail = shorten(detail)
        super().__init__(self.cause, code=code)


class BatchFailed(MetricFailed):
    """A batch system that did not answer, refused, or answered what cannot be read."""

    code = "batch-failed"


class NotConfigured(CustomMetricError):
    """A configuration that cannot be used; its text names file and field."""

    code = "not-configured"
