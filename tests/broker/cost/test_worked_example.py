"""Every number of the worked example in docs/cost-model.md, from the thesis's 5.2 and 4.3."""

from __future__ import annotations

import math
import re
from functools import reduce
from pathlib import Path

import pytest

from adon.broker.cost.functions import CostFunctions
from adon.broker.cost.site import Legs, Work, site_cost
from adon.broker.cost.spread import of_rate
from adon.broker.cost.terms import NetworkTerms
from adon.broker.decision import SiteCost
from adon.broker.forecasting.interval import forecast
from adon.broker.optimisation.location import NEAR, choose
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.offer import Offer
from adon.config.compute import ComputeSite
from adon.running_statistics import NONE, RunningStatistics
from adon.templates_catalog.model import CostModel

DOC = (Path(__file__).parents[3] / "docs" / "cost-model.md").read_text()
EXAMPLE = DOC.partition("## A worked example")[2].partition("\n## ")[0]
RAW = 25 * 10**9
SEEN = reduce(RunningStatistics.add, [5.5e9, 4.8e9, 5.5e9, 4.8e9], NONE)


def offer(name: str, rate: str, wait: str, deviation: str = "0 s") -> Offer:
    site = {
        "site": name,
        "worker_nodes": 64,
        "throughput_per_node": rate,
        "queue_wait": wait,
        "queue_wait_deviation": deviation,
    }
    return Offer.from_configuration(f"{name}-hpc", ComputeSite.model_validate(site))


def cost(site: Offer, rate: float, relative: float = 0.0, **model: object) -> SiteCost:
    work = Work.of(RAW, Amounts(nodes=4), CostModel.model_validate({"result_ratio": 0.1, **model}))
    legs = Legs(NetworkTerms("al2s" if rate > 1e9 else "internet", 10e9, rate, relative))
    return site_cost(site, local=site.campus == "mu", work=work, legs=legs, functions=CostFunctions())


MU, OSU = offer("mu", "800 Mbps", "20 s"), offer("osu", "3.2 Gbps", "5 s")
CELLS = [(MU, 5.5e9), (OSU, 5.5e9), (MU, 650e6), (OSU, 650e6)]


def row(name: str) -> list[str]:
    """The cells of a row of the example's first table that has this name."""
    found = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", EXAMPLE, re.MULTILINE)
    assert found is not None, name
    return [cell.strip(" *") for cell in found[1].split("|")]


def seconds(cell: str) -> float:
    found = re.search(r"([\d.]+) s$", cell)
    assert found is not None, cell
    return float(found[1])


@pytest.mark.parametrize("column", range(4))
def test_the_first_table(column: int) -> None:
    found = cost(*CELLS[column])
    assert seconds(row("T_q")[column]) == found.queue
    assert seconds(row("S_c / (N · Γ_c)")[column]) == found.compute - found.queue
    assert row("S_t")[column] == ("2.5 GB" if found.local else "25 GB")
    assert found.transfer_size == (RAW // 10 if found.local else RAW)
    assert seconds(row("T_n")[column]) == pytest.approx(found.network, abs=5e-4)
    assert seconds(row("**T_t**")[column]) == pytest.approx(found.total, abs=5e-4)


def test_which_site_wins() -> None:
    assert cost(OSU, 5.5e9).cost < cost(MU, 5.5e9).cost
    assert 2.8 < cost(OSU, 650e6).cost / cost(MU, 650e6).cost < 3.0, "a factor of about three"
    home = cost(OSU, 5.5e9, local_copy=True).duplication
    assert f"C_D = {home:.3f} s" in EXAMPLE


def test_the_spreads() -> None:
    relative = of_rate((), SEEN).share
    assert f"the COV is {100 * relative:.2f} %" in EXAMPLE
    assert f"deviation {SEEN.deviation / 1e9:.3f} Gbps" in EXAMPLE
    local = cost(offer("mu", "800 Mbps", "20 s", "3 s"), 5.5e9, relative)
    remote = cost(OSU, 5.5e9, relative)
    for found in (local, remote):
        assert f"= {found.deviations['network']:.3f} s" in EXAMPLE
        assert f"{found.total:.3f} ± {found.deviations['total']:.3f} s" in EXAMPLE
    joint = math.hypot(local.deviations["cost"], remote.deviations["cost"])
    assert f"= {joint:.3f} s is {NEAR * joint:.2f} s" in EXAMPLE
    taken = choose([local, remote], {}).taken
    assert taken is remote


def test_the_forecast() -> None:
    found = forecast(RAW, NetworkTerms("al2s", 10e9, 5.5e9, of_rate((), SEEN).share), ())
    assert found is not None
    assert f"forecast to take {found.expected:.3f} s" in EXAMPLE
    assert f"between {found.low:.2f} and {found.high:.2f} s" in EXAMPLE.replace("\n", " ")
