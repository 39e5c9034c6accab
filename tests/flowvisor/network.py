"""One small network for the tests of this package: two campuses, two layer-2 and two layer-3 paths."""

from __future__ import annotations

from adon.flowvisor.topology.path import Attachment, CandidatePath, Layer, PathEnd
from measurement.model import PathKey

MU, OSU = 0x0A, 0x0B

SOURCE = Attachment("mu-dtn", "mu", MU, 1, "10.1.0.10", "02:00:00:00:0a:10", "02:00:00:00:0a:01")
TARGET = Attachment("osu-dtn", "osu", OSU, 1, "10.2.0.10", "02:00:00:00:0b:10", "02:00:00:00:0b:01")


def layer2(name: str, index: int, vlan: int, port: int = 2) -> CandidatePath:
    ends = PathEnd(MU, port), PathEnd(OSU, port)
    return CandidatePath(PathKey(name, "mu", "osu"), Layer.L2, index, 58e6, *ends, vlan)


def layer3(name: str, index: int, port: int) -> CandidatePath:
    ends = PathEnd(MU, port, f"02:00:00:0a:00:{index:02x}"), PathEnd(OSU, port, f"02:00:00:0b:00:{index:02x}")
    return CandidatePath(PathKey(name, "mu", "osu"), Layer.L3, index, 6.5e6, *ends)


AL2S = layer2("al2s", 0, 100)
ROUTED = layer3("routed", 1, 3)
SECOND_VLAN = layer2("al2s-b", 2, 200)
SECOND_ROUTE = layer3("routed-b", 3, 4)
PATHS = (AL2S, ROUTED, SECOND_VLAN, SECOND_ROUTE)
