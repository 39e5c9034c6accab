from __future__ import annotations

import pytest

from adon.errors import InvalidInput, Unavailable
from mininet_topos import networks
from mininet_topos.standing import pings
from mininet_topos.standing.pings import Answer, Way, rule_of, ways

NETWORK = networks.named("mu_osu")
WAY = Way("al2s", "mu-dtn", "mu-edge", "10.1.0.11", "10.2.0.11")

OURS = (
    " cookie=0xad01000000000000, duration=2.7s, table=0, n_packets=110, n_bytes=8204, send_flow_rem "
    "priority=40000,ip,in_port=1,nw_src=10.1.0.11,nw_dst=10.2.0.11 actions=push_vlan:0x8100,output:3"
)
BACK = OURS.replace("nw_src=10.1.0.11,nw_dst=10.2.0.11", "nw_src=10.2.0.11,nw_dst=10.1.0.11")
LONGER = OURS.replace("10.2.0.11 ", "10.2.0.110 ")
CAMPUS = (
    " cookie=0x0, duration=27.2s, table=0, n_packets=57, nw_src=10.1.0.11,nw_dst=10.2.0.11 actions=NORMAL"
)


def test_a_way_over_each_path() -> None:
    assert [*ways(NETWORK)] == [WAY, Way("internet", "mu-dtn", "mu-edge", "10.1.0.12", "10.2.0.12")]
    assert [way.path for way in ways(NETWORK, ["internet"])] == ["internet"]
    with pytest.raises(InvalidInput, match="no path 'moon'"):
        list(ways(NETWORK, ["moon"]))


def test_every_network_that_is_built_in_has_ways() -> None:
    assert all([*ways(networks.named(name))] for name in networks.names())


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ([], None),
        ([CAMPUS], None),
        ([BACK, LONGER], None),
        (["OFPST_FLOW reply (OF1.3) (xid=0x2):", CAMPUS, BACK, OURS], OURS.strip()),
    ],
)
def test_the_rule_of_ours_that_a_way_takes(lines: list[str], rule: str | None) -> None:
    assert rule_of("\n".join(lines), WAY) == rule


def test_what_a_rule_has_counted() -> None:
    assert Answer(WAY, (0.001,), OURS, 5.0).packets == 110
    assert Answer(WAY, (0.001,), None, 5.0).packets is None
    assert Answer(WAY, (0.001,), OURS, 5.0).document()["rtt_s"] == [0.001]


@pytest.mark.parametrize(
    ("times", "rule", "said"),
    [
        ((0.003, 0.001, 0.002), OURS, "over al2s: 2.00 ms, by our rule in mu-edge (110 packets)"),
        ((0.001,), None, "over al2s: 1.00 ms, by no rule of ours"),
        ((), OURS, "over al2s: no answer"),
    ],
)
def test_an_answer_in_one_line(times: tuple[float, ...], rule: str | None, said: str) -> None:
    assert str(Answer(WAY, times, rule, 5.0)) == f"mu-dtn 10.1.0.11 > 10.2.0.11 {said}"


def test_a_host_that_runs_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def inside(self, argv: list[str], host: str) -> list[str]:
            return ["sleep", "600"]

    monkeypatch.setattr(pings, "PATIENCE", 0.0)
    with pytest.raises(Unavailable, match=r"mu-dtn: ping has not ended within 0\.2 s"):
        pings.ping(Silent(), WAY, 1)
