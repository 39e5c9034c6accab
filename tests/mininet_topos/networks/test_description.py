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
    ("network: pair", "network: a pair", "1: network: "),
    ("title: Two campuses\n", "", "1: title: is required"),
    ("switches: [tr1, tr2]", "switchs: [tr1, tr2]", "6: switchs: is not a known key here; did you mean"),
    ("  one:\n", "  one: {netwrok: 10.9.0.0/24}\n", "did you mean network"),
    ("rate: 100 Mbps", "rate: 100", "10: links.line.rate: '100' has no unit"),
    ("rate: 100 Mbps", "rate: 100 ms", "10: links.line.rate: 'ms' does not measure this"),
    ("rate: 100 Mbps", "rate: 0 bps", "10: links.line.rate: must be above zero"),
    ("rate: 100 Mbps", "rate: 100 Mbps, goodput: 90 Mbps", "10: links.line.goodput: a link has either"),
    ("rate: 100 Mbps, ", "", "10: links.line.delay: is emulated only where a link has a rate"),
    ("layer: 2,", "layer: 4,", "15: paths.al2s.layer"),
    ("layer: 3,", "layer: 3, vlan: 7,", "16: paths.internet.vlan: a layer-3 path has none"),
    ("layer: 2,", "layer: 2, vlan: 1,", "15: paths.al2s.vlan"),
    ("title: Two campuses", 'title: "Two\\x07campuses"', "2: title: is written on one line, without control"),
    # Ranges of what is emulated.
    ("rate: 100 Mbps", "rate: 50 kbps", "10: links.line.rate: 50 kbps is not in 100 kbps to 1 Gbps"),
    ("rate: 100 Mbps", "rate: 2 Gbps", "10: links.line.rate: 2 Gbps is not in"),
    ("goodput: 8 Mbps", "goodput: 1 Gbps", "13: links.two-core.goodput: on the wire, 1.049 Gbps is not in"),
    ("delay: 5 ms", "delay: 2 s", "10: links.line.delay: 2 s is not in 0..1"),
    ("delay: 5 ms", "mtu: 575", "10: links.line.mtu: 575 bytes is not in 576..1500"),
    (
        "rate: 100 Mbps, delay: 5 ms",
        "goodput: 10 Mbps, mtu: 52",
        "10: links.line.mtu: 52 bytes is not in 576",
    ),
    ("delay: 5 ms", "mtu: -18", "10: links.line.mtu: -18 bytes is not in 576..1500"),
    ("delay: 5 ms", "queue: 10001", "10: links.line.queue: 10001 frames is not in 1..10000"),
    ("delay: 5 ms", "loss: 100 %", "10: links.line.loss: 1 is not in 0..1"),
    ("delay: 5 ms", "loss: 101 %", "10: links.line.loss: '101 %' is more than 100 %"),
    ("delay: 5 ms", "queue: 0", "10: links.line.queue: 0 frames is not in 1..10000"),
    ("delay: 5 ms", "mtu: 9000", "10: links.line.mtu: 9000 bytes is not in 576..1500"),
    # Names.
    ("routers: [core]", "routers: [tr1]", "7: routers: 'tr1' is the name of a provider's switch already"),
    ("routers: [core]", "routers: [core, lo]", "7: routers: 'lo' is the name of the building itself already"),
    ("routers: [core]", "routers: [core, all]", "7: routers: 'all' is the name of the building itself"),
    ("  one:\n", "  one: {edge: default}\n", "4: sites.one.edge: 'default' is the name of the building"),
    ("  one:\n", "  one: {switches: [ovs-system]}\n", "sites.one.switches: 'ovs-system' is the name of the"),
    ("routers: [core]", "routers: [core, line]", "10: links.line: 'line' is the name of a router already"),
    ("routers: [core]", "routers: [core, x]", "7: routers.1: "),
    ("  one:\n", "  one: {edge: an-edge-of-mine}\n", "4: sites.one.edge: "),
    ("  one:\n", "  one: {dtns: {two-dtn: }}\n", "sites.two.dtns: 'two-dtn' is the name of a DTN already"),
    ("  one:\n", "  longname:\n", "sites.longname.edge: 'longname-edge' is longer than 10 characters"),
    # Links.
    ("[tr1, tr2], rate", "[tr1, tr3], rate", "10: links.line.between: there is no node 'tr3'"),
    ("[tr1, tr2], rate", "[tr1, tr1], rate", "10: links.line.between: a link joins two nodes"),
    ("[tr1, tr2], rate", "[tr1, tr2, core], rate", "10: links.line.between: a link joins two nodes: [one,"),
    ("[tr1, tr2], rate", "[tr1], rate", "10: links.line.between: a link joins two nodes: [one, other]"),
    ("[tr1, tr2], rate", "tr1, rate", "10: links.line.between: a link joins two nodes: [one, other], or"),
    ("[tr1, tr2], rate", "[tr1, core], rate", "a provider's switch and a router cannot be joined"),
    ("[tr1, tr2], rate", "[one-dtn, tr2], rate", "a DTN and a provider's switch cannot be joined"),
    ("[one-edge, tr1]", "{one-edge: far-away, tr1: one}", "'one-edge-far-away' is longer than 15 characters"),
    # Campuses.
    ("  one:\n", "  one: {measuring: two-dtn}\n", "sites.one.measuring: there is no DTN 'two-dtn'"),
    ("  one:\n", "  one: {dtns: {o-dtn: {at: tr1}}}\n", "sites.one.dtns.o-dtn.at: there is no switch"),
    ("  one:\n", "  one: {switches: [o-lab]}\n", "sites.one.switches: no links join 'o-lab' to the edge"),
    ("  one:\n", "  one: {network: 10.9.0.0/16}\n", "sites.one.network: 10.9.0.0/16 is not a /24"),
    ("  one:\n", "  one: {network: 127.0.0.0/24}\n", "127.0.0.0/24 is in 127.0.0.0/8, of which no host can"),
    ("  one:\n", "  one: {network: 239.1.0.0/24}\n", "239.1.0.0/24 is in 224.0.0.0/3, of which no host can"),
    ("  one:\n", "  one: {network: 10.2.0.0/24}\n", "sites.two.network: 10.2.0.0/24 is the network of"),
    ("  one:\n", "  one: {network: 172.31.0.0/24}\n", "overlaps 172.31.0.0/24, which the testbed uses"),
    # Paths.
    ("[one, tr1, tr2, two]", "[one, tr1, tr9, two]", "15: paths.al2s.over: there is no node, link or"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2]", "15: paths.al2s.over: leads from one site to another"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2, one]", "15: paths.al2s.over: leads from one site to another"),
    ("[one, tr1, tr2, two]", "[one, tr2, two]", "15: paths.al2s.over: there is no link between"),
    ("[one, tr1, tr2, two]", "[one, core, two]", "'core' is a router: a layer-2 path does not lead over it"),
    ("[one, core, two]", "[one, tr1, two]", "none of the routers of 'one' is joined to tr1"),
    ("[one, tr1, tr2, two]", "[one, tr1, two-core, tr2, two]", "link 'two-core' is not between the nodes"),
    ("[one, tr1, tr2, two]", "[one, tr1, tr2, tr1, tr2, two]", "leads over a node twice"),
    ("rate: 100 Mbps, delay: 5 ms", "", "15: paths.al2s.over: no link of it has a rate"),
    ("  al2s: {layer: 2, over: [one, tr1, tr2, two]}\n", "", "no path leads over it, and 'one-edge'"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_what_is_wrong_is_told_with_its_line(old, new, message):
    with pytest.raises(InvalidInput) as caught:
        described(changed(old, new), "pair.yaml")
    told = str(caught.value)
    assert "pair.yaml:" in told
    assert message in told
    assert all(problem.line is not None for problem in caught.value.problems)


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
