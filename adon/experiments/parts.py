"""What all parts of an experiment file have in common: words, names, moments.

A **moment** is when something begins that was not given a time of its own: ``[soykb, begins]``, or with a
wait after it ``[soykb, begins, 5 s]``.  What a moment is of is a flow or an event, by its name.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, model_validator

from adon.units import Duration
from adon.values import FrozenMap

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
"""Lower-case letters, digits, ``_`` and ``-``: a file's name and, before a dot, a part of a sweep."""

NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""A site, a host, a path or a link of the network."""

Scalar = bool | int | float | str | None
"""A single value of the file, as YAML gives it."""


def _some(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("is empty")
    return values


NotEmpty = AfterValidator(_some)
"""Of a sequence.  Not ``min_length``: that counts what is wrong in it as not there, and complains as well."""


class Part(BaseModel):
    """Base of every part: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=4000)


class What(StrEnum):
    """What of a flow or an event a moment is."""

    ASKED = "asked"
    """A flow is asked for; for an event the same as its beginning."""
    ADMITTED = "admitted"
    """A flow has been given a path for the first time."""
    BEGINS = "begins"
    """A flow's first bytes are sent; an event has been carried out."""
    TESTED = "tested"
    """Every path between a flow's ends has had a throughput test that began after the flow did; of a load,
    every path of the network."""
    RETESTED = "retested"
    """The same of a test that began after the flow, or the load, had ended."""
    MOVED = "moved"
    """A flow has been given another path than its first, for the first time."""
    ENDS = "ends"
    """A flow's last byte has arrived, or it was refused; an event that lasts is over."""


class Moment(Part):
    """When something happens to a flow or an event, and perhaps a while after.

    :param of: the name of a flow or an event.
    :param wait: seconds after it.
    """

    of: Name
    what: What
    wait: Duration = 0.0

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if not 2 <= len(value) <= 3:
            raise ValueError(
                "write [NAME, begins] or [NAME, begins, 5 s]; the word is one of " + ", ".join(What)
            )
        return dict(zip(("of", "what", "wait"), value, strict=False))

    def __str__(self) -> str:
        waited = f" + {self.wait:g} s" if self.wait else ""
        return f"{self.of} {self.what.value}{waited}"


def _frozen(value: dict[str, Any]) -> FrozenMap[str, Any]:
    return FrozenMap({name: _hashable(one) for name, one in value.items()})


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return _frozen(value)
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


Settings = Annotated[dict[str, Any], AfterValidator(_frozen)]
"""A section of ADON's own configuration, as it is: immutable, not checked here."""
