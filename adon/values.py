"""What the values of ADON have in common: models that cannot change, names, modes, roles."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
"""Lower-case letters, digits, ``.``, ``_`` and ``-``: safe in a URL and in a file name."""

Mode = Literal["dry-run", "active"]
"""Dry run: decide, record and show, but change no switch."""


class Role(StrEnum):
    """The roles of [ADON] 3.1 (researcher, performance engineer) and of running a network."""

    ADMIN = "admin"
    PERFORMANCE_ENGINEER = "performance_engineer"
    RESEARCHER = "researcher"
    OPERATOR = "operator"
    AUDITOR = "auditor"


class Value(BaseModel):
    """Base of models that are values: immutable; an unknown key is an error, not a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=4000)
