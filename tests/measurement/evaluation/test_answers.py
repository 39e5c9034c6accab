"""Answers: what [CEEM] concludes from its table V, and what is said when less is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.evaluations import builtins
from measurement.evaluation.answers import Answer, answers
from measurement.evaluation.document import Analysis, Answering, Conclusions, Document
from measurement.evaluation.results import Measured, Path
from measurement.evaluation.run import Run, Sample

NECTAR = builtins.document("nectar").value()
TABLE = builtins.reference("nectar")


def answer(by: Analysis, run: Run, of: str | None = None) -> Answer:
    document: Document = replace(NECTAR, conclusions=Conclusions((Answering("speed-inside", by, of),)))
    (found,) = answers(document, run)
    return found


def test_the_paper_s_answers() -> None:
    """[CEEM] IV-I and IV-J."""
    inside, user, time, paths = answers(NECTAR, TABLE)
    assert inside.found == (
        "Within a node it is 2632.5 to 5222.4 Mbit/s.",
        "Between two nodes it is 18.4 to 3799.5 Mbit/s.",
        "8 of 10 paths between nodes are slower than the slowest node is within itself.",
    )
    # "three Melbourne-area nodes is around 20 Mbit/s, which is generally faster than the other nodes"
    assert user.found == (
        "The nearest node to Local Machine is MEB-np with 20.2 Mbit/s.",
        "Within 10 % of it are MEB-qh2 and Monash01.",
        "Farther are qld (14.8 Mbit/s) and sa (11.6 Mbit/s).",
    )
    # "MEB-qh2 and qld varies significantly, while MEB-np is the most stable path for Canberra-based users"
    assert time.found[0].startswith("5 of 20 paths vary much over time (COV from 0.2): MEB-qh2 - qld,")
    assert "The most variable is MEB-qh2 - qld with COV 0.5174." in time.found
    assert "From Local Machine the most stable is Local Machine - MEB-np with COV 0.0119." in time.found
    # "MEB-np, MEB-qh2, and sa is nearly two times faster than Monash01 and qld"; "sa is the remotest"
    assert (
        paths.found[0]
        == "Within themselves sa, MEB-np and MEB-qh2 are 1.85 times as fast as Monash01 and qld."
    )
    assert paths.found[1].startswith("The farthest two nodes are MEB-qh2 - qld, at 206.5 times")
    assert paths.found[2] == "The remotest node from Local Machine is sa."
    assert all("does not say how many" in one.doubts[0] for one in (inside, user, time, paths))


def test_each_answer_has_the_numbers_that_carry_it() -> None:
    inside, user, time, paths = answers(NECTAR, TABLE)
    assert [len(one.numbers) for one in (inside, user, time, paths)] == [15, 5, 20, 15]
    assert inside.numbers[0].text == "5212.1 (458.3) Mbit/s"


def run(values: dict[Path, list[float | None]], **more: object) -> Run:
    samples: list[Sample] = []
    for path, its in values.items():
        for value in its:
            failure = "refused" if value is None else ""
            samples.append(Sample(len(samples), path, float(len(samples)), value, failure))
    given = {"samples": tuple(samples), "stated": {}, "planned": len(samples), **more}
    return replace(TABLE, nodes=("a", "b"), clients=("u",), **given)


def test_a_nearest_node_that_is_not_certain_is_not_called_so() -> None:
    steady = {Path("u", "a"): [100e6, 101e6, 99e6], Path("u", "b"): [60e6, 61e6, 59e6]}
    found = answer(Analysis.SPEED_TO_CLIENT, run(steady), "u")
    assert found.found == ("The nearest node to u is a with 100 Mbit/s.", "Farther are b (60 Mbit/s).")
    assert found.doubts == ()
    assert "at 95 %, n = 3" in found.numbers[0].text
    noisy = {Path("u", "a"): [100e6, 10e6, 190e6], Path("u", "b"): [60e6, 5e6, 115e6]}
    found = answer(Analysis.SPEED_TO_CLIENT, run(noisy), "u")
    assert found.found[-1] == "That a is nearer than b is not certain."


def test_what_failed_or_was_never_done_is_said() -> None:
    found = answer(
        Analysis.STABILITY,
        run({Path("u", "a"): [1e6, None, 2e6], Path("u", "b"): [None]}, planned=9, pilot=True),
    )
    assert found.found[0].startswith("1 of 1 paths vary much")
    assert found.doubts == (
        "This was a pilot: its few short tests show that the design can be run, no more.",
        "4 of 9 tests were made.",
        "Tests failed, and are in no mean: u - a (1), u - b (1).",
    )


@pytest.mark.parametrize("by", Analysis)
def test_of_nothing_nothing_is_said(by: Analysis) -> None:
    found = answer(by, run({Path("u", "a"): [None]}), "u")
    assert found.found == ("Nothing was measured that could answer it.",)
    assert found.numbers == ()


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
    assert near.found[0] == "The nearest node to u is b with 5.5 ms."
    spread = answer(Analysis.SPREAD_OVER_PATHS, delays)
    assert spread.found == ("Within themselves a are 3.00 times as short as b.",)


def test_a_path_without_a_deviation_is_steady_and_one_with_one_value_is_not_known() -> None:
    found = answer(Analysis.STABILITY, run({Path("u", "a"): [1e6, 1e6], Path("u", "b"): [1e6]}))
    assert found.found == (
        "No path varies much over time: COV is below 0.2 on all 1.",
        "The most stable is u - a with COV 0.0000.",
    )
    assert found.doubts == ("Of some paths there is one value only: how much it varies is not known.",)
    assert Measured(1.0, 0.0, 1).cov is None


def test_at_the_bound_a_path_is_variable() -> None:
    stated = {Path("u", "a"): Measured(10e6, 2e6, 9), Path("u", "b"): Measured(10e6, 1.99e6, 9)}
    found = answer(Analysis.STABILITY, replace(run({}), stated=stated))
    assert found.found[0] == "1 of 2 paths vary much over time (COV from 0.2): u - a."


@pytest.mark.parametrize(("mean", "alike"), [(90e6, True), (89e6, False)])
def test_nodes_are_alike_within_a_share_of_the_best(mean: float, alike: bool) -> None:
    stated = {Path("u", "a"): Measured(100e6, 1e6, 9), Path("u", "b"): Measured(mean, 1e6, 9)}
    found = answer(Analysis.SPEED_TO_CLIENT, replace(run({}), stated=stated), "u").found
    assert ("Within 10 % of it are b." in found) is alike
    assert any(one.startswith("Farther are b") for one in found) is not alike


def test_only_failures_of_paths_that_count_are_doubts() -> None:
    made = run({Path("u", "a"): [1e6, 1e6], Path("a", "b"): [1e6, None, 1e6]})
    assert answer(Analysis.SPEED_TO_CLIENT, made, "u").doubts == ()
    (doubt,) = answer(Analysis.SPEED_TO_CLIENT, made, "b").doubts
    assert doubt == "Tests failed, and are in no mean: a - b (1)."
