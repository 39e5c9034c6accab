"""Several queued flows planned together, and sites beside paths, in the life of the broker."""

from __future__ import annotations

from typing import Any

from adon.broker.flow import Flow, FlowState
from adon.config import Configuration
from adon.templates_catalog.catalog import Catalog
from adon.values import FrozenMap
from tests.support.factories import make_catalog
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage


def one_site(nodes: int = 4, **policy: Any) -> Configuration:
    """One compute site only, at the far end, without a reserve."""
    read = make_configuration(reserve_nodes=0, **policy)
    site = read.compute["osu-hpc"].model_copy(update={"worker_nodes": nodes})
    return read.model_copy(update={"compute": FrozenMap({"osu-hpc": site})})


def crowd(sizes: dict[int, str], nodes: int = 1, **fields: Any) -> tuple[Stage, dict[int, Flow]]:
    """A site of one node, taken by a flow; others wait for it, by number with their sizes."""
    stage = make_stage(one_site(nodes))
    first = stage.submit(size="100 MB")
    assert first.state is FlowState.ACTIVE
    waiting = {number: stage.submit(size=size, **fields) for number, size in sizes.items()}
    assert {flow.state for flow in waiting.values()} == {FlowState.QUEUED}
    return stage, {first.number: first, **waiting}


def running(stage: Stage) -> list[int]:
    return [flow.number for flow in stage.broker.flows if flow.state is FlowState.ACTIVE]


def test_the_first_of_the_queue_goes_first_however_short_the_others_are() -> None:
    stage, flows = crowd({2: "10 GB", 3: "1 MB", 4: "1 MB"})
    stage.report(flows[1])
    assert running(stage) == [2]


def two_sites_for_four() -> tuple[Stage, list[Flow]]:
    """Two sites of one node each, both taken; four flows of different sizes wait for them."""
    read = make_configuration(reserve_nodes=0)
    fast = read.compute["osu-hpc"].model_copy(update={"worker_nodes": 1})
    near = read.compute["mu-hpc"].model_copy(update={"worker_nodes": 1})
    stage = make_stage(read.model_copy(update={"compute": FrozenMap({"mu-hpc": near, "osu-hpc": fast})}))
    holders = [stage.submit(size="100 MB") for _ in range(2)]
    assert {flow.compute_site for flow in holders} == {"mu-hpc", "osu-hpc"}
    return stage, [*holders, *(stage.submit(size=size) for size in ("1 GB", "50 GB", "10 MB", "1 MB"))]


def test_planned_flows_are_admitted_to_their_sites_and_say_so() -> None:
    stage, (one, other, *waiting) = two_sites_for_four()
    stage.report(one)
    stage.report(other)
    first, second, third, _ = (stage.flow(flow) for flow in waiting)
    assert {first.compute_site, second.compute_site} == {"mu-hpc", "osu-hpc"}
    assert third.state is FlowState.QUEUED


def test_a_path_is_not_promised_twice_to_those_that_wait() -> None:
    """What a test says is there is given to one of two that each need most of it."""
    stage = Stage(one_site(9))
    stage.connect()
    need = {"qspec": {"throughput": {"min": "25 Mbps"}}}
    waiting = [stage.submit(size="100 MB", **need) for _ in range(2)]
    know(stage, al2s=40.0)
    assert [stage.flow(one).state for one in waiting] == [FlowState.ACTIVE, FlowState.QUEUED]


def slow_here_fast_there() -> Configuration:
    """A slow site at the source and a fast one of one node at the destination."""
    read = make_configuration(reserve_nodes=0)
    slow = read.compute["mu-hpc"].model_copy(update={"throughput_per_node": 1e6, "queue_wait": 0.0})
    fast = {"worker_nodes": 1, "throughput_per_node": 100e6, "queue_wait": 0.0}
    sites = {"mu-hpc": slow, "osu-hpc": read.compute["osu-hpc"].model_copy(update=fast)}
    return read.model_copy(update={"compute": FrozenMap(sites)})


class TestAtOnce:
    """A flow that can start now is never held back for a cheaper site or a later time."""

    def test_flow_takes_the_dearer_site_that_has_room(self) -> None:
        stage = make_stage(slow_here_fast_there())
        first = stage.submit(size="100 MB")
        assert first.compute_site == "osu-hpc"
        second = stage.submit(size="100 MB")
        assert (second.state, second.compute_site) == (FlowState.ACTIVE, "mu-hpc")


class TestPathAndSite:
    def test_of_paths_that_are_as_good_the_cost_decides(self) -> None:
        """Both paths within the switch margin: the site comes with the faster one, or the steadier one."""
        stage = make_stage(internet=0)
        read = stage.configuration
        wide = read.paths["internet"].model_copy(update={"capacity": 60e6})
        paths = FrozenMap({**read.paths, "internet": wide})
        stage = make_stage(read.model_copy(update={"paths": paths}), al2s=50.0, internet=52.0)
        flow = stage.submit(size="1 GB")
        costs = {(one.site, one.path) for one in stage.decision(flow).compute}
        sites = ("mu-hpc", "osu-hpc")
        assert costs == {(site, path) for site in sites for path in ("al2s", "internet")}
        assert flow.path == "internet"

    def test_a_much_better_path_leaves_nothing_to_choose(self) -> None:
        stage = make_stage(internet=6.5)
        flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
        assert {one.path for one in stage.decision(flow).compute} == {"al2s"}


class TestThirdCampus:
    def test_a_site_elsewhere_is_compared_and_said_to_be_elsewhere(self) -> None:
        read = make_configuration()
        third = read.sites["osu"].model_copy(update={"hosts": FrozenMap({})})
        far = read.compute["osu-hpc"].model_copy(update={"site": "isi"})
        whole = read.model_copy(
            update={
                "sites": FrozenMap({**read.sites, "isi": third}),
                "compute": FrozenMap({**read.compute, "isi-hpc": far}),
            }
        )
        stage = make_stage(whole)
        flow = stage.submit()
        found = {one.site: one for one in stage.decision(flow).compute}
        assert found["isi-hpc"].campus == "isi"
        assert found["isi-hpc"].cost == float("inf"), "no path leads there"

    def test_the_rspec_may_leave_it_out(self) -> None:
        read = make_configuration()
        far = read.compute["osu-hpc"].model_copy(update={"site": "isi"})
        third = read.sites["osu"].model_copy(update={"hosts": FrozenMap({})})
        whole = read.model_copy(
            update={
                "sites": FrozenMap({**read.sites, "isi": third}),
                "compute": FrozenMap({**read.compute, "isi-hpc": far}),
            }
        )
        soykb = make_catalog().get("soykb")
        rspec = soykb.rspec.model_copy(update={"sites": ("osu",)})
        stage = Stage(whole, catalog=Catalog.of([soykb.model_copy(update={"rspec": rspec})]))
        stage.connect()
        know(stage, al2s=58.0)
        decision = stage.decision(stage.submit())
        assert {one.site for one in decision.compute} == {"mu-hpc", "osu-hpc"}, "the source is always allowed"
