"""Documents of paths, links, circuits, policy and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adon.api.base import UNITS
from adon.api.network import (
    CircuitView,
    LinkView,
    NetworkView,
    PathView,
    PolicyItem,
    SlicePath,
    SliceRules,
    SliceView,
)
from adon.config import Configuration
from adon.config.slices import Slice

LIVE = "live"


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


def to_slice_view(
    name: str, tenant: Slice, used: Mapping[str, Any], paths: list[Any], *, staff: bool
) -> SliceView:
    """A slice with what it uses, by the controller's read-out.

    :param paths: the directed paths of the read-out.
    :param staff: whether who asks may know who its members are.
    """
    written = tenant.model_dump(mode="json")
    return SliceView(
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


def to_network_view(snapshot: Mapping[str, Any]) -> NetworkView:
    """The controller's snapshot as it is answered."""
    paths: dict[str, list[Mapping[str, Any]]] = {}
    for path in snapshot["paths"]:
        paths.setdefault(path["path"], []).append(path)
    return NetworkView.of(
        snapshot,
        links=_links(snapshot["wires"], snapshot["links"]),
        circuits=[_circuit(one, paths.get(one["name"], ())) for one in snapshot["circuits"]],
    )


def _circuit(circuit: Mapping[str, Any], ways: Sequence[Mapping[str, Any]]) -> CircuitView:
    """A circuit with what is known of its two directions: the first that cannot be used says why."""
    broken = next((way for way in ways if not way["usable"]), None)
    return CircuitView(
        **circuit,
        layer=ways[0]["layer"] if ways else "",
        capacity_bps=ways[0]["capacity"] if ways else None,
        usable=bool(ways) and broken is None,
        reason="" if broken is None else broken["reason"],
        flows=list(dict.fromkeys(flow for way in ways for flow in way["flows"])),
    )


def _links(wires: Sequence[Mapping[str, Any]], seen: Sequence[Mapping[str, Any]]) -> list[LinkView]:
    """The configured links with what discovery says of each, then what only discovery knows."""
    found = {_ends(link): link for link in seen}
    configured = [_configured(wire, found.pop(_ends(wire), None)) for wire in wires]
    return [*configured, *(_discovered(link) for link in found.values())]


def _ends(link: Mapping[str, Any]) -> frozenset[tuple[Any, Any]]:
    # An end without a name is a switch or port that nobody configured: its numbers tell it apart.
    return frozenset(
        (end["switch"] or end.get("dpid"), end["port"] or end.get("number")) for end in link["ends"]
    )


def _configured(wire: Mapping[str, Any], seen: Mapping[str, Any] | None) -> LinkView:
    if seen is None:
        return LinkView.of(wire)
    told = _discovered(seen).model_copy(update={"name": wire["name"], "capacity_bps": wire["capacity"]})
    if told.state != LIVE:
        return told
    return told.model_copy(update={"state": wire["state"], "reason": wire["reason"]})


def _discovered(seen: Mapping[str, Any]) -> LinkView:
    own = ("system", "chassis", "port")
    neighbour = " ".join(str(seen[name]) for name in own if seen.get(name))
    return LinkView.of({"reason": "", **seen}, name=None, neighbour=neighbour or None)


def to_path_view(entry: Mapping[str, Any]) -> PathView:
    """A path of the controller's snapshot as it is answered."""
    metrics = {name: {**known, "unit": UNITS.get(name, "")} for name, known in entry["metrics"].items()}
    return PathView.of(entry, metrics=metrics)
