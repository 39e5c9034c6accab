from __future__ import annotations

from pathlib import Path

import pytest

from adon.config import load
from adon.flowvisor.wiring import NamedPort, Wiring

MU, OSU, TRANSIT = 0xA01, 0xA02, 0xB01
NETWORK = load(Path(__file__).parents[1] / "data" / "network.yaml")


def wiring(*links: tuple[NamedPort, NamedPort]) -> Wiring:
    return Wiring.of(NETWORK, links)


L2, R2 = (MU, "mu-edge-al2s"), (OSU, "osu-edge-al2s")


@pytest.mark.parametrize(
    ("one", "other", "wrong"),
    [
        (L2, R2, ""),
        (L2, (OSU, "osu-edge-rtr"), "is the end of a path whose other end is port"),
        (L2, (OSU, "spare"), "is the end of a path whose other end is port 'osu-edge-al2s'"),
        (L2, (TRANSIT, "anything"), ""),
        ((MU, "spare"), (OSU, "spare"), ""),
        ((MU, "mu-edge-dtn"), (OSU, "spare"), "is the port of host mu-dtn"),
    ],
)
def test_what_paths_and_hosts_say_of_a_link(one: NamedPort, other: NamedPort, wrong: str) -> None:
    for ends in ((one, other), (other, one)):
        found = wiring().contradiction(*ends)
        assert wrong in found
        assert bool(found) == bool(wrong)


def test_a_configured_link_counts_before_anything_else() -> None:
    far = (TRANSIT, "p1")
    found = wiring((L2, far))
    assert found.contradiction(L2, far) == ""
    assert "is configured to lead to port 'p1' of 0000000000000b01" in found.contradiction(L2, R2)
    assert "is configured to lead to" in found.contradiction((OSU, "spare"), far)


def test_hosts_hear_no_hellos_unless_a_link_is_configured_there() -> None:
    port = (MU, "mu-edge-dtn")
    assert wiring().silent(port)
    assert not wiring((port, (TRANSIT, "p1"))).silent(port)
    assert not wiring().silent(L2)
