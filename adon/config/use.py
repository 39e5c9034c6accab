"""Who may use what of this network: templates, paths, sites, priorities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from adon.access.policy import Role
from adon.config.parts import Section, raise_all

_Who = Annotated[str, Field(min_length=1, max_length=200)]
_Group = Annotated[str, Field(min_length=1, max_length=500)]
_Pattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]+\*?$|^\*$", max_length=200)]
_Patterns = Annotated[tuple[_Pattern, ...], Field(min_length=1)]


class UseGrant(Section):
    """Somebody may use these things together; what is left out is not narrowed.

    A name that ends with ``*`` stands for every name that begins so.

    :param who: names of users.
    :param roles: their roles.
    :param groups: what an identity provider says that they belong to.
    :param templates: names of templates, whatever version.
    :param paths: names of paths.
    :param sites: both ends of a transfer must be among them.
    :param compute: names of compute sites.
    :param priority: the highest that a flow may have.
    """

    who: tuple[_Who, ...] | None = None
    roles: tuple[Role, ...] | None = None
    groups: tuple[_Group, ...] | None = None
    templates: _Patterns | None = None
    paths: _Patterns | None = None
    sites: _Patterns | None = None
    compute: _Patterns | None = None
    priority: int | None = Field(default=None, ge=0, le=999)

    @model_validator(mode="after")
    def _about_somebody(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        for field in ("who", "roles", "groups"):
            if getattr(self, field) == ():
                yield f"{field}: names nobody; leave it out for everybody"
