"""The parts of a pSConfig template as types: what perfSONAR's JSON schema for templates says, in pydantic.

Sections and properties have the schema's names with hyphens; unknown properties are refused. The schema
leaves the names of entries open and does not check addresses: that is done where a task uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

_DURATION = r"P(\d+(\.\d+)?W)?(\d+(\.\d+)?D)?(T(\d+(\.\d+)?H)?(\d+(\.\d+)?M)?(\d+(\.\d+)?S)?)?"
_MOMENT = rf"({_DURATION}|@(R\d*/)?P[0-9.YMWDTHS]*|[+-]?\d{{4}}[-+:.,TWZtz 0-9]*)"

Name = str
Duration = Annotated[str, StringConstraints(pattern=rf"^{_DURATION}$")]
Moment = Annotated[str, StringConstraints(pattern=rf"^{_MOMENT}$")]


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), strict=True
    )


class Variant(_Part):
    """What a label, or a remote address, replaces an address by."""

    address: str
    agent_bind_address: str | None = None
    lead_bind_address: str | None = None
    pscheduler_address: str | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class Remote(_Part):
    """What an address is towards one other address."""

    address: str | None = None
    labels: Mapping[Name, Variant] = Field(default_factory=dict)
    agent_bind_address: str | None = None
    lead_bind_address: str | None = None
    pscheduler_address: str | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class Address(_Part):
    """An address of a measurement point."""

    address: str
    host: Name | None = None
    labels: Mapping[Name, Variant] = Field(default_factory=dict)
    remote_addresses: Mapping[Name, Remote] = Field(default_factory=dict)
    agent_bind_address: str | None = None
    lead_bind_address: str | None = None
    pscheduler_address: str | None = None
    contexts: tuple[Name, ...] = Field(default=(), strict=False)
    tags: tuple[str, ...] = Field(default=(), strict=False)
    disabled: bool = False
    no_agent: bool = False


class HostPart(_Part):
    """What the addresses of one machine have in common."""

    site: str | None = None
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


class Script(_Part):
    """A jq script. ADON runs none."""

    script: str | list[str]
    output_raw: bool | None = None
    args: Any = None


FilterType = Literal["address-class", "and", "host", "ip-version", "jq", "netmask", "not", "or", "tag"]
_NEEDED_BY_FILTER = {
    "address-class": "class_", "and": "filters", "ip-version": "ip_version", "jq": "jq",
    "netmask": "netmask", "not": "filter", "or": "filters", "tag": "tag",
}  # fmt: skip


class Filter(_Part):
    """A condition that addresses of a class meet; each type uses one or more of the other properties."""

    type: FilterType
    class_: Name | None = Field(default=None, alias="class")
    filter: Filter | None = None
    filters: tuple[Filter, ...] | None = Field(default=None, strict=False)
    ip_version: Literal[4, 6] | None = None
    jq: Script | None = None
    netmask: str | None = None
    no_agent: bool = False
    site: str | None = None
    tag: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Filter:
        needed = _NEEDED_BY_FILTER.get(self.type)
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f"needs {needed.strip('_').replace('_', '-')}")
        return self


class DataSource(_Part):
    """The addresses that a class selects from."""

    type: Literal["current-config", "requesting-agent"]


class AddressClass(_Part):
    """Addresses that are selected by filters."""

    data_source: DataSource
    match_filter: Filter | None = None
    exclude_filter: Filter | None = None
    archives: tuple[Name, ...] = Field(default=(), strict=False)


Scope = Literal["host", "address", "disabled"]


class MeshGroup(_Part):
    """Every ordered pair of its addresses."""

    type: Literal["mesh"]
    addresses: tuple[Selector, ...] = Field(strict=False)
    default_address_label: str | None = None
    flip: bool = False
    excludes_self: Scope = "host"
    excludes: tuple[Exclude, ...] = Field(default=(), strict=False)


class DisjointGroup(_Part):
    """Every pair between two sets, in both directions unless unidirectional."""

    type: Literal["disjoint"]
    a_addresses: tuple[Selector, ...] = Field(strict=False)
    b_addresses: tuple[Selector, ...] = Field(strict=False)
    unidirectional: bool = False
    default_address_label: str | None = None
    flip: bool = False
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
    spec: Any


class SchedulePart(_Part):
    """When; as pScheduler's schedule."""

    start: Moment | None = None
    slip: Duration | None = None
    sliprand: bool | None = None
    repeat: Duration | None = None
    until: Moment | None = None
    max_runs: int | None = Field(default=None, ge=1)


class Archive(_Part):
    """Where results go; as pScheduler's archive."""

    archiver: str
    data: Any
    transform: Script | None = None
    ttl: Duration | None = None
    label: str | None = None
    runs: str | None = None
    schema_: int | None = Field(default=None, alias="schema", ge=1)
    uri_host: str | None = None


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


class Subtask(_Part):
    """A test that runs relative to a task. ADON runs none."""

    test: Name
    schedule_offset: Any = None
    disabled: bool = False
    archives: tuple[Name, ...] = Field(default=(), strict=False)
    tools: tuple[str, ...] = Field(default=(), strict=False)
    reference: Any = None


class Template(_Part):
    """A whole template.

    :ivar unread: by section and name, what is wrong with entries that the schema does not check; the alias
        cannot be in a document, whose comments are dropped.
    """

    addresses: Mapping[Name, Address]
    groups: Mapping[Name, Group]
    tests: Mapping[Name, Test]
    tasks: Mapping[Name, Task]
    archives: Mapping[Name, Archive] = Field(default_factory=dict)
    schedules: Mapping[Name, SchedulePart] = Field(default_factory=dict)
    contexts: Mapping[Name, Context] = Field(default_factory=dict)
    hosts: Mapping[Name, HostPart] = Field(default_factory=dict)
    address_classes: Mapping[Name, AddressClass] = Field(default_factory=dict)
    subtasks: Mapping[Name, Subtask] = Field(default_factory=dict)
    includes: tuple[str, ...] = Field(default=(), strict=False)
    unread: Mapping[str, Mapping[str, str]] = Field(default_factory=dict, alias="#unread")
