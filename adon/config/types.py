"""Types of the values in all sections, and the sections' base class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Annotated, Self
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
        raise ValueError(f"{text!r} is not a MAC address")
    if int(text[:2], 16) & 1:
        raise ValueError(f"{text!r} is a group address, not the address of one host or router")
    return text.lower()


def _dpid(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{16}", value):
        raise ValueError(f"{value!r} is not a datapath id, which has 16 hexadecimal digits in quotes")
    return int(value, 16)


def check_url(text: str) -> str:
    """Return an HTTP URL that holds no secret.

    :raises ValueError: for another text.
    """
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("is not a URL with http or https and a host")
    if url.username is not None or url.password is not None:
        raise ValueError("holds a user name or a password, and is shown in logs")
    return text


def _verify(text: str) -> str:
    if not text.startswith(PINNED):
        return text
    digits = text.removeprefix(PINNED).replace(":", "").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        cause = f"{text[:80]!r} is not a fingerprint; expected {PINNED} and 64 hexadecimal digits"
        raise InvalidValue(f"{cause}, as adon config check prints it", "malformed")
    return f"{PINNED}{digits}"


PINNED = "sha256:"
"""Prefix of a ``verify`` that pins a certificate, before 64 lower-case digits without colons."""
Verify = Annotated[str, AfterValidator(_verify)]
Mac = Annotated[str, AfterValidator(_mac), Field(examples=["02:00:00:00:0a:01"])]
_AS_WRITTEN = WithJsonSchema(
    {"type": "string", "pattern": "^[0-9a-fA-F]{16}$", "examples": ["0000000000000a01"]}
)
Dpid = Annotated[int, BeforeValidator(_dpid), PlainSerializer(lambda dpid: f"{dpid:016x}"), _AS_WRITTEN]
Url = Annotated[
    str,
    AfterValidator(check_url),
    AfterValidator(lambda text: text.rstrip("/")),
    Field(examples=["https://ps.example.edu/pscheduler"]),
]
PortName = Annotated[str, Field(min_length=1, max_length=15, examples=["eth1"])]
"""Name of a port as OpenFlow switches report it: at most 15 bytes."""
File = Annotated[str, Field(examples=["/etc/adon/ca.pem"])]
Span = Annotated[Duration, Field(gt=0)]
PositiveRate = Annotated[Rate, Field(gt=0)]
Port = Annotated[int, Field(ge=1, le=65535)]
SHARE_ROUNDING = 1e-9
"""Permitted excess of a sum of shares above 1."""


def raise_all(wrong: Iterable[str | Problem]) -> None:
    """Raise all problems that a validator found.

    :param wrong: each as a line ``field: cause``, or with a code as a problem.
    """
    found = list(dict.fromkeys(wrong))
    if found:
        raise InvalidFields(found)


PerSecond = Annotated[float, Field(gt=0, le=1_000_000)]


_ONE_NAME = Field(pattern=r"^[^*\s]([^*\x00-\x1f]*[^*\s])?$", max_length=253, examples=["edge1.example.edu"])
CertificateName = Annotated[str, _ONE_NAME, AfterValidator(str.lower)]
"""Name in a certificate: case-insensitive as DNS names, exact otherwise, without ``*``."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a listening address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


Network = Annotated[IPv4Network | IPv6Network, Field(examples=["192.0.2.0/24"])]
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
        """Yield the problems between the section's keys, as ``field: cause`` or with a code."""
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


PersonName = Annotated[str, Field(min_length=1, max_length=200, examples=["ann"])]
GroupName = Annotated[str, Field(min_length=1, max_length=500, examples=["soykb"])]


class Party(Section):
    """Users who match all given keys.

    :param who: their names.
    :param roles: their roles.
    :param groups: groups that an identity provider asserts (AARC-G069 values).
    """

    who: Annotated[tuple[PersonName, ...], Field(min_length=1)] | None = None
    roles: Annotated[tuple[Role, ...], Field(min_length=1)] | None = None
    groups: Annotated[tuple[GroupName, ...], Field(min_length=1)] | None = None

    def includes(self, name: str, roles: Collection[str], groups: Collection[str]) -> bool:
        """Return whether a user with this name, roles and groups matches."""
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
