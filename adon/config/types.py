"""Types of the values in all sections, and the sections' base class."""

from __future__ import annotations

import inspect
import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from adon.errors import InvalidFields, Problem
from adon.units import Duration, Rate
from adon.values import Role
from measurement.errors import InvalidValue


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text.lower()):
        raise ValueError(f"{text!r} is not a MAC address such as 02:00:00:00:0a:01")
    if int(text[:2], 16) & 1:
        raise ValueError(f"{text!r} is a group address; a host or router has its own")
    return text.lower()


def _dpid(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{16}", value):
        raise ValueError(f"{value!r} is not a datapath id: write 16 hex digits, in quotes")
    return int(value, 16)


def _positive(value: float) -> float:
    if value <= 0:
        raise ValueError("must be above zero")
    return value


def _url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("is not a URL such as https://ps.example.edu/pscheduler")
    if url.username is not None or url.password is not None:
        raise ValueError("must not hold a user name or password: it is shown in logs")
    return text.rstrip("/")


def _verify(text: str) -> str:
    if not text.startswith(PINNED):
        return text
    digits = text.removeprefix(PINNED).replace(":", "").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        cause = f"{text[:80]!r} is no fingerprint; expected {PINNED} and 64 hexadecimal digits"
        raise InvalidValue(f"{cause}, as adon config check prints it", "malformed")
    return f"{PINNED}{digits}"


PINNED = "sha256:"
"""Start of a ``verify`` that pins a certificate; 64 digits in small letters, without colons, follow."""
Verify = Annotated[str, AfterValidator(_verify)]
Mac = Annotated[str, AfterValidator(_mac)]
_AS_WRITTEN = WithJsonSchema({"type": "string", "pattern": "^[0-9a-fA-F]{16}$"})
Dpid = Annotated[int, BeforeValidator(_dpid), PlainSerializer(lambda dpid: f"{dpid:016x}"), _AS_WRITTEN]
Url = Annotated[str, AfterValidator(_url)]
Span = Annotated[Duration, AfterValidator(_positive)]
PositiveRate = Annotated[Rate, AfterValidator(_positive)]
Port = Annotated[int, Field(ge=1, le=65535)]
Families = Annotated[tuple[Literal[4, 6], ...], Field(min_length=1)]
"""The IP versions that get through."""
SHARE_ROUNDING = 1e-9
"""Shares of a whole may add up to this much more than 1."""


def raise_all(wrong: Iterable[str | Problem]) -> None:
    """Raise all problems that a validator found.

    :param wrong: each as a line ``field: cause``, or with a code as a problem.
    """
    found = list(dict.fromkeys(wrong))
    if found:
        raise InvalidFields(found)


PerSecond = Annotated[float, Field(gt=0, le=1_000_000)]


def _certificate_name(text: str) -> str:
    # Compared without regard to case, as DNS names are; exact otherwise: no wildcards.
    if text != text.strip() or not text.isprintable():
        raise ValueError(f"{text!r} is not a name such as edge1.example.edu")
    if "*" in text:
        raise ValueError(f"{text!r} is a wildcard; a switch has a name of its own")
    return text.lower()


CertificateName = Annotated[str, Field(min_length=1, max_length=253), AfterValidator(_certificate_name)]


def is_loopback(host: str) -> bool:
    """Whether this address to listen on is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise ValueError(f"{text!r} is neither an address nor a network: {error}") from None


Network = Annotated[str, AfterValidator(_network)]
"""``192.0.2.7`` or ``2001:db8::/32``."""


class Section(BaseModel):
    """Base of all sections: immutable, unknown keys refused.

    The JSON schema takes the description of each key from the parameters in the docstrings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._problems())
        return self

    def _problems(self) -> Iterator[str | Problem]:
        """Yield what is wrong between the section's keys, as ``field: cause`` or with a code."""
        yield from ()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema with a description of each key."""
        found = handler(core)
        schema = handler.resolve_ref_schema(found)
        schema["description"], texts = _descriptions(cls)
        for name, key in schema["properties"].items():
            key |= {"description": texts[name]} if name in texts else {}
        return found


class Party(Section):
    """People, by all that is given.

    :param who: their names.
    :param roles: their roles.
    :param groups: groups that an identity provider says that they belong to (AARC-G069 values).
    """

    who: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = None
    roles: tuple[Role, ...] | None = None
    groups: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] | None = None

    def includes(self, name: str, roles: Collection[str], groups: Collection[str]) -> bool:
        """Return whether a person of this name, with these roles and groups, is one of them."""
        pairs = ((self.who, (name,)), (self.roles, roles), (self.groups, groups))
        return all(given is None or any(one in held for one in given) for given, held in pairs)


def _descriptions(section: type[Section]) -> tuple[str, dict[str, str]]:
    texts: dict[str, str] = {}
    summary = ""
    for base in reversed(section.__mro__[: section.__mro__.index(Section)]):
        summary, *parts = re.split(r"(?m)^:(?:param|ivar) ", inspect.cleandoc(base.__doc__ or ""))
        for names, _, text in (part.partition(":") for part in parts):
            texts |= {name.rstrip("_"): " ".join(text.split()) for name in names.split(", ")}
    return " ".join(summary.split()), texts
