"""A mapping that cannot change, for the fields of frozen models.

Pydantic's ``frozen`` forbids assigning a field, not changing a ``dict`` inside it.  A saved template
must never change, so its mappings are of this type.  It is a ``dict`` (JSON, YAML, ``dataclasses.asdict``
and pydantic's serialiser know it) with every way of changing it closed, and it has a hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(dict[K, V]):
    """An immutable, hashable ``dict``; its values must be hashable for its hash to exist."""

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
        # The inherited way fills an empty mapping item by item, which is what we refuse.
        return FrozenMap, (dict(self),)


Frozen = Annotated[Mapping[K, V], AfterValidator(FrozenMap)]
"""``Frozen[K, V]``: a pydantic field read as a mapping and held as a :class:`FrozenMap`."""
