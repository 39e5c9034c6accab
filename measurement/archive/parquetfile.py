"""Rows as Apache Parquet, through pyarrow, which is imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measurement.archive.records import NUMBERS, Record
from measurement.errors import ExchangeError, shorten

Position = Callable[[int], None]
"""Told, now and then, how far the reading has come."""

ROWS = 5000
"""Rows held at once."""


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ExchangeError("Parquet needs pyarrow: pip install pyarrow") from None
    return pyarrow, parquet


def write(file: Path, batches: Iterable[Sequence[Record]]) -> None:
    """Write all rows, compressed."""
    pyarrow, parquet = _pyarrow()
    kinds = {name: pyarrow.float64() if name in NUMBERS else pyarrow.string() for name in Record._fields}
    schema = pyarrow.schema(list(kinds.items()))
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            columns = zip(zip(*batch, strict=True), kinds.values(), strict=True)
            arrays = [pyarrow.array(column, type=kind) for column, kind in columns]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))


def size(file: Path) -> int:
    """What the position counts up to: rows.

    :raises ExchangeError: if it is no Parquet file.
    """
    pyarrow, parquet = _pyarrow()
    try:
        return int(parquet.read_metadata(file).num_rows)
    except (pyarrow.ArrowException, OSError) as error:
        raise ExchangeError(f"{file}: {shorten(str(error))}") from None


def read(file: Path, position: Position) -> Iterator[tuple[int, Record | ValueError]]:
    """Each row with its number, the first is 1; or what is wrong with it.

    :raises ExchangeError: if it is no Parquet file, or has other columns, or breaks off.
    """
    pyarrow, parquet = _pyarrow()
    try:
        with parquet.ParquetFile(file) as source:
            missing = [name for name in Record._fields if name not in source.schema_arrow.names]
            if missing:
                raise ExchangeError(f"{file}: has no column {', '.join(missing)}")
            number = 0
            for batch in source.iter_batches(batch_size=ROWS, columns=list(Record._fields)):
                for row in batch.to_pylist():
                    number += 1
                    yield number, _checked(row)
                position(number)
    except (pyarrow.ArrowException, OSError) as error:
        raise ExchangeError(f"{file}: {shorten(str(error))}") from None


def _checked(row: Mapping[str, Any]) -> Record | ValueError:
    for name, value in row.items():
        if name in NUMBERS:
            fits, kind = value is None or type(value) in (float, int), "a number"
        else:
            fits, kind = isinstance(value, str), "text"
        if not fits:
            return ValueError(f"{name}: {str(value)[:60]!r} is not {kind}")
    return Record(**row)
