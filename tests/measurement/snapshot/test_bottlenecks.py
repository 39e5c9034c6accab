"""What paths share, found from trials alone, beside networks that are known."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from measurement.health.model import Pair
from measurement.snapshot.bottlenecks import DROP, Limit, Shared, Tried, infer
from measurement.snapshot.concurrent import PAIR, Trial, leaves, plan
from measurement.snapshot.racks import Level, tree
from tests.measurement.snapshot.trees import Network, made
from tests.support.refusals import refused


def found(network: Network, width: int = PAIR, noise: float = 0.0, seed: int = 0) -> Shared:
    """Everything measured: rates alone, hops, trials."""
    chance = random.Random(seed)

    def seen(rates: dict[Pair, float]) -> dict[Pair, float]:
        return {pair: rate * (1 + chance.uniform(-noise, noise)) for pair, rate in rates.items()}

    alone = seen(network.alone())
    trials = plan(tree(network.names, network.hops()), alone, width)
    return infer(alone, [Tried(trial, seen(network.together(trial.paths))) for trial in trials])


def rack(*sizes: int) -> dict[str, tuple[str, str, str]]:
    """Racks of one subtree each with so many machines of one instance."""
    return {
        f"r{r}m{m}": (f"s{r}", f"r{r}", f"r{r}m{m} card") for r, size in enumerate(sizes) for m in range(size)
    }


class TestByHand:
    def test_the_papers_two_clouds_are_hoses(self) -> None:
        """4.3: connections from one source always interfere, those of four endpoints never."""
        names = rack(3, 3)
        shared = found(Network(names, dict.fromkeys(names, 300e6)))
        assert shared.hoses == pytest.approx(dict.fromkeys(names, 300e6))
        assert shared.constant == {*names}
        assert shared.limits == ()

    def test_a_rack_whose_way_out_is_narrow(self) -> None:
        shared = found(Network(rack(3, 3), {"r0": 800e6}))
        assert shared.limits == (Limit(frozenset({"r0m0", "r0m1", "r0m2"}), pytest.approx(800e6)),)
        # Within the rack each has its 1 Gbit/s twice; a path's own limit is no hose.
        assert shared.hoses == {}

    def test_a_rack_of_hoses_is_not_blamed_for_them(self) -> None:
        names = rack(3, 3)
        shared = found(Network(names, {**dict.fromkeys(names, 500e6), "r0": 800e6}))
        assert [limit.rate for limit in shared.limits] == pytest.approx([800e6])
        assert shared.hoses == pytest.approx(dict.fromkeys(names, 500e6))

    def test_a_link_that_two_do_not_fill_is_found_by_more(self) -> None:
        network = Network(rack(4, 4), {**dict.fromkeys(rack(4, 4), 400e6), "r0": 1100e6})
        assert found(network).limits == ()
        assert [limit.rate for limit in found(network, width=4).limits] == pytest.approx([1100e6])

    def test_a_subtrees_way_out(self) -> None:
        names = {
            f"s{s}r{r}m{m}": (f"s{s}", f"s{s}r{r}", f"s{s}r{r}m{m}")
            for s in (0, 1)
            for r in (0, 1)
            for m in (0, 1)
        }
        shared = found(Network(names, {"s0": 700e6}))
        assert [(len(limit.group), limit.rate) for limit in shared.limits] == [(4, pytest.approx(700e6))]

    def test_instances_of_one_machine_share_its_card(self) -> None:
        names = {**rack(2, 2), "r0m0b": ("s0", "r0", "r0m0 card")}
        shared = found(Network(names, {"r0m0 card": 600e6}))
        assert shared.limits == (Limit(frozenset({"r0m0", "r0m0b"}), pytest.approx(600e6)),)

    def test_a_hose_wider_than_one_connection_is_one_but_not_the_model(self) -> None:
        """Alone 1 Gbit/s by a limit of its own, together 1.2: a hose, whose sum did not stay the same."""
        shared = found(Network(rack(3, 3), {"r0m0": 1200e6}))
        assert shared.hoses == pytest.approx({"r0m0": 1200e6})
        assert shared.constant == frozenset()

    def test_bottlenecks_are_all_paths_over_the_link(self) -> None:
        network = Network(rack(2, 2), {"r0": 800e6})
        (bottleneck,) = found(network).bottlenecks(network.pairs)
        group = network.group("r0")
        assert bottleneck.pairs == {pair for pair in network.pairs if leaves(group, pair)}
        assert found(network).bottlenecks([Pair("r0m0", "r1m0")]) == ()


@pytest.mark.parametrize("width", [PAIR, 8])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_what_is_called_narrow_is_and_has_that_rate(width: int, noise: float) -> None:
    """No link is made up: out of each group that is named only so much comes, whatever is tried.

    Of some groups it cannot be told: all ways out of a rack lead over a subtree's link, and nobody else is
    there to fill that.  That is less than one in a hundred.
    """
    right = total = 0
    for seed in range(40):
        network = made(seed)
        shared = found(network, width, noise=noise, seed=seed)
        for limit in (*shared.limits, *(Limit(frozenset({one}), rate) for one, rate in shared.hoses.items())):
            out = [pair for pair in network.pairs if leaves(limit.group, pair) and _beyond(network, pair)]
            most = sum(network.together(out).values())
            right += abs(limit.rate - most) <= (DROP + 3 * noise) * most
            total += 1
    assert total > 400
    assert right / total >= 0.99


def _beyond(network: Network, pair: Pair) -> bool:
    return network.at[pair.source] != network.at[pair.destination]


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.99), (0.03, 0.97)])
def test_which_pairs_of_paths_interfere_is_told_of_most(noise: float, least: float) -> None:
    """All pairs of paths of twelve networks; truth by max-min shares, ours by the model that was inferred."""
    right = total = 0
    for seed in range(12):
        network = made(seed, machines=2)
        model = _model(network, found(network, noise=noise, seed=seed))
        alone = network.alone()
        pairs = [pair for pair in network.pairs if _beyond(network, pair)]
        chance = random.Random(seed)
        for one, other in chance.sample([*combinations(pairs, 2)], 300):
            told = _interfere(alone, model.together([one, other]))
            right += told == _interfere(alone, network.together([one, other]))
            total += 1
    assert right / total >= least


def _interfere(alone: dict[Pair, float], together: dict[Pair, float]) -> bool:
    return any(rate < (1 - DROP) * alone[pair] for pair, rate in together.items())


class _Model:
    """The network as a snapshot tells placement of it."""

    def __init__(self, network: Network, shared: Shared) -> None:
        self.alone = network.alone()
        self.links = [*((frozenset({one}), rate) for one, rate in shared.hoses.items())]
        self.links += [(limit.group, limit.rate) for limit in shared.limits]
        self.network = network

    def together(self, paths: list[Pair]) -> dict[Pair, float]:
        from adon.fluid import Demand, max_min_rates

        capacities = dict(self.links)
        demands = [
            Demand(
                tuple(
                    group for group, _ in self.links if leaves(group, path) and _beyond(self.network, path)
                ),
                limit=self.alone[path],
            )
            for path in paths
        ]
        return dict(zip(paths, max_min_rates(capacities, demands), strict=True))


def _model(network: Network, shared: Shared) -> _Model:
    return _Model(network, shared)


def test_a_trial_that_failed_says_nothing() -> None:
    network = Network(rack(2, 2), {"r0": 800e6})
    alone = network.alone()
    trials = plan(tree(network.names, network.hops()), alone)
    assert infer(alone, [Tried(trial, {}) for trial in trials]) == Shared({}, frozenset(), ())
    one = [Tried(trial, {trial.paths[0]: 1.0}) for trial in trials]
    assert infer(alone, one) == Shared({}, frozenset(), ())


def test_the_order_of_trials_does_not_matter() -> None:
    network = made(5)
    alone = network.alone()
    tried = [Tried(t, network.together(t.paths)) for t in plan(tree(network.names, network.hops()), alone)]
    shared = infer(alone, tried)
    assert infer(alone, [*reversed(tried)]) == shared


def test_errors_are_named() -> None:
    network = Network(rack(2, 2), {"r0": 800e6})
    (trial, *_) = [
        t for t in plan(tree(network.names, network.hops()), network.alone()) if t.level is Level.RACK
    ]
    with refused(ValueError, "alone"):
        infer({}, [Tried(trial, network.together(trial.paths))])
    with refused(ValueError, "drop"):
        infer({}, [], drop=1.0)


def tried(group: str, level: Level | None, **together: float) -> Tried:
    """A trial by hand: paths such as ``a_x``, and what each had."""
    rates = {Pair(*name.split("_")): rate for name, rate in together.items()}
    return Tried(Trial(level, frozenset(group), tuple(rates)), rates)


@pytest.mark.parametrize(("share", "narrow"), [(0.50, True), (0.84, True), (0.86, False), (0.95, False)])
def test_less_by_a_little_is_no_limit(share: float, narrow: bool) -> None:
    alone = {Pair("a", "x"): 100.0, Pair("b", "y"): 100.0}
    limits = infer(alone, [tried("ab", Level.RACK, a_x=100 * share, b_y=100 * share)]).limits
    assert [limit.rate for limit in limits] == ([pytest.approx(200 * share)] if narrow else [])


def test_a_group_is_not_blamed_for_the_limit_of_a_smaller_one_within() -> None:
    """A and b share their machine's card; with c beside them the rack lets everything through."""
    alone = {Pair("a", "x"): 600.0, Pair("b", "y"): 600.0, Pair("c", "z"): 400.0}
    card = tried("ab", Level.MACHINE, a_x=300.0, b_y=300.0)
    rack = tried("abc", Level.RACK, a_x=300.0, b_y=300.0, c_z=400.0)
    assert infer(alone, [card, rack]).limits == (Limit(frozenset("ab"), 600.0),)


def test_a_source_keeps_its_hose_where_larger_limits_do_not_explain_it() -> None:
    """Of a's paths one leaves the subtree, one the rack: both links would let 500 through, and a has 350."""
    alone = dict.fromkeys(
        [Pair("a", "x"), Pair("a", "c"), Pair("b", "c"), Pair("b", "y"), Pair("c", "x")], 500.0
    )
    rack = tried("ab", Level.RACK, a_c=250.0, b_y=250.0)
    subtree = tried("abc", Level.SUBTREE, b_y=150.0, c_x=150.0)
    assert infer(alone, [tried("a", None, a_x=175.0, a_c=175.0), rack, subtree]).hoses == {"a": 350.0}
    assert infer(alone, [tried("a", None, a_x=230.0, a_c=250.0), rack, subtree]).hoses == {}


def test_what_counts_as_less_can_be_said() -> None:
    alone = {Pair("a", "x"): 100.0, Pair("b", "y"): 100.0}
    trial = tried("ab", Level.RACK, a_x=92.0, b_y=92.0)
    assert infer(alone, [trial]).limits == ()
    assert infer(alone, [trial], drop=0.05).limits == (Limit(frozenset("ab"), 184.0),)
