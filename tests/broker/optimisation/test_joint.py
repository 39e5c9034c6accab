"""Several that wait, planned together, and starts that are later than now, in the life of the broker."""

from __future__ import annotations

from typing import Any

from adon.broker.decision import Outcome
from adon.broker.flow import Flow, FlowState
from adon.broker.optimisation import joint
from adon.config import Configuration
from adon.frozenmap import FrozenMap
from adon.templates_catalog.catalog import Catalog
from tests.broker.stage import Stage, catalog, configuration, know, ready


def one_site(nodes: int = 4, **policy: Any) -> Configuration:
    """One compute site only, at the far end, without a reserve."""
    read = configuration(reserve_nodes=0, **policy)
    site = read.compute["osu-hpc"].model_copy(update={"worker_nodes": nodes})
    return read.model_copy(update={"compute": FrozenMap({"osu-hpc": site})})


def crowd(sizes: dict[int, str], nodes: int = 1, **fields: Any) -> tuple[Stage, dict[int, Flow]]:
    """A site of one node, taken by a flow; others wait for it, by number with their sizes."""
    stage = ready(one_site(nodes))
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


def test_a_plan_is_told_and_shares_one_node_by_weight() -> None:
    """Two nodes come free; the first of the queue has one, of the others the shorter gets the other."""
    stage = ready(one_site(3))
    holder = stage.submit(size="100 MB")
    blocker = [stage.submit(size="100 MB") for _ in range(2)]
    waiting = [stage.submit(size=size) for size in ("1 GB", "50 GB", "10 MB")]
    world = stage.broker.world
    ledger = world.ledger
    for flow in blocker:
        ledger = ledger.release(flow.number)
    world.ledger = ledger
    plan = joint.together(world, world.queue(), stage.now).places()
    assert holder.state is FlowState.ACTIVE
    first, long, short = (plan[flow.number] for flow in waiting)
    assert (first.starts, short.starts) == (stage.now, stage.now)
    assert long.starts > stage.now
    assert first.why == "planned together with 2 others that wait, the best plan"


def test_nothing_is_planned_where_everybody_can_have_their_best() -> None:
    stage = ready(one_site(4))
    assert joint.together(stage.broker.world, [], stage.now).places() == {}
    waiting = [stage.submit(size="1 GB") for _ in range(2)]
    assert joint.together(stage.broker.world, waiting, stage.now).places() == {}


def test_a_path_is_not_promised_twice_to_those_that_wait() -> None:
    """What a test says is there is given to one of two that each need most of it."""
    stage = Stage(one_site(9))
    stage.connect()
    need = {"qspec": {"throughput": {"min": "25 Mbps"}}}
    waiting = [stage.submit(size="100 MB", **need) for _ in range(2)]
    know(stage, al2s=40.0)
    assert [stage.flow(one).state for one in waiting] == [FlowState.ACTIVE, FlowState.QUEUED]
    second = stage.flow(waiting[1])
    assert second.starts is None or second.starts > stage.now


def slow_here_fast_there() -> Configuration:
    """A slow site at the source and a fast one of one node at the destination."""
    read = configuration(reserve_nodes=0)
    slow = read.compute["mu-hpc"].model_copy(update={"throughput_per_node": 1e6, "queue_wait": 0.0})
    fast = {"worker_nodes": 1, "throughput_per_node": 100e6, "queue_wait": 0.0}
    sites = {"mu-hpc": slow, "osu-hpc": read.compute["osu-hpc"].model_copy(update=fast)}
    return read.model_copy(update={"compute": FrozenMap(sites)})


class TestLater:
    def test_a_fast_site_is_waited_for_once_and_the_estimated_start_is_told(self) -> None:
        stage = ready(slow_here_fast_there())
        first = stage.submit(size="100 MB")
        assert first.compute_site == "osu-hpc"
        waits = stage.submit(size="100 MB")
        assert (waits.state, waits.starts) == (FlowState.QUEUED, first.ends_by)
        assert "at osu-hpc: that costs" in waits.reason
        decision = stage.last_decision(waits)
        assert (decision.outcome, decision.starts) == (Outcome.QUEUE, first.ends_by)
        stage.report(first)
        assert stage.flow(waits).compute_site == "osu-hpc"
        assert stage.flow(waits).starts is None

    def test_if_it_is_not_free_when_it_was_said_to_be_what_there_is_is_taken(self) -> None:
        stage = ready(slow_here_fast_there())
        first = stage.submit(size="100 MB")
        waits = stage.submit(size="100 MB")
        assert waits.starts is not None
        while stage.now < waits.starts + 1:
            stage.pass_time(1)
            stage.carry(first, 1000)
            know(stage, al2s=58.0)
        assert stage.flow(first).state is FlowState.ACTIVE, "it is late"
        assert stage.flow(waits).compute_site == "mu-hpc", "nobody waits twice"

    def test_who_finds_it_taken_again_does_not_wait_for_longer_than_was_said(self) -> None:
        stage = ready(slow_here_fast_there())
        first = stage.submit(size="100 MB")
        waits = stage.submit(size="100 MB")
        urgent = stage.submit(size="100 MB", priority=900)
        assert {waits.state, urgent.state} == {FlowState.QUEUED}
        stage.pass_time(5)
        know(stage, al2s=58.0)
        stage.report(first)
        assert stage.flow(urgent).compute_site == "osu-hpc"
        ends_by, starts = stage.flow(urgent).ends_by, waits.starts
        assert ends_by is not None
        assert starts is not None
        assert ends_by > starts
        while stage.now < starts + 1:
            stage.pass_time(1)
            stage.carry(urgent, 1000)
            know(stage, al2s=58.0)
        assert stage.flow(urgent).state is FlowState.ACTIVE
        assert stage.flow(waits).compute_site == "mu-hpc"

    def test_who_is_not_patient_enough_takes_what_there_is(self) -> None:
        stage = ready(slow_here_fast_there())
        stage.submit(size="100 MB")
        hurried = stage.submit(size="100 MB", queue_patience="5 s")
        assert hurried.compute_site == "mu-hpc"

    def test_a_clock_that_is_set_back_does_not_make_anybody_wait_longer(self) -> None:
        stage = ready(slow_here_fast_there())
        first = stage.submit(size="100 MB")
        waits = stage.submit(size="100 MB")
        assert waits.starts is not None
        left = waits.starts - stage.now
        stage.now -= 1000
        for _ in range(int(left) + 2):
            stage.pass_time(1)
            stage.carry(first, 1000)
            know(stage, al2s=58.0)
        assert stage.flow(waits).compute_site == "mu-hpc"

    def test_what_was_promised_is_shifted_with_the_clock(self) -> None:
        stage = ready(slow_here_fast_there())
        stage.submit(size="100 MB")
        waits = stage.submit(size="100 MB")
        placing = stage.broker._placing
        assert placing.next_start(stage.now) == waits.starts
        placing.clock_set_back(10.0)
        assert waits.starts is not None
        assert placing.next_start(stage.now) == waits.starts - 10

    def test_the_once_is_forgotten_by_a_restart_and_no_more(self) -> None:
        stage = ready(slow_here_fast_there())
        stage.submit(size="100 MB")
        waits = stage.submit(size="100 MB")
        stage.restart_controller()
        know(stage, al2s=58.0)
        assert stage.flow(waits).state is FlowState.QUEUED


class TestPathAndSite:
    def test_of_paths_that_are_as_good_the_cost_decides(self) -> None:
        """Both paths within the switch margin: the site comes with the faster one, or the steadier one."""
        stage = ready(internet=0)
        read = stage.configuration
        wide = read.paths["internet"].model_copy(update={"capacity": 60e6})
        paths = FrozenMap({**read.paths, "internet": wide})
        stage = ready(read.model_copy(update={"paths": paths}), al2s=50.0, internet=52.0)
        flow = stage.submit(size="1 GB")
        costs = {(one.site, one.path) for one in stage.last_decision(flow).compute}
        sites = ("mu-hpc", "osu-hpc")
        assert costs == {(site, path) for site in sites for path in ("al2s", "internet")}
        assert flow.path == "internet"

    def test_a_much_better_path_leaves_nothing_to_choose(self) -> None:
        stage = ready(internet=6.5)
        flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
        assert {one.path for one in stage.last_decision(flow).compute} == {"al2s"}


class TestThirdCampus:
    def test_a_site_elsewhere_is_compared_and_said_to_be_elsewhere(self) -> None:
        read = configuration()
        third = read.sites["osu"].model_copy(update={"hosts": FrozenMap({})})
        far = read.compute["osu-hpc"].model_copy(update={"site": "isi"})
        whole = read.model_copy(
            update={
                "sites": FrozenMap({**read.sites, "isi": third}),
                "compute": FrozenMap({**read.compute, "isi-hpc": far}),
            }
        )
        stage = ready(whole)
        flow = stage.submit()
        found = {one.site: one for one in stage.last_decision(flow).compute}
        assert found["isi-hpc"].campus == "isi"
        assert "any path is unknown" in found["isi-hpc"].why, "no path leads there"
        assert (
            "isi-hpc is at neither end of the transfer; to compute there, ask for one to isi" in flow.reason
        )

    def test_the_rspec_may_leave_it_out(self) -> None:
        read = configuration()
        far = read.compute["osu-hpc"].model_copy(update={"site": "isi"})
        third = read.sites["osu"].model_copy(update={"hosts": FrozenMap({})})
        whole = read.model_copy(
            update={
                "sites": FrozenMap({**read.sites, "isi": third}),
                "compute": FrozenMap({**read.compute, "isi-hpc": far}),
            }
        )
        soykb = catalog().get("soykb")
        rspec = soykb.rspec.model_copy(update={"sites": ("osu",)})
        stage = Stage(whole, templates=Catalog.of([soykb.model_copy(update={"rspec": rspec})]))
        stage.connect()
        know(stage, al2s=58.0)
        decision = stage.last_decision(stage.submit())
        assert {one.site for one in decision.compute} == {"mu-hpc", "osu-hpc"}, "the source is always allowed"
