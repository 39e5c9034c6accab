"""Answers: what [CEEM] concludes from its table V, what is said when less is known, and table V itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest

from adon.evaluation_file import BUILTIN
from measurement.ceem.answers import Answer, answer_questions, result_table
from measurement.ceem.run import EvaluationRun, PathStatistics, Sample
from measurement.ceem.template import AnalysisKind, AnswerRule, Conclusions, PlacePath
from tests.measurement.ceem.nectar import stated_paths

NECTAR = BUILTIN.load("nectar")
TABLE = BUILTIN.reference("nectar")


def answer(by: AnalysisKind, run: EvaluationRun, of: str | None = None) -> Answer:
    conclusions = Conclusions(answers=(AnswerRule(question="speed-inside", by=by, of=of),))
    (found,) = answer_questions(NECTAR.model_copy(update={"conclusions": conclusions}), run)
    return found


def facts(sentences: Sequence[str], *places: str) -> list[list[str]]:
    """The places and the amounts that each sentence names, in its order."""
    named = "|".join(map(re.escape, places or (*TABLE.nodes, *TABLE.clients)))
    return [re.findall(rf"\b(?:{named})\b|\b\d[\d.]*(?<!\.)(?: (?:Mbps|ms|%))?", line) for line in sentences]


def test_reference_gives_the_answers_of_the_paper() -> None:
    """[CEEM] IV-I and IV-J."""
    inside, user, time, paths = answer_questions(NECTAR, TABLE)
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


def test_answer_has_its_numbers() -> None:
    inside, user, time, paths = answer_questions(NECTAR, TABLE)
    assert [len(one.numbers) for one in (inside, user, time, paths)] == [15, 5, 20, 15]
    assert facts([inside.numbers[0].text]) == [["5212.1", "458.3"]]


def run(values: dict[PlacePath, list[float | None]], **more: object) -> EvaluationRun:
    samples: list[Sample] = []
    for path, its in values.items():
        for value in its:
            failure = "refused" if value is None else None
            samples.append(Sample(len(samples), *path, float(len(samples)), value, failure))
    given = {"samples": tuple(samples), "paths": (), "planned": len(samples), **more}
    return replace(TABLE, nodes=("a", "b"), clients=("u",), **given)


def test_uncertain_nearest_node_is_reported() -> None:
    steady = {PlacePath("u", "a"): [100e6, 101e6, 99e6], PlacePath("u", "b"): [60e6, 61e6, 59e6]}
    found = answer("speed-to-client", run(steady), "u")
    assert facts(found.found, "u", "a", "b") == [["u", "a", "100 Mbps"], ["b", "60 Mbps"]]
    assert found.doubts == ()
    assert facts([found.numbers[0].text])[0][-2:] == ["95 %", "3"]
    noisy = {PlacePath("u", "a"): [100e6, 10e6, 190e6], PlacePath("u", "b"): [60e6, 5e6, 115e6]}
    found = answer("speed-to-client", run(noisy), "u")
    assert facts(found.found, "u", "a", "b")[-1] == ["a", "b"]


def test_failed_and_missing_tests_are_doubts() -> None:
    found = answer(
        "stability",
        run({PlacePath("u", "a"): [1e6, None, 2e6], PlacePath("u", "b"): [None]}, planned=9, pilot=True),
    )
    assert facts(found.found)[0][:2] == ["1", "1"]
    pilot, *doubts = found.doubts
    assert "pilot" in pilot
    assert facts(doubts, "u", "a", "b") == [["4", "9"], ["u", "a", "1", "u", "b", "1"]]


@pytest.mark.parametrize("by", get_args(AnalysisKind))
def test_run_without_values_gives_no_numbers(by: AnalysisKind) -> None:
    found = answer(by, run({PlacePath("u", "a"): [None]}), "u")
    assert (len(found.found), found.numbers) == (1, ())


def test_smaller_delay_is_better() -> None:
    delays = run(
        {
            PlacePath("u", "a"): [0.02, 0.021],
            PlacePath("u", "b"): [0.005, 0.006],
            PlacePath("a", "a"): [0.001, 0.001],
            PlacePath("b", "b"): [0.003, 0.003],
        },
        unit="s",
    )
    near = answer("speed-to-client", delays, "u")
    assert facts(near.found, "u", "a", "b")[0] == ["u", "b", "5.5 ms"]
    spread = answer("spread-over-paths", delays)
    assert facts(spread.found, "a", "b") == [["a", "3.00", "b"]]


def test_single_value_has_no_cov() -> None:
    found = answer("stability", run({PlacePath("u", "a"): [1e6, 1e6], PlacePath("u", "b"): [1e6]}))
    assert facts(found.found, "u", "a", "b") == [["0.2", "1"], ["u", "a", "0.0000"]]
    assert len(found.doubts) == 1
    assert PathStatistics(1.0, 0.0, 1).cov is None


def test_path_at_the_bound_is_variable() -> None:
    stated = stated_paths(
        {
            PlacePath("u", "a"): PathStatistics(10e6, 2e6, 9),
            PlacePath("u", "b"): PathStatistics(10e6, 1.99e6, 9),
        }
    )
    found = answer("stability", replace(run({}), paths=stated))
    assert facts(found.found, "u", "a", "b")[0] == ["1", "2", "0.2", "u", "a"]


@pytest.mark.parametrize(("mean", "alike"), [(90e6, True), (89e6, False)])
def test_nodes_within_a_share_of_the_best_are_similar(mean: float, alike: bool) -> None:
    stated = stated_paths(
        {
            PlacePath("u", "a"): PathStatistics(100e6, 1e6, 9),
            PlacePath("u", "b"): PathStatistics(mean, 1e6, 9),
        }
    )
    found = answer("speed-to-client", replace(run({}), paths=stated), "u").found
    assert (["10 %", "b"] in facts(found, "u", "a", "b")) is alike
    assert (["b", "89 Mbps"] in facts(found, "u", "a", "b")) is not alike


def test_failures_of_other_paths_are_no_doubts() -> None:
    made = run({PlacePath("u", "a"): [1e6, 1e6], PlacePath("a", "b"): [1e6, None, 1e6]})
    assert answer("speed-to-client", made, "u").doubts == ()
    (doubt,) = answer("speed-to-client", made, "b").doubts
    assert facts([doubt], "a", "b") == [["a", "b", "1"]]


# Copied from the paper's page, with its own digits.
PRINTED = """
Local Machine | 20.2 (0.24) | 19.9 (1.23) | 19 (1.62) | 14.8 (1.11) | 11.6 (0.92)
MEB-np | 5212.1 (458.3) | 3799.5 (832.6) | 2938.5 (302.2) | 364.8 (41.97) | 98.8 (9.61)
MEB-qh2 | | 4496.8 (783.1) | 1743.9 (517.4) | 18.4 (9.52) | 98.5 (7.05)
Monash01 | | | 2750.7 (138.8) | 215.5 (95) | 93.7 (6.41)
qld | | | | 2632.5 (160.4) | 229.5 (58.2)
sa | | | | | 5222.4 (417.8)
"""


def test_table_v_is_that_of_the_paper() -> None:
    expected = [[cell.strip() for cell in line.split("|")] for line in PRINTED.strip().splitlines()]
    assert result_table(TABLE) == expected


def test_nearest_node_of_values_without_deviation_is_certain() -> None:
    steady = run({PlacePath("u", "a"): [2e6, 2e6], PlacePath("u", "b"): [1e6, 1e6]})
    equal = run({PlacePath("u", "a"): [1e6, 1e6], PlacePath("u", "b"): [1e6, 1e6]})
    assert len(answer("speed-to-client", steady, "u").found) == 2
    assert facts(answer("speed-to-client", equal, "u").found, "u", "a", "b")[-1] == ["a", "b"]
