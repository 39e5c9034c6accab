"""Answers: what [CEEM] concludes from its table V, and what is said when less is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from adon.evaluations import builtins
from measurement.evaluation.answers import Answer, answers
from measurement.evaluation.document import Analysis, Answering, Conclusions, Document
from measurement.evaluation.results import Measured, Path
from measurement.evaluation.run import Run, Sample
from tests.measurement.evaluation.nectar import stated_paths

NECTAR = builtins.document("nectar").value()
TABLE = builtins.reference("nectar")


def answer(by: Analysis, run: Run, of: str | None = None) -> Answer:
    document: Document = replace(NECTAR, conclusions=Conclusions((Answering("speed-inside", by, of),)))
    (found,) = answers(document, run)
    return found


def facts(sentences: Sequence[str], *places: str) -> list[list[str]]:
    """The places and the amounts that each sentence names, in its order."""
    named = "|".join(map(re.escape, places or (*TABLE.nodes, *TABLE.clients)))
    return [re.findall(rf"\b(?:{named})\b|\b\d[\d.]*(?<!\.)(?: (?:Mbps|ms|%))?", line) for line in sentences]


def test_the_paper_s_answers() -> None:
    """[CEEM] IV-I and IV-J."""
    inside, user, time, paths = answers(NECTAR, TABLE)
    assert facts(inside.found) == [["2632.5", "5222.4 Mbps"], ["18.4", "3799.5 Mbps"], ["8", "10"]]
    # "three Melbourne-area nodes is around 20 Mbps, which is generally faster than the other nodes"
    assert facts(user.found) == [
        ["Local Machine", "MEB-np", "20.2 Mbps"],
        ["10 %", "MEB-qh2", "Monash01"],
        ["qld", "14.8 Mbps", "sa", "11.6 Mbps"],
    ]
    # "MEB-qh2 and qld varies significantly, while MEB-np is the most stable path for Canberra-based users"
    assert facts(time.found)[0][:5] == ["5", "20", "0.2", "MEB-qh2", "qld"]
    assert ["MEB-qh2", "qld", "0.5174"] in facts(time.found)
    assert ["Local Machine", "Local Machine", "MEB-np", "0.0119"] in facts(time.found)
    # "MEB-np, MEB-qh2, and sa is nearly two times faster than Monash01 and qld"; "sa is the remotest"
    assert facts(paths.found)[0] == ["sa", "MEB-np", "MEB-qh2", "1.85", "Monash01", "qld"]
    assert facts(paths.found)[1][:3] == ["MEB-qh2", "qld", "206.5"]
    assert facts(paths.found)[2] == ["Local Machine", "sa"]
    assert all(one.doubts for one in (inside, user, time, paths))


def test_each_answer_has_the_numbers_that_carry_it() -> None:
    inside, user, time, paths = answers(NECTAR, TABLE)
    assert [len(one.numbers) for one in (inside, user, time, paths)] == [15, 5, 20, 15]
    assert facts([inside.numbers[0].text]) == [["5212.1", "458.3"]]


def run(values: dict[Path, list[float | None]], **more: object) -> Run:
    samples: list[Sample] = []
    for path, its in values.items():
        for value in its:
            failure = "refused" if value is None else None
            samples.append(Sample(len(samples), *path, float(len(samples)), value, failure))
    given = {"samples": tuple(samples), "paths": (), "planned": len(samples), **more}
    return replace(TABLE, nodes=("a", "b"), clients=("u",), **given)


def test_a_nearest_node_that_is_not_certain_is_not_called_so() -> None:
    steady = {Path("u", "a"): [100e6, 101e6, 99e6], Path("u", "b"): [60e6, 61e6, 59e6]}
    found = answer(Analysis.SPEED_TO_CLIENT, run(steady), "u")
    assert facts(found.found, "u", "a", "b") == [["u", "a", "100 Mbps"], ["b", "60 Mbps"]]
    assert found.doubts == ()
    assert facts([found.numbers[0].text])[0][-2:] == ["95 %", "3"]
    noisy = {Path("u", "a"): [100e6, 10e6, 190e6], Path("u", "b"): [60e6, 5e6, 115e6]}
    found = answer(Analysis.SPEED_TO_CLIENT, run(noisy), "u")
    assert facts(found.found, "u", "a", "b")[-1] == ["a", "b"]


def test_what_failed_or_was_never_done_is_said() -> None:
    found = answer(
        Analysis.STABILITY,
        run({Path("u", "a"): [1e6, None, 2e6], Path("u", "b"): [None]}, planned=9, pilot=True),
    )
    assert facts(found.found)[0][:2] == ["1", "1"]
    pilot, *doubts = found.doubts
    assert "pilot" in pilot
    assert facts(doubts, "u", "a", "b") == [["4", "9"], ["u", "a", "1", "u", "b", "1"]]


@pytest.mark.parametrize("by", Analysis)
def test_of_nothing_nothing_is_said(by: Analysis) -> None:
    found = answer(by, run({Path("u", "a"): [None]}), "u")
    assert (len(found.found), found.numbers) == (1, ())


def test_less_delay_is_better() -> None:
    delays = run(
        {
            Path("u", "a"): [0.02, 0.021],
            Path("u", "b"): [0.005, 0.006],
            Path("a", "a"): [0.001, 0.001],
            Path("b", "b"): [0.003, 0.003],
        },
        unit="s",
    )
    near = answer(Analysis.SPEED_TO_CLIENT, delays, "u")
    assert facts(near.found, "u", "a", "b")[0] == ["u", "b", "5.5 ms"]
    spread = answer(Analysis.SPREAD_OVER_PATHS, delays)
    assert facts(spread.found, "a", "b") == [["a", "3.00", "b"]]


def test_a_path_without_a_deviation_is_steady_and_one_with_one_value_is_not_known() -> None:
    found = answer(Analysis.STABILITY, run({Path("u", "a"): [1e6, 1e6], Path("u", "b"): [1e6]}))
    assert facts(found.found, "u", "a", "b") == [["0.2", "1"], ["u", "a", "0.0000"]]
    assert len(found.doubts) == 1
    assert Measured(1.0, 0.0, 1).cov is None


def test_at_the_bound_a_path_is_variable() -> None:
    stated = stated_paths({Path("u", "a"): Measured(10e6, 2e6, 9), Path("u", "b"): Measured(10e6, 1.99e6, 9)})
    found = answer(Analysis.STABILITY, replace(run({}), paths=stated))
    assert facts(found.found, "u", "a", "b")[0] == ["1", "2", "0.2", "u", "a"]


@pytest.mark.parametrize(("mean", "alike"), [(90e6, True), (89e6, False)])
def test_nodes_are_alike_within_a_share_of_the_best(mean: float, alike: bool) -> None:
    stated = stated_paths({Path("u", "a"): Measured(100e6, 1e6, 9), Path("u", "b"): Measured(mean, 1e6, 9)})
    found = answer(Analysis.SPEED_TO_CLIENT, replace(run({}), paths=stated), "u").found
    assert (["10 %", "b"] in facts(found, "u", "a", "b")) is alike
    assert (["b", "89 Mbps"] in facts(found, "u", "a", "b")) is not alike


def test_only_failures_of_paths_that_count_are_doubts() -> None:
    made = run({Path("u", "a"): [1e6, 1e6], Path("a", "b"): [1e6, None, 1e6]})
    assert answer(Analysis.SPEED_TO_CLIENT, made, "u").doubts == ()
    (doubt,) = answer(Analysis.SPEED_TO_CLIENT, made, "b").doubts
    assert facts([doubt], "a", "b") == [["a", "b", "1"]]
