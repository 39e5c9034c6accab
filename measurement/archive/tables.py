"""The archive's tables, in SQLAlchemy's own words; no type here belongs to one database.

``sample`` has one row per value of a series, ``rollup`` what is kept of a series' minute or hour.  A
value's ``id`` grows in the order of commits (writers take turns, :mod:`measurement.archive.database`), so
that one number, the mark ``rolled``, tells which values the roll-ups already hold, however late a value
comes.  Times are seconds since the epoch.  JSON is text: it comes back exactly as it was written.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 3
"""The version of the data format; a change here needs another."""

metadata = MetaData()

_ROW_ID = BigInteger().with_variant(Integer(), "sqlite")

mark = Table(
    "mark",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
"""Numbers of the whole archive: ``version``, and ``rolled``, the last value that is in the roll-ups."""

series = Table(
    "series",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("raw_from", Double),
    Column("minutes_from", Double),
    UniqueConstraint("path", "source", "destination", "metric"),
)
"""``raw_from``, ``minutes_from``: where values, and roll-ups of minutes, older than this were dropped."""

sample = Table(
    "sample",
    metadata,
    Column("id", _ROW_ID, primary_key=True),
    Column("series_id", Integer, ForeignKey("series.id"), nullable=False),
    Column("observed_at", Double, nullable=False),
    Column("value", Double, nullable=False),
    Column("started_at", Double),
    Column("identity", LargeBinary(16), nullable=False),
    Column("source", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    UniqueConstraint("series_id", "identity"),
    Index("sample_of_series", "series_id", "observed_at"),
    Index("sample_by_time", "observed_at"),
    sqlite_autoincrement=True,  # an id is never used again, else the mark ``rolled`` would lie
)
"""``started_at`` is empty for observations."""

rollup = Table(
    "rollup",
    metadata,
    Column("series_id", Integer, ForeignKey("series.id"), nullable=False),
    Column("width", Integer, nullable=False),
    Column("start", Double, nullable=False),
    Column("count", Integer, nullable=False),
    Column("minimum", Double, nullable=False),
    Column("mean", Double, nullable=False),
    Column("maximum", Double, nullable=False),
    Column("sketch", LargeBinary),
    PrimaryKeyConstraint("series_id", "width", "start"),
    Index("rollup_by_time", "width", "start"),
    sqlite_with_rowid=False,
)

document = Table(
    "document",
    metadata,
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("series", Text),
    Column("open", Boolean, nullable=False),
    Column("document", Text, nullable=False),
    PrimaryKeyConstraint("kind", "id"),
    Index("document_by_time", "kind", "at"),
    Index("document_of_series", "kind", "series", "at"),
    Index("document_open", "kind", "open", "at"),
)

state = Table(
    "state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Double, nullable=False),
)
