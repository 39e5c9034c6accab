"""What is wrong with a description is told with field, line and cause; what is right gives what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.errors import InvalidInput
from mininet_topos.networks import described, found, named, names, read
from tests.mininet_topos.networks.descriptions import PAIR


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
    with pytest.raises(InvalidInput) as refused:
        described(changed(old, new), "pair.yaml")
    told = str(refused.value)
    assert "pair.yaml:" in told
    assert message in told
    assert all(problem.line is not None for problem in refused.value.problems)


def test_a_tree_whose_names_are_too_long_is_refused_in_words():
    with pytest.raises(
        InvalidInput, match=r"pair.yaml:4: sites.onetwo.edge: 'onetwo-edge' is longer than 10"
    ):
        described(changed("  one:\n", "  onetwo: {tree: [1, 1, 1, 1]}\n"), "pair.yaml")


OTHER = "paths:\n  other: {layer: 2, vlan: 1701, over: [one, tr1, tr2, two]}\n"


def test_two_paths_of_one_vlan_on_a_link_are_refused():
    text = changed("paths:\n", OTHER).replace("al2s: {layer: 2,", "al2s: {layer: 2, vlan: 1701,")
    with pytest.raises(InvalidInput, match=r"16: paths.al2s.vlan: 1701 is the VLAN of path 'other' on link"):
        described(text, "pair.yaml")


def test_a_vlan_that_nobody_wrote_is_the_first_that_is_free():
    assert [path.vlan for path in described(changed("paths:\n", OTHER)).paths] == [1701, 1702, None]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("[core]", "[core, mgmt-d1]", "7: routers"),
        ("[core]", "[core, d1-mgmt]", "7: routers"),
        ("two-core:", "mgmt-d1:", "13: links.mgmt-d1"),
    ],
)
def test_a_node_is_not_called_as_an_interface_of_the_management_network(old, new, place):
    text = changed("  one:\n", "  one: {dtns: {d1: , d2: }}\n").replace(old, new)
    with pytest.raises(InvalidInput, match=f"{place}: '.*' is the name of an interface of the management"):
        described(text, "pair.yaml")
    assert described(text.replace("-d1", "-d2").replace("d1-", "d2-"))  # it has no measurement point


def test_a_name_that_is_chosen_is_not_taken_from_another():
    text = changed("[one-edge, tr1]", "{one-edge: al, tr1: one}").replace("[core]", "[core, tr1-one]")
    with pytest.raises(
        InvalidInput, match=r"9: links.one-tr.between.tr1: 'tr1-one' is the name of something"
    ):
        described(text, "pair.yaml")


def test_a_name_that_nobody_chose_gives_way():
    network = described(changed("[one-edge, tr1]", "{one-edge: dtn, tr1: one}"))
    assert network.path("al2s").ends["one"].port == "one-edge-dtn"
    assert network.dtn("one-dtn").port == "one-edge-1"


def test_an_interface_is_not_called_as_a_node_is():
    network = described(changed("[core]", "[core, tr1-line]"))
    assert network.link("line").ends == ("tr1-1", "tr2-line")


def test_two_paths_of_one_vlan_at_an_edge_are_refused_though_they_share_no_link():
    """The edges would bridge both, and flood round and round."""
    apart = changed("switches: [tr1, tr2]", "switches: [tr1, tr2, tr3]").replace(
        "paths:\n",
        "  one-b: {between: [one-edge, tr3], rate: 1 Mbps}\n  two-b: {between: [two-edge, tr3]}\npaths:\n"
        "  b: {layer: 2, vlan: 1701, over: [one, tr3, two]}\n",
    )
    with pytest.raises(
        InvalidInput, match=r"18: paths.al2s.vlan: 1701 is the VLAN of path 'b' at 'one-edge'$"
    ):
        described(apart.replace("al2s: {layer: 2,", "al2s: {layer: 2, vlan: 1701,"), "pair.yaml")
    assert [path.vlan for path in described(apart).paths] == [1701, 1702, None]


def test_the_same_vlan_is_for_paths_that_share_neither_link_nor_edge():
    more = changed("  two:\n", "  two:\n  three:\n  four:\n").replace(
        "paths:\n",
        "  ends: {between: [three-edge, four-edge], rate: 1 Mbps}\npaths:\n"
        "  b: {layer: 2, vlan: 1701, over: [three, four]}\n",
    )
    network = described(more.replace("al2s: {layer: 2,", "al2s: {layer: 2, vlan: 1701,"))
    assert [path.vlan for path in network.paths] == [1701, 1701, None]


@pytest.mark.parametrize("over", ["[one, one-r1, one-r2, core, two]", "[two, core, one-r2, one-r1, one]"])
def test_a_path_over_two_routers_of_a_campus_is_refused(over):
    text = changed("  one:\n", "  one: {routers: [one-r1, one-r2]}\n").replace(
        "[one-rtr, core]", "[one-r2, core]"
    )
    text = text.replace("paths:\n", "  rr: {between: [one-r1, one-r2]}\npaths:\n")
    assert described(text).path("internet").links == ("one-core", "two-core")
    with pytest.raises(
        InvalidInput, match=r"17: paths.internet.over: leads over one-r. and one-r.: a path has one"
    ):
        described(text.replace("[one, core, two]", over), "pair.yaml")


def test_everything_that_is_wrong_is_told_at_once():
    text = changed("rate: 100 Mbps", "rate: 2 Gbps").replace("loss: 1 %", "mtu: 100")
    with pytest.raises(InvalidInput) as refused:
        described(text, "pair.yaml")
    assert [problem.line for problem in refused.value.problems] == [10, 12]


def test_a_router_has_one_way_to_a_site():
    text = changed("routers: [core]", "routers: [core, far]").replace(
        "paths:\n",
        "  one-far: {between: [one-rtr, far], rate: 1 Mbps}\n  two-far: {between: [two-rtr, far]}\npaths:\n"
        "  b: {layer: 3, over: [one, far, two]}\n",
    )
    with pytest.raises(InvalidInput) as refused:
        described(text)
    assert "at 'one-rtr' path 'b' leads over link 'one-far' to site 'two', this one over 'one-core'" in str(
        refused.value
    )


def test_of_parallel_links_a_path_names_the_one_it_means():
    parallel = changed("paths:\n", "  line2: {between: [tr1, tr2], rate: 7 Mbps}\npaths:\n")
    with pytest.raises(InvalidInput, match="line and line2 join 'tr1' and 'tr2': name the one that is meant"):
        described(parallel)
    network = described(parallel.replace("[one, tr1, tr2, two]", "[one, tr1, line2, tr2, two]"))
    assert network.path("al2s").capacity == 7e6
    assert network.path("al2s").links == ("one-tr", "line2", "two-tr")


def test_of_several_routers_a_path_takes_that_which_is_joined_or_named():
    two = changed("  one:\n", "  one: {routers: [one-rtr, one-rtr2]}\n")
    assert described(two).path("internet").ends["one"].next_hop_mac == "02:00:00:00:0a:01"
    both = two.replace("paths:\n", "  one-b: {between: [one-rtr2, core], rate: 1 Mbps}\npaths:\n")
    with pytest.raises(InvalidInput, match="more than one of the routers of 'one' is joined to core: name"):
        described(both)
    for meant in ("one-rtr2", "one-b"):
        path = described(both.replace("[one, core, two]", f"[one, {meant}, core, two]")).path("internet")
        assert path.ends["one"].next_hop_mac == "02:00:00:00:0a:02"
        assert path.links == ("one-b", "two-core")


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


def test_a_description_has_a_scale_of_its_own_that_who_asks_may_replace():
    text = changed("sites:\n", "scale: 5\nsites:\n")
    assert described(text).path("al2s").capacity == 20e6
    assert described(text, scale=1).path("al2s").capacity == 100e6


def test_a_rate_that_is_out_of_range_at_a_scale_names_the_link():
    with pytest.raises(InvalidInput, match=r"pair.yaml:10: links.line.rate: at 1:10000, 10 kbps is not in"):
        described(PAIR, "pair.yaml", scale=10_000)


def test_a_change_takes_the_place_of_what_is_written():
    network = described(PAIR, changes={"line": {"goodput": "50 Mbps", "loss": "3 %"}})
    path = network.path("al2s")
    assert (path.goodput, path.loss, path.delay) == (50e6, pytest.approx(0.03), 0.005)
    with pytest.raises(InvalidInput, match=r"links.line.lost: is not a known key here"):
        described(PAIR, changes={"line": {"lost": "3 %"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[]", "x.yaml:1: Input should be an object"),
        ("links: []", "title: is required"),
        ("links: [1]", "x.yaml:1: links: Input should be an object"),
        ("links: {line: 5}", "x.yaml:1: links.line: Input should be an object"),
        ("links: line", "x.yaml:1: links: Input should be an object"),
        ("a: [", "is not YAML"),
        ("network: &x pair", "anchors are not supported"),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"line": {"loss": "1 %"}}], ids=["as it is", "changed"])
def test_what_is_no_description_is_refused(text, message, changes):
    with pytest.raises(InvalidInput):
        described(text, "x.yaml", changes=changes)
    if not changes:
        with pytest.raises(InvalidInput, match=message):
            described(text, "x.yaml")


def test_networks_are_found_by_name_or_file(tmp_path: Path):
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR)
    assert found(str(file)) == read(file) == described(PAIR)
    assert found("mu_osu") == named("mu_osu")
    assert {"mu_osu", "two_campuses"} <= set(names())
    with pytest.raises(
        InvalidInput, match=r"there is no network 'mu_oso'; did you mean mu_osu\? \(there are ch"
    ):
        found("mu_oso")
    with pytest.raises(InvalidInput, match=r"nowhere.yaml: cannot be read: there is no such file"):
        found(str(tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize("name", names())
def test_a_built_in_network_says_what_it_is(name):
    network = named(name)
    assert network.name == name
    assert network.title
    assert network.about
    assert network.paths
