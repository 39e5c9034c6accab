"""Common parts of ADON's values: immutable models, names, modes, roles."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
"""Lower-case letters, digits, ``.``, ``_`` and ``-``: safe in a URL and in a file name."""

Mode = Literal["dry-run", "active"]
"""Dry run: decide, record and show, but change no switch."""


class Role(StrEnum):
    """Roles of [ADON] 3.1 (researcher, performance engineer) and of network operation."""

    ADMIN = "admin"
    PERFORMANCE_ENGINEER = "performance_engineer"
    RESEARCHER = "researcher"
    OPERATOR = "operator"
    AUDITOR = "auditor"


class Value(BaseModel):
    """Base of immutable models; an unknown key is an error, not a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=4000)


K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(dict[K, V]):
    """Immutable ``dict`` for the fields of frozen models; it has a hash if its values have one.

    Pydantic's ``frozen`` forbids assigning a field, not changing a ``dict`` in it. JSON, YAML,
    ``dataclasses.asdict`` and pydantic's serialiser accept this type, because it is a ``dict``.
    """

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError("this mapping cannot be changed")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenMap[K, V]], tuple[dict[K, V]]]:
        # The inherited method fills an empty mapping item by item, which this class refuses.
        return FrozenMap, (dict(self),)


Frozen = Annotated[Mapping[K, V], AfterValidator(FrozenMap)]
"""``Frozen[K, V]``: pydantic field that is read as a mapping and has a :class:`FrozenMap`."""
