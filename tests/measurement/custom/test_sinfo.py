"""What ``sinfo --json`` says, in both layouts (tests/data/slurm/README.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from measurement.custom.batch.sinfo import MIB, Node, read_nodes
from tests.measurement.custom.conftest import DATA
from tests.measurement.custom.slurm_site import make_node
from tests.support.refusals import refused


def group(*names: str, state: list[str], **more: Any) -> dict[str, Any]:
    """A group of nodes as 23.02 and later print it, without what is not read."""
    fields: dict[str, Any] = {
        "cpus": {"allocated": 4, "idle": 4, "other": 0, "total": 8},
        "memory": {"minimum": 1000, "maximum": 1000, "allocated": 250},
        "gres": {"total": "gpu:a100:4(S:0-1)", "used": "gpu:a100:1(IDX:0)"},
        "partition": {"name": "debug"},
    }
    return {"nodes": {"nodes": list(names)}, "node": {"state": state}, **fields, **more}


def read(*nodes: dict[str, Any], key: str = "nodes", partition: str | None = None) -> list[Node]:
    return read_nodes(json.dumps({"meta": {}, "errors": [], key: nodes}), partition)


def test_what_a_real_slurm_printed() -> None:
    (found,) = read_nodes((DATA / "slurm" / "sinfo-22.05.json").read_text())
    assert (found.names, found.works, found.gpus) == (("localhost",), True, None)
    assert found.cores == found.idle == 2
    assert found.memory == found.memory_free == 1000 * MIB


def test_both_layouts_say_the_same() -> None:
    old = make_node(
        "a", "mixed", 4, 4, alloc_memory=250, gres="gpu:a100:4(S:0-1)", gres_used="gpu:a100:1(IDX:0)"
    )
    expected = Node(("a",), True, 8, 4, 1000 * MIB, 750 * MIB, 4, 3)
    assert read(old) == [expected]
    assert read(group("a", state=["MIXED"]), key="sinfo") == [expected]


@pytest.mark.parametrize(
    ("state", "flags", "works"),
    [
        ("idle", [], True),
        ("allocated", [], True),
        ("mixed", ["COMPLETING"], True),
        ("idle", ["CLOUD", "POWERED_DOWN"], True),
        ("down", [], False),
        ("idle", ["DRAIN"], False),
        ("mixed", ["DRAIN"], False),
        ("idle", ["NOT_RESPONDING"], False),
        ("idle", ["MAINTENANCE", "MAINT"], False),
        ("unknown", [], False),
        ("future", [], False),
    ],
)
def test_who_takes_jobs(state: str, flags: list[str], works: bool) -> None:
    assert read(make_node(state=state, state_flags=flags))[0].works is works
    assert read(group("a", state=[state.upper(), *flags]), key="sinfo")[0].works is works


def test_a_node_of_several_partitions_counts_once_and_only_in_its_own() -> None:
    nodes = [make_node("a", partitions=["debug", "gpu"]), make_node("b", partitions=["gpu"])]
    assert [found.names for found in read(*nodes)] == [("a",), ("b",)]
    assert [found.names for found in read(*nodes, partition="debug")] == [("a",)]
    groups = [group("a", state=["IDLE"]), group("a", state=["IDLE"], partition={"name": "gpu"})]
    assert [found.names for found in read(*groups, key="sinfo")] == [("a",)]
    assert [found.names for found in read(*groups, key="sinfo", partition="gpu")] == [("a",)]


@pytest.mark.parametrize(
    ("gres", "used", "gpus", "free"),
    [
        ("", "gpu:0", None, None),
        ("nvme:2", "nvme:0", None, None),
        ("gpu:2", "gpu:0", 2, 2),
        ("gpu:a100:4(S:0-1),gpu:v100:2,nvme:1", "gpu:a100:3(IDX:0,1,3),gpu:v100:0", 6, 3),
        ("gpu:1", "gpu:9", 1, 0),
    ],
)
def test_gpus(gres: str, used: str, gpus: int | None, free: int | None) -> None:
    found = read(make_node(gres=gres, gres_used=used))[0]
    assert (found.gpus, found.gpus_free) == (gpus, free)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PARTITION AVAIL",
        "[" * 100_000,
        "[]",
        "{}",
        '{"nodes": 3}',
        '{"nodes": [{}]}',
        '{"nodes": null}',
        json.dumps({"nodes": [make_node(alloc_cpus="4")]}),
        json.dumps({"nodes": [make_node(idle_cpus=-1)]}),
        json.dumps({"nodes": [make_node(real_memory=True)]}),
        json.dumps({"nodes": [make_node(gres_used=None, partitions=None)], "sinfo": []}).replace(
            "real_memory", "x"
        ),
        json.dumps({"sinfo": [group("a", state=["IDLE"], cpus=[])]}),
        json.dumps({"sinfo": [{}]}),
    ],
)
def test_answers_that_cannot_be_read(text: str) -> None:
    with refused("malformed"):
        read_nodes(text)
