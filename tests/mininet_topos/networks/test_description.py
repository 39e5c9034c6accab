"""What is wrong with a description is told with field, line and cause; what is right gives what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.errors import InvalidInput
from mininet_topos.networks import described, found, named, names, read
from tests.mininet_topos.networks.descriptions import PAIR
from tests.support.refusals import refused


def changed(old: str, new: str) -> str:
    assert old in PAIR
    return PAIR.replace(old, new)


WRONG = [
    # The form.
    ("network: pair", "network: a pair", "malformed", "network"),
    ("title: Two campuses\n", "", "missing", "title"),
    ("switches: [tr1, tr2]", "switchs: [tr1, tr2]", "unknown-key", "switchs"),
    ("  one:\n", "  one: {netwrok: 10.9.0.0/24}\n", "unknown-key", "sites.one.netwrok"),
    ("rate: 100 Mbps", "rate: 100", "no-unit", "links.line.rate"),
    ("rate: 100 Mbps", "rate: 100 ms", "wrong-unit", "links.line.rate"),
    ("rate: 100 Mbps", "rate: 0 bps", "invalid", "links.line.rate"),
    ("rate: 100 Mbps", "rate: 100 Mbps, goodput: 90 Mbps", "invalid", "links.line.goodput"),
    ("rate: 100 Mbps, ", "", "invalid", "links.line.delay"),
    ("layer: 2,", "layer: 4,", "unknown-value", "paths.al2s.layer"),
    ("layer: 3,", "layer: 3, vlan: 7,", "invalid", "paths.internet.vlan"),
    ("layer: 2,", "layer: 2, vlan: 1,", "out-of-range", "paths.al2s.vlan"),
    ("title: Two campuses", 'title: "Two\\x07campuses"', "invalid", "title"),
    # Ranges of what is emulated.
    ("rate: 100 Mbps", "rate: 50 kbps", "invalid", "links.line.rate"),
    ("rate: 100 Mbps", "rate: 2 Gbps", "invalid", "links.line.rate"),
    ("goodput: 8 Mbps", "goodput: 1 Gbps", "invalid", "links.two-core.goodput"),
    ("delay: 5 ms", "delay: 2 s", "invalid", "links.line.delay"),
    ("delay: 5 ms", "mtu: 575", "invalid", "links.line.mtu"),
    ("rate: 100 Mbps, delay: 5 ms", "goodput: 10 Mbps, mtu: 52", "invalid", "links.line.mtu"),
    ("delay: 5 ms", "mtu: -18", "invalid", "links.line.mtu"),
    ("delay: 5 ms", "queue: 10001", "invalid", "links.line.queue"),
    ("delay: 5 ms", "loss: 100 %", "invalid", "links.line.loss"),
    ("delay: 5 ms", "loss: 101 %", "out-of-range", "links.line.loss"),
    ("delay: 5 ms", "queue: 0", "invalid", "links.line.queue"),
    ("delay: 5 ms", "mtu: 9000", "invalid", "links.line.mtu"),
    # Names.
    ("routers: [core]", "routers: [tr1]", "invalid", "routers"),
    ("routers: [core]", "routers: [core, lo]", "invalid", "routers"),
    ("routers: [core]", "routers: [core, all]", "invalid", "routers"),
    ("  one:\n", "  one: {edge: default}\n", "invalid", "sites.one.edge"),
    ("  one:\n", "  one: {switches: [ovs-system]}\n", "invalid", "sites.one.switches"),
    ("routers: [core]", "routers: [core, line]", "invalid", "links.line"),
    ("routers: [core]", "routers: [core, x]", "malformed", "routers.1"),
    ("  one:\n", "  one: {edge: an-edge-of-mine}\n", "malformed", "sites.one.edge"),
    ("  one:\n", "  one: {dtns: {two-dtn: }}\n", "invalid", "sites.two.dtns"),
    ("  one:\n", "  longname:\n", "invalid", "sites.longname.edge"),
    # Links.
    ("[tr1, tr2], rate", "[tr1, tr3], rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "[tr1, tr1], rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "[tr1, tr2, core], rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "[tr1], rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "tr1, rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "[tr1, core], rate", "invalid", "links.line.between"),
    ("[tr1, tr2], rate", "[one-dtn, tr2], rate", "invalid", "links.line.between"),
    ("[one-edge, tr1]", "{one-edge: far-away, tr1: one}", "invalid", "links.one-tr.between.one-edge"),
    # Campuses.
    ("  one:\n", "  one: {measuring: two-dtn}\n", "invalid", "sites.one.measuring"),
    ("  one:\n", "  one: {dtns: {o-dtn: {at: tr1}}}\n", "invalid", "sites.one.dtns.o-dtn.at"),
    ("  one:\n", "  one: {switches: [o-lab]}\n", "invalid", "sites.one.switches"),
    ("  one:\n", "  one: {network: 10.9.0.0/16}\n", "invalid", "sites.one.network"),
    ("  one:\n", "  one: {network: 127.0.0.0/24}\n", "invalid", "sites.one.network"),
    ("  one:\n", "  one: {network: 239.1.0.0/24}\n", "invalid", "sites.one.network"),
    ("  one:\n", "  one: {network: 10.2.0.0/24}\n", "invalid", "sites.two.network"),
    ("  one:\n", "  one: {network: 172.31.0.0/24}\n", "invalid", "sites.one.network"),
    # Paths.
    ("[one, tr1, tr2, two]", "[one, tr1, tr9, two]", "invalid", "paths.al2s.over"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2]", "invalid", "paths.al2s.over"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2, one]", "invalid", "paths.al2s.over"),
    ("[one, tr1, tr2, two]", "[one, tr2, two]", "invalid", "paths.al2s.over"),
    ("[one, tr1, tr2, two]", "[one, core, two]", "invalid", "paths.al2s.over"),
    ("[one, core, two]", "[one, tr1, two]", "invalid", "paths.internet.over"),
    ("[one, tr1, tr2, two]", "[one, tr1, two-core, tr2, two]", "invalid", "paths.al2s.over"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2, tr1, tr2, two]", "invalid", "paths.al2s.over"),
    ("rate: 100 Mbps, delay: 5 ms", "", "invalid", "paths.al2s.over"),
    ("  al2s: {layer: 2, over: [one, tr1, tr2, two]}\n", "", "invalid", "links.one-tr"),
]


@pytest.mark.parametrize(("old", "new", "code", "field"), WRONG)
def test_what_is_wrong_is_told_with_its_line(old, new, code, field) -> None:
    with refused(code, field) as refusal:
        described(changed(old, new), "pair.yaml")
    assert all(problem.line is not None for problem in refusal.error.problems)


OTHER = "paths:\n  other: {layer: 2, vlan: 1701, over: [one, tr1, tr2, two]}\n"


def test_two_paths_of_one_vlan_on_a_link_are_refused():
    text = changed("paths:\n", OTHER).replace("al2s: {layer: 2,", "al2s: {layer: 2, vlan: 1701,")
    with refused("invalid", "paths.al2s.vlan"):
        described(text, "pair.yaml")


def test_the_same_vlan_is_for_paths_that_share_neither_link_nor_edge():
    more = changed("  two:\n", "  two:\n  three:\n  four:\n").replace(
        "paths:\n",
        "  ends: {between: [three-edge, four-edge], rate: 1 Mbps}\npaths:\n"
        "  b: {layer: 2, vlan: 1701, over: [three, four]}\n",
    )
    network = described(more.replace("al2s: {layer: 2,", "al2s: {layer: 2, vlan: 1701,"))
    assert [path.vlan for path in network.paths] == [1701, 1701, None]


def test_everything_that_is_wrong_is_told_at_once():
    text = changed("rate: 100 Mbps", "rate: 2 Gbps").replace("loss: 1 %", "mtu: 100")
    with pytest.raises(InvalidInput) as caught:
        described(text, "pair.yaml")
    assert [problem.line for problem in caught.value.problems] == [10, 12]


def test_what_a_path_gives_follows_from_its_links():
    network = described(PAIR)
    overlay, routed = network.path("al2s"), network.path("internet")
    assert (overlay.capacity, overlay.delay, overlay.loss, overlay.mtu) == (100e6, 0.005, 0, 1500)
    assert overlay.goodput == pytest.approx(100e6 * 1448 / 1518)
    # 1400 bytes of IP packet carry 1348 of data in a frame of 1414.
    assert routed.goodput == 8e6
    assert routed.capacity == pytest.approx(8e6 * 1414 / 1348)
    assert (routed.delay, routed.mtu) == (0.001, 1400)
    longer = described(changed("rate: 10 Mbps, ", "rate: 10 Mbps, delay: 4 ms, ")).path("internet")
    assert longer.delay == pytest.approx(0.005)
    assert routed.loss == pytest.approx(1 - 0.99 * 0.98)


def test_a_scale_divides_rates_and_nothing_else():
    network = described(PAIR, scale=10)
    full = described(PAIR)
    assert network.scale == 10
    for small, large in zip(network.links, full.links, strict=True):
        if large.shape is not None and small.shape is not None:
            assert small.shape.rate == pytest.approx(large.shape.rate / 10)
            assert (small.shape.delay, small.shape.loss) == (large.shape.delay, large.shape.loss)
            assert (small.shape.queue, small.shape.mtu) == (large.shape.queue, large.shape.mtu)


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("", "missing", ""),
        ("[]", "wrong-type", ""),
        ("links: []", "missing", "title"),
        ("links: [1]", "wrong-type", "links"),
        ("links: {line: 5}", "wrong-type", "links.line"),
        ("links: line", "wrong-type", "links"),
        ("a: [", "not-yaml", ""),
        ("network: &x pair", "unsupported-yaml", "network"),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"line": {"loss": "1 %"}}], ids=["as it is", "changed"])
def test_what_is_no_description_is_refused(text, code, field, changes):
    with pytest.raises(InvalidInput):
        described(text, "x.yaml", changes=changes)
    if not changes:
        with refused(code, field):
            described(text, "x.yaml")


def test_networks_are_found_by_name_or_file(tmp_path: Path):
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR)
    assert found(str(file)) == read(file) == described(PAIR)
    assert found("mu_osu") == named("mu_osu")
    assert {"mu_osu", "two_campuses"} <= set(names())
    with refused("unknown-name", "network"):
        found("mu_oso")
    with refused("unreadable"):
        found(str(tmp_path / "nowhere.yaml"))
