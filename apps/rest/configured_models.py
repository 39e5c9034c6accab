"""What the API answers about what is configured: the policy, and the slices with what they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import Field

from adon.config import Configuration
from adon.config.slices import Slice
from apps.rest.models import ListView, View
from apps.rest.times import Time


class PolicyItem(View):
    """One setting of ``policy``, as it is in force."""

    name: str
    value: Any = Field(description="as it would be written in the configuration")
    configured: bool = Field(description="false: it is the default")
    meaning: str


class PolicyList(ListView):
    """The policy in force, by the order of its description; it is changed in the configuration file only."""

    network: str
    items: list[PolicyItem]


def policy_items(configuration: Configuration) -> list[PolicyItem]:
    """Every setting of the policy."""
    policy = configuration.policy
    values = policy.model_dump(mode="json", by_alias=True)
    return [
        PolicyItem(
            name=name,
            value=values[name],
            configured=name in policy.model_fields_set,
            meaning=field.description or "",
        )
        for name, field in type(policy).model_fields.items()
    ]


class SliceRules(View):
    """Rules of a slice in one switch."""

    dpid: str
    rules: int
    budget: int | None = Field(description="null: no limit")


class SlicePath(View):
    """What a slice may use, and uses, of one direction of a path."""

    path: str
    source: str
    destination: str
    share: float = Field(description="of the path's capacity")
    allowed_bps: float
    reserved_bps: float = Field(description="by the throughput bounds of its running flows")


class SliceView(View):
    """A tenant: what is its, and what it uses now."""

    name: str
    number: int
    shared: bool
    priorities: tuple[int, int]
    dscp: list[int] | None = Field(description="what its flows may be marked with; null: anything")
    mark: int | None
    flowspace: list[dict[str, Any]]
    members: dict[str, Any] | None = Field(description="null for whoever does not run the network")
    rules: list[SliceRules]
    paths: list[SlicePath]

    @classmethod
    def of(cls, name: str, tenant: Slice, used: Mapping[str, Any], paths: list[Any], *, staff: bool) -> Self:
        """A slice with what it uses, by the controller's read-out.

        :param paths: the directed paths of the read-out.
        :param staff: whether who asks may know who its members are.
        """
        written = tenant.model_dump(mode="json")
        return cls(
            name=name,
            number=tenant.number,
            shared=tenant.shared,
            priorities=tenant.priorities,
            dscp=None if tenant.dscp is None else list(tenant.dscp),
            mark=tenant.mark,
            flowspace=written["flowspace"],
            members=written["members"] if staff else None,
            rules=[
                SliceRules(dpid=dpid, rules=count, budget=tenant.rule_budget)
                for dpid, count in sorted(used["rules"].items())
            ],
            paths=list(_paths(tenant, used, paths)),
        )


def _paths(tenant: Slice, used: Mapping[str, Any], paths: list[Any]) -> Iterator[SlicePath]:
    reserved = {(one["path"], one["source"], one["destination"]): one["reserved"] for one in used["paths"]}
    for path in paths:
        key = (path["path"], path["source"], path["destination"])
        share = tenant.share_of(path["path"])
        if share or key in reserved:
            yield SlicePath(
                path=key[0],
                source=key[1],
                destination=key[2],
                share=share,
                allowed_bps=share * path["capacity"],
                reserved_bps=reserved.get(key, 0.0),
            )


class SliceList(ListView):
    """Slices by name; none where the network is not divided."""

    at: Time
    items: list[SliceView]
