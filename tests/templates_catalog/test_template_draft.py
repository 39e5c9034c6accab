"""Surveys become templates: those of the five known applications rank paths as their templates do."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import Template, normalise_weights, scoring_tables
from adon.templates_catalog.template_draft import (
    Answers,
    draft_template,
    find_objection,
    questions,
    rank_weights,
    read_typed,
)
from adon.templates_catalog.template_text import write_template
from measurement.model import Metric

SURVEYS = Path(__file__).parents[1] / "data" / "surveys"
BUILTIN = {template.name: template for template in builtin_templates()}
PLAIN = {"application": "x", "kind": "transfer", "rate": "700 Mbps", "counts": ["speed"]}


def answers(**changes: Any) -> Answers:
    return yamlfile.check_model({**PLAIN, **changes}, Answers)


def survey(name: str) -> Answers:
    return yamlfile.load_model(SURVEYS / f"{name}.yaml", Answers)


def written(template: Template) -> str:
    return write_template(template.model_dump(mode="json", by_alias=True, exclude_unset=True))


def paths(template: Template) -> list[dict[Metric, float]]:
    """Paths around what a template asks for: each metric well inside, at, and beyond its bound."""
    around: dict[Metric, tuple[float, ...]] = {}
    for metric in Metric:
        bound = template.qspec.bound(metric)
        if bound is None:
            around[metric] = ({Metric.THROUGHPUT: 1e9, Metric.LOSS: 0.0}.get(metric, 0.02),)
        elif metric.higher_is_better:
            around[metric] = (bound * 0.6, bound * 1.05, bound * 1.8)
        else:
            around[metric] = (bound * 0.1, bound * 0.7, bound * 1.5)
    return [dict(zip(around, values, strict=True)) for values in itertools.product(*around.values())]


def qualified(template: Template, path: dict[Metric, float]) -> bool:
    return all(template.qspec.met_by(metric, value) for metric, value in path.items())


def q(template: Template, path: dict[Metric, float], best: dict[Metric, float]) -> float:
    tables = scoring_tables(template, template.qspec, best)
    return sum(w * tables[m].score(path[m]) for m, w in normalise_weights(template.weights).items())


@pytest.mark.parametrize("name", BUILTIN)
def test_a_known_application_s_survey_leads_to_a_template_that_ranks_as_its_own(name: str) -> None:
    drafted, known = draft_template(survey(name)), BUILTIN[name]
    candidates = paths(known)
    best = {m: min(path[m] for path in candidates) for m in Metric if not m.higher_is_better}
    ours = [path for path in candidates if qualified(drafted, path)]
    assert ours == [path for path in candidates if qualified(known, path)], "the same paths qualify"
    assert ours
    agree = differ = 0
    for one, other in itertools.combinations(ours, 2):
        theirs = q(known, one, best) - q(known, other, best)
        mine = q(drafted, one, best) - q(drafted, other, best)
        if abs(theirs) < known.selection.switch_margin:  # no flow would move for it
            continue
        agree, differ = agree + (theirs * mine > 0), differ + (theirs * mine <= 0)
    assert agree > 0
    assert differ == 0
    assert q(drafted, max(ours, key=lambda p: q(known, p, best)), best) == pytest.approx(
        max(q(drafted, path, best) for path in ours)
    )


@pytest.mark.parametrize("name", BUILTIN)
def test_what_else_a_known_survey_leads_to(name: str) -> None:
    drafted, known = draft_template(survey(name)), BUILTIN[name]
    assert (drafted.priority, drafted.protocol, drafted.streams) == (
        known.priority,
        known.protocol,
        known.streams,
    )
    assert drafted.match.ports == known.match.ports
    assert drafted.match.dscp == known.match.dscp
    assert drafted.qspec.metrics == known.qspec.metrics
    assert drafted.qspec.streams == known.qspec.streams
    assert drafted.selection == known.selection
    assert drafted.rspec == known.rspec
    assert drafted.cost == known.cost
    assert set(drafted.weights) == set(known.weights)


@pytest.mark.parametrize("name", BUILTIN)
def test_the_notes_of_a_draft_say_why_its_numbers_are_what_they_are(name: str) -> None:
    found = draft_template(survey(name))
    _, *reasons = found.notes.splitlines()
    assert {"qspec.throughput", "weights", "priority"} <= {reason.partition(": ")[0] for reason in reasons}
    assert yamlfile.parse_model(written(found), Template) == found


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (["speed"], {"throughput": 1.0}),
        (["speed", "no loss"], {"throughput": 0.75, "loss": 0.25}),
        ([["speed", "no loss"]], {"throughput": 0.5, "loss": 0.5}),
        (["no loss", ["speed", "steadiness"]], {"loss": 0.61, "throughput": 0.19, "jitter": 0.19}),
    ],
)
def test_a_ranking_becomes_weights(counts: list[Any], expected: dict[str, float]) -> None:
    assert rank_weights(answers(counts=counts, loss="little", steadiness="steady")) == expected


CONTRADICTIONS = [
    ({"amount": "25 GB", "within": "1 min"}, "rate", "within"),
    ({"fastest": "100 Mbps"}, "fastest", "rate"),
    ({"kind": "session", "within": "1 min"}, "within", "kind"),
    ({"transport": "udp", "parallel": 4}, "parallel", "transport"),
    ({"urgency": "deadline", "amount": "1 GB", "within": "1 min", "waits": "1 h"}, "waits", "within"),
    ({"counts": ["steadiness"]}, "counts", "steadiness"),
    ({"nodes": 4}, "nodes", "analysed"),
]


@pytest.mark.parametrize(("changes", "one", "other"), CONTRADICTIONS)
def test_a_contradiction_names_both_answers(changes: dict[str, Any], one: str, other: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answers(**changes)
    (problem,) = refused.value.problems
    assert problem.field == one
    assert f"contradicts {other}" in problem.cause or f"contradict {other}" in problem.cause


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"rate": None}, ["amount", "within"]),
        ({"rate": None, "kind": "session"}, ["rate"]),
        ({"counts": ["speed", "throughput"]}, ["counts"]),
        ({"loss": "quite some"}, ["loss"]),
        ({"response": "80 ms"}, ["response"]),
        ({"ports": ["http"]}, ["ports.0"]),
        ({"shoe_size": 44}, ["shoe_size"]),
    ],
)
def test_what_is_missing_or_not_understood_is_told(changes: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        answers(**changes)
    assert [problem.field for problem in refused.value.problems] == fields


@pytest.mark.parametrize(
    ("question", "text", "means"),
    [
        ("loss", "0.2 %", {"qspec.loss": {"max": "0.2 %"}}),
        ("loss", "Little or NO packet  loss.", {"qspec.loss": {"max": "0.1 %"}}),
        ("response", "80 ms round trip", {"qspec.rtt": {"max": "80 ms"}}),
        ("response", "25 ms one-way", {"qspec.one_way_delay": {"max": "25 ms"}}),
        ("counts", "time until the result counts", {"metric": "throughput"}),
    ],
)
def test_vague_answers_and_figures_are_understood(question: str, text: str, means: dict[str, Any]) -> None:
    assert questions()[question].find_word(text).means == means


def test_each_answer_has_a_question() -> None:
    assert set(questions()) == set(Answers.model_fields)


# -- as it is asked ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", questions())
def test_every_example_is_an_answer(key: str) -> None:
    one = questions()[key]
    assert find_objection(key, one.example) == ""
    assert one.default == "" or find_objection(key, one.default) == ""


def test_what_is_typed_is_read_as_a_file_of_answers() -> None:
    typed = {
        "application": "x",
        "rate": "700 Mbps",
        "analysed": "yes",
        "nodes": "4",
        "ports": "22, 5900-5930",
    }
    read = read_typed({**typed, "loss": "little", "counts": "speed, [no loss]", "cores": " "})
    assert read == answers(
        analysed=True, nodes=4, ports=[22, "5900-5930"], loss="little", counts=["speed", ["no loss"]]
    )
    assert read_typed({"application": "x", "rate": "700 Mbps", "nodes": "4"}).nodes is None


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("amount", "25", "unit"),
        ("analysed", "perhaps", "bool"),
        ("loss", "hm", "understood"),
        ("ports", "http", "port"),
        ("ports", "22]", "list"),
        ("response", "0 ms round trip", "understood"),
    ],
)
def test_a_wrong_answer_is_told_at_once(key: str, text: str, told: str) -> None:
    assert told in find_objection(key, text)


# -- whatever is answered ------------------------------------------------------------------------------

WORDS = {
    key: st.sampled_from([word.say[0] for word in questions()[key].words])
    for key in ("loss", "response", "steadiness", "urgency", "moves")
}
FIGURES = st.sampled_from(["1 kbps", "333 kbps", "1234567 bps", "10 Mbps", "0.7 Gbps", "7 Tbps"])
SURVEYED = st.fixed_dictionaries(
    {
        "application": st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True),
        "kind": st.sampled_from(["transfer", "session"]),
        "counts": st.lists(
            st.sampled_from(["speed", "no loss", "prompt answers", "steadiness"]), min_size=1, unique=True
        ),
        **WORDS,
    },
    optional={
        "title": st.text(max_size=60),
        "purpose": st.text(max_size=200),
        "amount": st.sampled_from(["1 B", "25 GB", "3.3 TiB"]),
        "within": st.sampled_from(["1 ms", "5 min", "3 h"]),
        "rate": FIGURES,
        "fastest": FIGURES,
        "sessions": st.integers(1, 1000),
        "parallel": st.integers(1, 128),
        "transport": st.sampled_from(["tcp", "udp"]),
        "analysed": st.booleans(),
        "nodes": st.integers(1, 10),
        "memory": st.sampled_from(["16 GB", "1 B"]),
        "result_share": st.sampled_from(["0 %", "10 %", "33.3 %"]),
        "storage": st.sampled_from(["0 B", "1 TB"]),
        "waits": st.sampled_from(["1 s", "1 day"]),
        "sites": st.lists(st.just("osu"), max_size=1),
        "software": st.lists(
            st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1), max_size=2
        ),
    },
)


@given(SURVEYED)
def test_whatever_is_answered_is_refused_by_a_question_or_becomes_a_template(said: dict[str, Any]) -> None:
    try:
        read = yamlfile.check_model(said, Answers)
    except InvalidInput as error:
        fields = {problem.field.partition(".")[0] for problem in error.problems}
    else:
        fields = set()
        found = draft_template(read)
        assert yamlfile.parse_model(written(found), Template) == found
        assert found.qspec.bound(Metric.THROUGHPUT) == pytest.approx(read.needed_rate)
    assert fields <= set(Answers.model_fields), "every refusal names an answer"
