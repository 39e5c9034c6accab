"""Typed reading of JSON that somebody else's program wrote.

A :class:`Document` remembers the host it came from and where in the answer it is, so that whatever is
wrong is reported as :class:`~measurement.errors.BadAnswer` with host, field and cause.  Unknown fields
are ignored; a field that is null counts as missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from measurement.errors import BadAnswer
from measurement.pscheduler import iso8601


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object in an answer.

    :param host: who answered.
    :param where: its place in the answer (``result-merged.summary``), for messages.
    :param fields: the object itself.
    """

    host: str
    where: str
    fields: Mapping[str, object]

    @classmethod
    def of(cls, host: str, where: str, value: object) -> Document:
        """``value``, which must be a JSON object.

        :raises BadAnswer: when it is anything else.
        """
        if not isinstance(value, Mapping):
            raise BadAnswer(host, f"{where}: expected an object, not {_kind(value)}")
        return cls(host, where, value)

    def refuse(self, field: str, cause: str) -> NoReturn:
        """Report a field of this object as wrong."""
        raise BadAnswer(self.host, f"{self._name(field)}: {cause}")

    def has(self, field: str) -> bool:
        """True when the field is there and not null."""
        return self.fields.get(field) is not None

    def child(self, field: str) -> Document:
        """An object inside this one."""
        return Document.of(self.host, self._name(field), self._require(field))

    def children(self, field: str) -> Iterator[Document]:
        """The objects of a list inside this one."""
        values = self._require(field)
        if not isinstance(values, list):
            self.refuse(field, f"expected a list, not {_kind(values)}")
        for number, value in enumerate(values):
            yield Document.of(self.host, f"{self._name(field)}[{number}]", value)

    def text(self, field: str) -> str:
        """A string."""
        value = self._require(field)
        if not isinstance(value, str):
            self.refuse(field, f"expected text, not {_kind(value)}")
        return value

    def number(self, field: str) -> float:
        """A finite number; a boolean is none."""
        value = self._require(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(field, f"expected a number, not {_kind(value)}")
        try:
            found = float(value)
        except OverflowError:
            self.refuse(field, "is too large")
        if not math.isfinite(found):
            self.refuse(field, f"is {found}")
        return found

    def amount(self, field: str) -> float:
        """A finite number that is not negative."""
        found = self.number(field)
        if found < 0:
            self.refuse(field, f"is negative ({found:g})")
        return found

    def count(self, field: str) -> int:
        """A whole number from 0 to 2**64."""
        value = self._require(field)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 2**64:
            self.refuse(field, "is not a count")
        return value

    def duration(self, field: str) -> float:
        """Seconds, from an ISO 8601 duration."""
        text = self.text(field)
        try:
            return iso8601.parse_duration(text)
        except ValueError as error:
            self.refuse(field, str(error))

    def seconds(self, field: str) -> float:
        """Seconds, from an ISO 8601 duration or, as archives rewrite them, a number."""
        return self.duration(field) if isinstance(self.fields.get(field), str) else self.amount(field)

    def time(self, field: str) -> float:
        """Seconds since the epoch, from an ISO 8601 timestamp."""
        text = self.text(field)
        try:
            return iso8601.parse_timestamp(text)
        except ValueError as error:
            self.refuse(field, str(error))

    def _require(self, field: str) -> object:
        value = self.fields.get(field)
        if value is None:
            self.refuse(field, "is missing")
        return value

    def _name(self, field: str) -> str:
        return f"{self.where}.{field}" if self.where else field


def _kind(value: object) -> str:
    names = {list: "a list", dict: "an object", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
