"""The parts of a pSConfig template as types: what perfSONAR's JSON schema for templates says, in pydantic.

Sections and properties have the schema's names with hyphens; nothing unknown is let in.  What a
section means is said in perfSONAR's documentation of pSConfig templates.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from measurement.pscheduler.iso8601 import parse_duration, parse_timestamp

_HOST_NAME = re.compile(
    r"(?=.{1,253}\.?$)([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?"
)
_HOST_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+(%\w+)?\]|[^\[\]:]+)(:(?P<port>[0-9]{1,5}))?")

Name = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9:._\-]+$", max_length=200)]


def _host(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if _HOST_NAME.fullmatch(text) is None:
            raise ValueError("is neither a host name nor an address") from None
    return text


def _host_port(text: str) -> str:
    found = _HOST_PORT.fullmatch(text)
    if found is None or (found["port"] is not None and not 0 < int(found["port"]) < 65536):
        raise ValueError("is no host, or host:port with IPv6 addresses in brackets")
    _host(found["host"].strip("[]"))
    return text


def _duration(text: str) -> str:
    parse_duration(text)
    return text


def _positive_duration(text: str) -> str:
    if not parse_duration(text) > 0:
        raise ValueError("a repeat interval of zero stops the scheduler of a pScheduler server")
    return text


def _moment(text: str) -> str:
    for read in (parse_timestamp, parse_duration, lambda t: parse_duration(t.removeprefix("@"))):
        try:
            read(text)
        except ValueError:
            continue
        return text
    raise ValueError("is neither a time with offset, nor a duration, nor @ and a duration")


Host = Annotated[str, AfterValidator(_host)]
HostPort = Annotated[str, AfterValidator(_host_port)]
Duration = Annotated[str, AfterValidator(_duration)]
Moment = Annotated[str, AfterValidator(_moment)]


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), strict=True
    )


class Variant(_Part):
    """What a label, or a remote address, replaces an address by."""

    address: Host
    lead_bind_address: Host | None = None
    pscheduler_address: HostPort | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class Remote(_Part):
    """What an address is towards one other address."""

    address: Host | None = None
    labels: Mapping[Name, Variant] = Field(default_factory=dict)
    lead_bind_address: Host | None = None
    pscheduler_address: HostPort | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class Address(_Part):
    """An address of a measurement point."""

    address: Host
    host: Name | None = None
    labels: Mapping[Name, Variant] = Field(default_factory=dict)
    remote_addresses: Mapping[Name, Remote] = Field(default_factory=dict)
    lead_bind_address: Host | None = None
    pscheduler_address: HostPort | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    tags: tuple[str, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class HostPart(_Part):
    """What the addresses of one machine have in common."""

    archives: tuple[Name, ...] = Field(default=(), strict=False)
    tags: tuple[str, ...] = Field(default=(), strict=False)
    no_agent: bool = False
    disabled: bool = False


class Selector(_Part):
    """One address of a group, by name, perhaps by one of its labels; or a class of addresses."""

    name: Name | None = None
    label: Name | None = None
    class_: Name | None = Field(default=None, alias="class")
    disabled: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> Selector:
        if (self.name is None) == (self.class_ is None):
            raise ValueError("needs either a name or a class")
        if self.class_ is not None and self.label is not None:
            raise ValueError("a class has no label")
        return self


class Exclude(_Part):
    """Pairs that are left out: from one address to some."""

    local_address: Selector
    target_addresses: tuple[Selector, ...] = Field(strict=False)


Scope = Literal["host", "address", "disabled"]


class MeshGroup(_Part):
    """Every ordered pair of its addresses."""

    type: Literal["mesh"]
    addresses: tuple[Selector, ...] = Field(strict=False)
    default_address_label: str | None = None
    excludes_self: Scope = "host"
    excludes: tuple[Exclude, ...] = Field(default=(), strict=False)


class DisjointGroup(_Part):
    """Every pair between two sets, in both directions unless unidirectional."""

    type: Literal["disjoint"]
    a_addresses: tuple[Selector, ...] = Field(strict=False)
    b_addresses: tuple[Selector, ...] = Field(strict=False)
    unidirectional: bool = False
    default_address_label: str | None = None
    excludes_self: Scope = "host"
    excludes: tuple[Exclude, ...] = Field(default=(), strict=False)


class ListGroup(_Part):
    """Its addresses, one by one."""

    type: Literal["list"]
    addresses: tuple[Selector, ...] = Field(strict=False)
    default_address_label: str | None = None


Group = Annotated[MeshGroup | DisjointGroup | ListGroup, Field(discriminator="type")]


class Test(_Part):
    """What is measured; its specification may hold template variables."""

    __test__ = False
    type: str
    spec: dict[str, Any]


class SchedulePart(_Part):
    """When; as pScheduler's schedule."""

    start: Moment | None = None
    slip: Duration | None = None
    sliprand: bool | None = None
    repeat: Annotated[str, AfterValidator(_positive_duration)] | None = None
    until: Moment | None = None
    max_runs: int | None = Field(default=None, ge=1)


class Transform(_Part):
    """What an archiver makes of a result before it sends it."""

    script: str | list[str]
    output_raw: bool | None = None
    args: Any = None


class Archive(_Part):
    """Where results go; as pScheduler's archive."""

    archiver: str
    data: Any
    transform: Transform | None = None
    ttl: Duration | None = None
    label: str | None = None
    runs: Literal["all", "succeeded", "failed"] | None = None
    schema_: int | None = Field(default=None, alias="schema", ge=1)
    uri_host: HostPort | None = None


class Context(_Part):
    """What a test runs in (a network namespace)."""

    context: str
    data: Any


class Task(_Part):
    """A test over a group, at a schedule."""

    group: Name
    test: Name
    schedule: Name | None = None
    archives: tuple[Name, ...] = Field(default=(), strict=False)
    tools: tuple[str, ...] = Field(default=(), strict=False)
    subtasks: tuple[Name, ...] = Field(default=(), strict=False)
    scheduled_by: int = Field(default=0, ge=0)
    priority: int | None = None
    reference: Any = None
    disabled: bool = False


class Template(_Part):
    """A whole template."""

    addresses: Mapping[Name, Address]
    groups: Mapping[Name, Group]
    tests: Mapping[Name, Test]
    tasks: Mapping[Name, Task]
    archives: Mapping[Name, Archive] = Field(default_factory=dict)
    schedules: Mapping[Name, SchedulePart] = Field(default_factory=dict)
    contexts: Mapping[Name, Context] = Field(default_factory=dict)
    hosts: Mapping[Name, HostPart] = Field(default_factory=dict)
    address_classes: Mapping[Name, Any] = Field(default_factory=dict)
    subtasks: Mapping[Name, Any] = Field(default_factory=dict)
    includes: tuple[str, ...] = Field(default=(), strict=False)
