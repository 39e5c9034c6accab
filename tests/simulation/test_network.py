from __future__ import annotations

import pytest

from adon.simulation.network import Link, Network, Outage, Path
from adon.simulation.steps import Steps, steady
from adon.simulation.tcp import EASY, Stream
from adon.simulation.workload import kept
from adon.templates_catalog.model import QSpec
from tests.simulation.small import network

LONG = Network(
    {
        "a": Link(steady(5e9), steady(0.004), steady(0.1), queue=0.01),
        "b": Link(Steps.of((0, 3e9), (10, 9e9)), steady(0.006), steady(0.2)),
    },
    (Path("ab", 2, ("mu", "osu"), ("a", "b"), 1e10, (Outage(20, 30), Outage(40, 50, seen=False))),),
)


def test_a_path_is_what_its_links_are() -> None:
    (path,) = LONG.paths
    assert LONG.rtt(path, 0) == pytest.approx(0.02)
    assert LONG.loss(path, 0) == pytest.approx(1 - 0.9 * 0.8)
    assert (LONG.capacity(path, 0), LONG.capacity(path, 10), LONG.capacity(path, 25)) == (3e9, 5e9, 0.0)
    assert path.way("mu") == (("a", True), ("b", True))
    assert path.way("osu") == (("a", False), ("b", False))
    assert LONG.changes == (10, 20, 30, 40, 50)
    assert LONG.sites == ("mu", "osu")


@pytest.mark.parametrize(
    ("now", "works", "live"), [(19, True, True), (20, False, False), (30, True, True), (45, False, True)]
)
def test_an_outage_is_seen_or_not(now: float, works: bool, live: bool) -> None:
    (path,) = LONG.paths
    assert (path.works(now), path.live(now)) == (works, live)


def test_a_path_over_no_link_is_refused() -> None:
    with pytest.raises(ValueError, match="p: nowhere"):
        Network({}, (Path("p", 2, ("mu", "osu"), ("nowhere",), 1e9),))


def test_paths_are_found_by_their_ends_and_names() -> None:
    world = network(1e9, 2e9)
    assert [path.name for path in world.between("osu", "mu")] == ["p0", "p1"]
    assert world.between("mu", "ncsa") == ()
    with pytest.raises(KeyError):
        world.path("p9")


@pytest.mark.parametrize(
    ("stream", "rtt", "loss", "limit"),
    [
        (EASY, 0.02, 0.0, float("inf")),
        (EASY, 0.0, 0.1, float("inf")),
        (Stream(host=5.0), 0.02, 0.0, 5.0),
        (Stream(window=1000), 0.02, 0.0, 400_000.0),
        (Stream(window=1000, host=1e5), 0.02, 0.0, 1e5),
    ],
)
def test_what_one_stream_can_reach(stream: Stream, rtt: float, loss: float, limit: float) -> None:
    assert stream.limit(rtt, loss) == pytest.approx(limit)


@pytest.mark.parametrize(
    ("rate", "rtt", "loss", "keeps"),
    [
        (2e8, 0.01, 0.0, True),
        (1.9e8, 0.01, 0.0, False),
        (2e8, 0.06, 0.0, False),
        (2e8, 0.01, 0.01, False),
    ],
)
def test_whether_a_qspec_is_kept(rate: float, rtt: float, loss: float, keeps: bool) -> None:
    body = {
        "throughput": {"min": "200 Mbps", "streams": 2},
        "rtt": {"max": "50 ms"},
        "loss": {"max": "0.1 %"},
    }
    assert kept(QSpec.model_validate(body), rate, rtt, loss) is keeps
