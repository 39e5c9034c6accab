"""What ``sinfo --json`` says of a cluster's nodes: pure.

Slurm changed the layout: until 22.05 it is one object per node under ``nodes``, since 23.02 one per group of
nodes and partition under ``sinfo`` (with ``--Node`` a group is one node).  Both are read.  Memory is in MiB
there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.custom.errors import BatchFailed

MIB = 2**20
_AWAY = frozenset(
    (
        "DOWN",
        "DRAIN",
        "DRAINED",
        "DRAINING",
        "FAIL",
        "FAILING",
        "MAINT",
        "UNKNOWN",
        "FUTURE",
        "NOT_RESPONDING",
    )
)
_GPUS = re.compile(r"(?:^|,)gpu(?::[^,:()]+)?:(\d{1,9})")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One node, or one group of nodes.

    :param names: who they are.
    :param cores: with a job or without one, not those out of service; ``idle`` without one.
    :param memory, memory_free: bytes; free is what no job has been given.
    :param gpus, gpus_free: None where Slurm is not configured to count them.
    """

    names: tuple[str, ...]
    works: bool
    cores: int
    idle: int
    memory: int
    memory_free: int
    gpus: int | None
    gpus_free: int | None


def read_nodes(text: str, partition: str | None = None) -> list[Node]:
    """Each node once, however many partitions it is in.

    :param partition: only what belongs to it.
    :raises BatchFailed: for what is not the JSON of ``sinfo``.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise BatchFailed("sinfo did not print JSON", code="malformed") from None
    try:
        return _unique(_nodes(document, partition))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        raise BatchFailed("sinfo printed JSON that is not as it should be", code="malformed") from None


def _nodes(document: Json, partition: str | None) -> Iterable[Node]:
    if "nodes" in document:
        nodes = document["nodes"]
        return [_node(node) for node in nodes if partition is None or partition in node["partitions"]]
    groups = document["sinfo"]
    return [_group(group) for group in groups if partition is None or partition == group["partition"]["name"]]


def _unique(nodes: Iterable[Node]) -> list[Node]:
    return list({node.names: node for node in nodes}.values())


def _node(node: Json) -> Node:
    allocated, idle = _count(node["alloc_cpus"]), _count(node["idle_cpus"])
    memory, taken = _count(node["real_memory"]), _count(node["alloc_memory"])
    words = {str(node["state"]).upper(), *(str(flag).upper() for flag in node.get("state_flags", ()))}
    return Node(
        (str(node["name"]),),
        not words & _AWAY,
        allocated + idle,
        idle,
        memory * MIB,
        max(0, memory - taken) * MIB,
        *_gpus(str(node.get("gres", "")), str(node.get("gres_used", ""))),
    )


def _group(group: Json) -> Node:
    names = tuple(map(str, group["nodes"]["nodes"]))
    cpus, memory, gres = group["cpus"], group["memory"], group["gres"]
    allocated, idle = _count(cpus["allocated"]), _count(cpus["idle"])
    whole = _count(memory["maximum"]) * len(names)
    return Node(
        names,
        not {str(word).upper() for word in group["node"]["state"]} & _AWAY,
        allocated + idle,
        idle,
        whole * MIB,
        max(0, whole - _count(memory["allocated"])) * MIB,
        *_gpus(str(gres["total"]), str(gres["used"])),
    )


def _gpus(there: str, used: str) -> tuple[int | None, int | None]:
    found = [int(number) for number in _GPUS.findall(there)]
    if not found:
        return None, None
    taken = sum(int(number) for number in _GPUS.findall(used))
    return sum(found), max(0, sum(found) - taken)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(value)
    return value
