"""The measurement archive: time series with roll-ups, documents and leases, in one database."""

from measurement.archive.archive import Archive
from measurement.archive.values import (
    DAY,
    HOUR,
    MINUTE,
    Appended,
    Bucket,
    Disagreement,
    Held,
    Maintained,
    Refusal,
    Retention,
    by_day,
)

__all__ = [
    "DAY",
    "HOUR",
    "MINUTE",
    "Appended",
    "Archive",
    "Bucket",
    "Disagreement",
    "Held",
    "Maintained",
    "Refusal",
    "Retention",
    "by_day",
]
