"""Rows of a run as Apache Parquet.  pyarrow takes half a second to be imported: it is when it is needed."""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from adon.errors import InvalidInput, Problem
from apps.experiments.atomic import replaced


def write(file: Path, kind: type[Any], rows: Sequence[tuple[Any, ...]]) -> None:
    """Write a table, whole or not at all; its columns are the fields of ``kind``.

    :param kind: a :class:`~typing.NamedTuple` of text, whole and floating-point numbers.
    """
    import pyarrow
    from pyarrow import parquet

    schema = _schema(kind)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pyarrow.array(one, type=its.type) for one, its in zip(columns, schema, strict=True)]
    with replaced(file) as partial:
        parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), partial, compression="zstd")


def read(file: Path, kind: type[Any]) -> list[Any]:
    """The rows of a table.

    :raises InvalidInput: if it is no Parquet file, or has other columns; it names the file.
    """
    import pyarrow
    from pyarrow import parquet

    schema = _schema(kind)
    try:
        table = parquet.ParquetFile(file).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise _wrong(file, f"is not readable as Parquet: {str(error).splitlines()[0][:200]}") from error
    missing = [name for name in schema.names if name not in table.schema.names]
    if missing:
        raise _wrong(file, f"has no column {', '.join(missing)}")
    try:
        typed = table.select(schema.names).cast(schema)
    except pyarrow.ArrowException as error:
        raise _wrong(file, str(error).splitlines()[0][:200]) from error
    return [kind(*row) for row in zip(*(column.to_pylist() for column in typed.columns), strict=True)]


def joined(files: Iterable[Path], kind: type[Any]) -> list[Any]:
    """The rows of several tables, one after the other."""
    return [row for file in files for row in read(file, kind)]


def _wrong(file: Path, cause: str) -> InvalidInput:
    return InvalidInput(Problem("", cause, str(file)))


def _schema(kind: type[Any]) -> Any:
    import pyarrow

    types_ = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    fields = []
    for name, annotation in get_type_hints(kind).items():
        given = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
        plain = next(one for one in given if one is not types.NoneType)
        fields.append(pyarrow.field(name, types_[plain], nullable=types.NoneType in given))
    return pyarrow.schema(fields)
