"""Algorithm 4: the worked example, what is impossible, and the spread of every term."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.cost.functions import CostFunctions
from adon.broker.cost.learnt import Learnt
from adon.broker.cost.site import Legs, Work, site_cost
from adon.broker.cost.terms import NetworkTerms, seconds_for, theoretical_throughput
from adon.broker.decision import SiteCost
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.offer import Offer
from adon.config.compute import ComputeSite
from adon.templates_catalog.model import CostModel
from adon.uncertain import Uncertain
from tests.support.refusals import refused

INF = math.inf
L2 = NetworkTerms("al2s", 10e9, 5.5e9)
L3 = NetworkTerms("internet", 10e9, 650e6)
RAW = 25 * 10**9
MU = {"site": "mu", "worker_nodes": 4, "throughput_per_node": "800 Mbps", "queue_wait": "20 s"}
OSU = {"site": "osu", "worker_nodes": 64, "throughput_per_node": "3.2 Gbps", "queue_wait": "5 s"}


def a_site(base: dict[str, object] = MU, **changes: object) -> Offer:
    return Offer.from_configuration("here", ComputeSite.model_validate(base | changes))


def cost(
    site: Offer | None = None,
    *,
    local: bool = True,
    size: int = RAW,
    model: CostModel | None = None,
    nodes: int = 4,
    ratio: Learnt | None = None,
    network: NetworkTerms = L2,
    home: NetworkTerms | None = None,
    onward: NetworkTerms | None = None,
    functions: CostFunctions | None = None,
    node_rate: Learnt | None = None,
) -> SiteCost:
    return site_cost(
        a_site() if site is None else site,
        local=local,
        work=Work.of(size, Amounts(nodes=nodes), CostModel() if model is None else model, ratio),
        legs=Legs(network, home, onward),
        functions=CostFunctions() if functions is None else functions,
        node_rate=node_rate,
    )


def learnt(mean: float, deviation: float = 0.0) -> Learnt:
    return Learnt(Uncertain(mean, deviation), "learnt from 3 finished jobs")


class TestTheoreticalThroughput:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ((10e9, 1, 256 * 2**20, 0.033, 0.0), 10e9),
            ((10e9, 1, 16 * 2**20, 0.033, 0.0), 16 * 2**20 * 8 / 0.033),
            ((10e9, 2, 16 * 2**20, 0.033, 0.0), 2 * 16 * 2**20 * 8 / 0.033),
            ((10e9, 1, 256 * 2**20, 0.05, 1e-4), 8 * 1460 / (0.05 * 0.01) * math.sqrt(1.5)),
            ((10e9, 4, 256 * 2**20, 0.05, 1e-4), 4 * 8 * 1460 / (0.05 * 0.01) * math.sqrt(1.5)),
            ((10e9, 16, 256 * 2**20, None, 1e-4), 10e9),
            ((10e9, 1, None, 0.033, None), 10e9),
            ((10e9, 1, 2**20, 0.0, 0.1), 10e9),
            ((0.0, 1, 2**20, 0.01, 0.0), 0.0),
            ((10e9, 1, 0, 0.01, 0.0), 0.0),
        ],
    )
    def test_values(self, arguments: tuple[float, int, float, float, float], expected: float) -> None:
        assert theoretical_throughput(*arguments) == pytest.approx(expected, rel=1e-12)

    def test_the_segment_size_counts(self) -> None:
        small = theoretical_throughput(10e9, 1, None, 0.05, 1e-4)
        assert theoretical_throughput(10e9, 1, None, 0.05, 1e-4, mss=8960) == pytest.approx(
            small * 8960 / 1460
        )

    @given(
        st.floats(0, 1e12),
        st.integers(1, 128),
        st.none() | st.floats(0, 1e9),
        st.none() | st.floats(0, 10),
        st.none() | st.floats(0, 1),
    )
    def test_never_above_the_link_and_never_less_for_more_streams(
        self, rate: float, streams: int, window: float | None, rtt: float | None, loss: float | None
    ) -> None:
        reached = theoretical_throughput(rate, streams, window, rtt, loss)
        assert 0 <= reached <= rate
        assert theoretical_throughput(rate, streams + 1, window, rtt, loss) >= reached

    @pytest.mark.parametrize(
        "arguments",
        [
            (-1.0, 1, 1, 1, 0),
            (1.0, 0, 1, 1, 0),
            (1.0, 1, -1, 1, 0),
            (1.0, 1, 1, -1, 0),
            (1.0, 1, 1, 1, -0.1),
            (math.nan, 1, 1, 1, 0),
            (1.0, 1, 1, math.nan, 0),
        ],
    )
    def test_nonsense_is_refused(self, arguments: tuple[float, int, float, float, float]) -> None:
        with refused(ValueError):
            theoretical_throughput(*arguments)


class TestWorkedExample:
    """The numbers of docs/cost-model.md: 25 GB raw, ratio 1/10, L2 at 5.5 Gbps, L3 at 650 Mbps."""

    @pytest.mark.parametrize(
        ("network", "t_n_local", "t_t_local", "t_n_remote", "t_t_remote"),
        [(L2, 3.636, 86.136, 36.364, 56.989), (L3, 30.769, 113.269, 307.692, 328.317)],
    )
    def test_total_times(
        self, network: NetworkTerms, t_n_local: float, t_t_local: float, t_n_remote: float, t_t_remote: float
    ) -> None:
        local = cost(a_site(MU), local=True, network=network)
        remote = cost(a_site(OSU), local=False, network=network)
        assert (local.queue, local.compute, local.transfer_size) == (20.0, 82.5, RAW // 10)
        assert (remote.queue, remote.compute, remote.transfer_size) == (5.0, 20.625, RAW)
        assert local.network == pytest.approx(t_n_local, abs=5e-4)
        assert local.total == pytest.approx(t_t_local, abs=5e-4)
        assert remote.network == pytest.approx(t_n_remote, abs=5e-4)
        assert remote.total == pytest.approx(t_t_remote, abs=5e-4)
        assert (local.cost, local.why) == (local.total, "")

    def test_the_result_comes_home_only_if_asked_and_only_from_afar(self) -> None:
        wanted = CostModel(local_copy=True)
        remote = cost(a_site(OSU), local=False, model=wanted)
        assert remote.duplication == pytest.approx(3.636, abs=5e-4)
        assert remote.total == remote.compute + remote.network + remote.duplication
        assert cost(local=True, model=wanted).duplication == 0
        assert cost(a_site(OSU), local=False).duplication == 0
        home = cost(a_site(OSU), local=False, model=wanted, home=L3)
        assert home.duplication == pytest.approx(30.769, abs=5e-4)
        assert home.network == remote.network


class TestImpossible:
    @pytest.mark.parametrize(
        "changes",
        [
            {"site": a_site(queue_wait=None)},
            {"site": a_site(worker_nodes=3)},
            {"network": NetworkTerms("al2s", 10e9, None)},
            {"network": NetworkTerms(None, 10e9, None)},
            {"network": NetworkTerms("al2s", 10e9, 0.0)},
            {"network": NetworkTerms("al2s", 0.0, 1e9)},
            {"node_rate": learnt(0.0)},
            {"size": 10**400},
            {
                "local": False,
                "model": CostModel(local_copy=True),
                "home": NetworkTerms("internet", 1e9, None),
            },
        ],
    )
    def test_costs_infinity_and_says_why(self, changes: dict[str, object]) -> None:
        found = cost(**changes)
        assert (found.total, found.cost) == (INF, INF)
        assert found.why

    @pytest.mark.parametrize("function", ["money", "weighted"])
    def test_a_free_site_that_never_delivers_is_not_cheap(self, function: str) -> None:
        model = CostModel.model_validate({"function": function, "time_weight": 0.0, "money_weight": 1.0})
        assert cost(a_site(queue_wait=None), model=model).cost == INF

    def test_every_reason_is_told(self) -> None:
        why = cost(a_site(queue_wait=None), network=NetworkTerms("al2s", 1e9, None)).why
        assert "T_q" in why
        assert "T_n" in why


class TestEdges:
    def test_no_result_needs_no_network(self) -> None:
        found = cost(model=CostModel(result_ratio=0), network=NetworkTerms(None, 0.0, None))
        assert (found.transfer_size, found.network, found.total) == (0, 0.0, 82.5)

    def test_a_result_may_be_larger_than_the_raw_data(self) -> None:
        assert cost(model=CostModel(result_ratio=2.5)).transfer_size == RAW * 5 // 2

    def test_sizes_are_exact_beyond_a_float(self) -> None:
        size = 10**18 + 1
        assert cost(size=size, model=CostModel(result_ratio=1)).transfer_size == size

    def test_a_learnt_rate_goes_before_the_configured_one(self) -> None:
        assert cost(node_rate=learnt(1.6e9)).compute == 20 + 31.25

    @pytest.mark.parametrize(
        ("size", "rate", "seconds"), [(0, 0.0, 0.0), (1, 8.0, 1.0), (1, 0.0, INF), (1, math.nan, INF)]
    )
    def test_seconds(self, size: int, rate: float, seconds: float) -> None:
        assert seconds_for(size, rate) == seconds

    @given(
        st.integers(1, 10**30),
        st.booleans(),
        st.booleans(),
        st.floats(0, 1e12),
        st.none() | st.floats(0, 1e12),
        st.floats(0, 100),
        st.integers(1, 8),
        st.none() | st.floats(0, 1e9),
    )
    def test_algorithm_4_holds_and_more_data_never_costs_less(
        self,
        size: int,
        local: bool,
        copy: bool,
        theoretical: float,
        available: float | None,
        ratio: float,
        nodes: int,
        wait: float | None,
    ) -> None:
        arguments: dict[str, Any] = {
            "local": local,
            "model": CostModel(local_copy=copy, result_ratio=ratio),
            "network": NetworkTerms("al2s", theoretical, available),
            "nodes": nodes,
        }
        site = a_site(queue_wait=None if wait is None else f"{wait!r} s")
        found = cost(site, size=size, **arguments)
        assert not any(math.isnan(v) for f in fields(found) if isinstance(v := getattr(found, f.name), float))
        assert found.total == found.compute + found.network + found.duplication
        assert found.compute >= found.queue
        assert (found.cost == INF) == (found.total == INF) == (found.why != "")
        assert cost(site, size=2 * size, **arguments).cost >= found.cost


class TestCostFunctions:
    PRICED = a_site(price_per_node_hour=0.5)

    def test_money_is_for_computing_only(self) -> None:
        found = cost(self.PRICED, model=CostModel(function="money"))
        assert found.cost == pytest.approx(4 * 62.5 / 3600 * 0.5)

    def test_weighted(self) -> None:
        model = CostModel(function="weighted", time_weight=2, money_weight=10)
        found = cost(self.PRICED, model=model)
        assert found.cost == pytest.approx(2 * found.total + 10 * 4 * 62.5 / 3600 * 0.5)

    def test_one_instances_functions_are_not_anothers(self) -> None:
        functions = CostFunctions()
        functions.register("carbon", lambda terms, _site, _model: terms.total * 3)
        assert functions.names == ("total_time", "money", "weighted", "carbon")
        assert CostFunctions().names == ("total_time", "money", "weighted")
        model = CostModel().model_copy(update={"function": "carbon"})
        assert cost(model=model, functions=functions).cost == pytest.approx(3 * 86.136, abs=2e-3)
        refused = cost(model=model)
        assert refused.cost == INF
        assert "carbon" in refused.why

    def test_a_name_is_given_once(self) -> None:
        with pytest.raises(ValueError, match="money"):
            CostFunctions().register("money", lambda *_: 0.0)

    @pytest.mark.parametrize("result", [-1.0, math.nan, None, "cheap", 10**400])
    def test_a_function_that_gives_nonsense(self, result: object) -> None:
        functions = CostFunctions()
        functions.register("odd", lambda *_: result)  # type: ignore[arg-type, return-value]
        found = cost(model=CostModel().model_copy(update={"function": "odd"}), functions=functions)
        assert found.cost == INF
        assert found.why
        assert found.total < INF

    def test_a_function_that_raises(self) -> None:
        def broken(*_: object) -> float:
            raise ZeroDivisionError("no price list")

        functions = CostFunctions()
        functions.register("broken", broken)
        found = cost(model=CostModel().model_copy(update={"function": "broken"}), functions=functions)
        assert found.cost == INF
        assert found.why

    def test_infinity_from_a_function_has_a_reason_of_its_own(self) -> None:
        functions = CostFunctions()
        functions.register("never", lambda *_: INF)
        found = cost(model=CostModel().model_copy(update={"function": "never"}), functions=functions)
        assert found.cost == INF
        assert "never" in found.why


class TestSpread:
    """Each term's deviation, by hand: independent terms add in quadrature, quotients by relative spread."""

    STEADY = NetworkTerms("al2s", 10e9, 5.5e9, 0.2, "COV of 9 measurements")

    def test_what_nobody_observed_has_none_and_says_where_it_comes_from(self) -> None:
        found = cost()
        assert found.deviations == {}
        assert found.origins == {
            "queue": "as configured",
            "node_rate": "as configured",
            "result": "the template's",
        }

    def test_every_term(self) -> None:
        site = a_site(queue_wait_deviation="3 s")
        found = cost(
            site, network=self.STEADY, node_rate=learnt(800e6, 80e6), ratio=learnt(0.1, 0.03), local=True
        )
        spread = found.deviations
        assert spread["queue"] == 3.0
        assert spread["node_rate"] == 80e6
        assert spread["available"] == pytest.approx(1.1e9)
        assert spread["result"] == pytest.approx(0.3 * RAW / 10)
        assert spread["busy"] == pytest.approx(6.25)
        assert spread["compute"] == pytest.approx(math.hypot(3, 6.25))
        assert spread["network"] == pytest.approx(found.network * math.hypot(0.2, 0.3))
        assert spread["total"] == pytest.approx(math.hypot(3, 6.25, spread["network"]))
        assert spread["cost"] == spread["total"]
        assert "available" in found.origins

    def test_raw_data_has_no_doubt_about_its_size(self) -> None:
        found = cost(a_site(OSU), local=False, network=self.STEADY, ratio=learnt(0.1, 0.03))
        assert found.deviations["network"] == pytest.approx(0.2 * found.network)

    def test_the_spread_of_another_cost_function_is_carried_through_it(self) -> None:
        site = a_site(price_per_node_hour=0.5)
        rate = learnt(800e6, 80e6)
        paid = cost(site, model=CostModel(function="money"), network=self.STEADY, node_rate=rate)
        assert paid.deviations["cost"] == pytest.approx(4 * 6.25 / 3600 * 0.5)
        model = CostModel(function="weighted", time_weight=2, money_weight=0)
        both = cost(site, model=model, network=self.STEADY, node_rate=rate)
        assert both.deviations["cost"] == pytest.approx(2 * both.deviations["total"])

    def test_a_function_that_fails_beyond_the_mean_still_has_a_cost(self) -> None:
        functions = CostFunctions()
        functions.register("edge", lambda terms, *_: 1 / (terms.total < 90))
        model = CostModel().model_copy(update={"function": "edge"})
        found = cost(model=model, functions=functions, network=NetworkTerms("al2s", 10e9, 5.5e9, 2.0))
        assert (found.cost, found.deviations.get("cost")) == (1.0, None)

    @given(st.floats(0, 1e4), st.floats(0, 3), st.floats(0, 3), st.floats(0, 3), st.booleans(), st.booleans())
    def test_a_total_is_never_surer_than_a_term_and_never_less_sure_than_their_sum(
        self, wait: float, network: float, rate: float, ratio: float, local: bool, copy: bool
    ) -> None:
        found = cost(
            a_site(queue_wait_deviation=f"{wait!r} s"),
            local=local,
            model=CostModel(local_copy=copy),
            network=NetworkTerms("al2s", 10e9, 5.5e9, network),
            node_rate=learnt(800e6, rate * 800e6),
            ratio=learnt(0.1, ratio * 0.1),
        )
        parts = [found.deviations.get(name, 0.0) for name in ("queue", "busy", "network", "duplication")]
        total = found.deviations.get("total", 0.0)
        assert max(parts) <= total * (1 + 1e-12)
        assert total <= math.fsum(parts) * (1 + 1e-12)


class TestThirdCampus:
    def test_the_raw_data_goes_there_and_the_result_from_there(self) -> None:
        found = cost(local=False, network=L2, onward=L3)
        assert found.network == pytest.approx(36.364 + 30.769, abs=1e-3)
        assert found.transfer_size == RAW

    def test_no_way_on_means_never(self) -> None:
        found = cost(local=False, network=L2, onward=NetworkTerms(None, 0.0, None))
        assert found.cost == INF


@pytest.mark.parametrize(
    ("site", "demand"),
    [
        ({"cores": 32}, Amounts(nodes=1, cores=33)),
        ({"memory": "64 GB"}, Amounts(nodes=1, memory=65 * 10**9)),
        ({"gpus": 0}, Amounts(nodes=1, gpus=1)),
        ({"storage": "1 TB"}, Amounts(nodes=1, storage=2 * 10**12)),
    ],
)
def test_a_site_that_never_has_enough_costs_infinity(site: dict[str, object], demand: Amounts) -> None:
    found = site_cost(
        a_site(MU, **site),
        local=True,
        work=Work.of(RAW, demand, CostModel()),
        legs=Legs(L2),
        functions=CostFunctions(),
    )
    assert (found.cost, bool(found.why)) == (INF, True)
    nothing_said = site_cost(
        a_site(), local=True, work=Work.of(RAW, demand, CostModel()), legs=Legs(L2), functions=CostFunctions()
    )
    assert nothing_said.cost < INF
