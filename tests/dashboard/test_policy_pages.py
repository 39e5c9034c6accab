"""The pages of performance engineers over the web side's test world."""

from __future__ import annotations

from typing import Any

import pytest

from adon.errors import AdonError, Forbidden
from apps.dashboard.policy import (
    advice,
    backtesting,
    catalog,
    decision,
    decisions,
    editor,
    flipping,
    outcomes,
    template,
)
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import classes, links, parts, text
from tests.support.web_world import COMPUTED, DECISION, SOYKB, World, end_flow

NEXT = """
name: soykb
title: Faster
qspec: {throughput: {min: 9 Mbps}, rtt: {max: 100 ms}}
weights: {throughput: 1, rtt: 1}
"""


def ids(drawn: Any) -> set[str]:
    return {one.id for one in parts(drawn) if isinstance(getattr(one, "id", None), str)}


# -- templates -----------------------------------------------------------------------------------------


def test_the_catalog_tells_what_each_asks_for_and_how_its_flows_fare(
    world: World, visiting: Visiting
) -> None:
    end_flow(world)
    shown = catalog.live(visiting())
    said = text(shown)
    for value in ("≥ 7 Mbps", "≤ 100 ms", "75 %", "25 %", "1 of"):
        assert value in said
    assert "/templates/soykb" in links(shown)


def test_who_may_not_add_templates_is_offered_no_editing(visiting: Visiting) -> None:
    assert "/templates/new" in links(catalog.show(visiting("performance_engineer")))
    reader = visiting("researcher", parts={"name": "soykb"})
    assert "/templates/new" not in links(catalog.show(reader))
    assert "/templates/soykb/edit" not in links(template.show(reader))


def test_a_template_tells_its_tables_versions_and_what_changed(world: World, visiting: Visiting) -> None:
    world.ask("POST", "/templates", json={**SOYKB, "weights": {"throughput": 1}, "title": "Once more"})
    shown = template.show(visiting(parts={"name": "soykb"}))
    assert {"template-throughput"} <= ids(shown)
    assert "template-rtt" not in ids(shown)
    compare = next(to for to in links(shown) if "before=" in to)
    assert compare == "/templates/soykb?version=2&before=1"
    said = text(template.show(visiting(parts={"name": "soykb"}, query={"version": "2", "before": "1"})))
    assert "Once more" in said
    older = text(template.show(visiting(parts={"name": "soykb"}, query={"version": "1"})))
    assert "version 2" in older


# -- the editor ----------------------------------------------------------------------------------------


def test_a_mistake_is_told_with_its_line_and_saving_is_not_offered(visiting: Visiting) -> None:
    problems, lines, _rows, picture, disabled, *_ = editor.look(visiting(), NEXT.replace("9 Mbps", "9"))
    assert "line 4" in text(problems)
    assert "qspec.throughput.min" in text(problems)
    assert [one.children for one in lines if "wrong" in one.className] == ["! 4"]
    assert "Correct the text" in text(picture)
    assert disabled


def test_what_is_right_is_drawn_over_the_saved_version_and_saved_as_the_next(
    world: World, visiting: Visiting
) -> None:
    here = visiting("performance_engineer")
    problems, _, _, picture, disabled, label = editor.look(here, NEXT)
    assert "good" in classes(problems)
    for value in ("75 %", "50 %"):
        assert value in text(picture)
    assert (disabled, label.split()[-1]) == (False, "2")
    assert editor.save(here, NEXT) == "/templates/soykb?saved=2"
    assert world.store.template("soykb").author == "performance_engineer"


def test_a_researcher_may_check_and_not_save(visiting: Visiting) -> None:
    here = visiting("researcher")
    *_, disabled, _label = editor.look(here, NEXT)
    assert disabled
    with pytest.raises(Forbidden):
        editor.save(here, NEXT)


def test_a_wrong_text_is_neither_saved_nor_replayed(visiting: Visiting) -> None:
    for deed in (
        lambda: editor.save(visiting(), "name: 7"),
        lambda: backtesting.begin(visiting(), "name: 7", "1d"),
    ):
        with pytest.raises(AdonError):
            deed()


def test_without_the_configuration_a_backtest_says_so(visiting: Visiting) -> None:
    assert "Not available" in text(backtesting.stand(visiting(), "b-1")[0])
    assert backtesting.stand(visiting(), None) == ([], False)


# -- decisions -----------------------------------------------------------------------------------------


def test_decisions_are_listed_filtered_and_lead_on(world: World, visiting: Visiting) -> None:
    world.submit()
    shown = decisions.live(visiting())
    assert f"/decisions/{DECISION}" in links(shown)
    for query in ({"outcome": "move"}, {"path": "internet"}):
        assert "empty" in classes(decisions.live(visiting(query=query)))


def test_a_researcher_sees_only_decisions_about_own_flows(world: World, visiting: Visiting) -> None:
    world.submit(as_="rival")
    assert f"/decisions/{DECISION}" not in links(decisions.live(visiting("researcher")))


def test_a_decision_tells_scores_sites_and_links(world: World, visiting: Visiting) -> None:
    world.report_sites()
    world.stage.measure("al2s", loss=0.0)
    world.ask("POST", "/templates", json=COMPUTED)
    flow = world.submit(template="computed", qspec={"loss": {"max": "0.1 %"}})
    shown = decision.show(visiting(parts={"id": str(world.flow(flow).decision)}))
    said = text(shown)
    for words in ("al2s: Q 10", "never measured", "violated", "impossible"):
        assert words in said, words
    assert {f"/flows/{flow}", "/templates/computed?version=1", "/paths/al2s", "/sites/osu-hpc"} <= set(
        links(shown)
    )
    assert "/paths/al2s" in links(shown)
    assert flipping.ASK in ids(shown)


# -- queue and policy ----------------------------------------------------------------------------------


# -- outcomes and forecasts ----------------------------------------------------------------------------


def test_outcomes_tell_promised_against_achieved(world: World, visiting: Visiting) -> None:
    assert "empty" in classes(outcomes.live(visiting()))
    flow = end_flow(world)
    decided = world.ask("GET", f"/flows/{flow}/outcome").json["decision"]
    shown = outcomes.live(visiting())
    said = text(shown)
    for words in ("80 Mbps", "6.5 Mbps", "held", "1 of"):
        assert words in said, words
    assert {f"/flows/{flow}", f"/decisions/{decided}", "/paths/al2s"} <= set(links(shown))
    assert "empty" in classes(outcomes.live(visiting(query={"template": "rivvir"})))


def test_advice_for_a_flow_and_for_none(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    assert f"/advice?flow={flow}" in links(advice.show(visiting()))
    shown = advice.show(visiting("performance_engineer", query={"flow": flow}))
    said = text(shown)
    for words in ("Recommended settings", "mu-dtn (sender)"):
        assert words in said, words
    assert "notice" in classes(advice.show(visiting(query={"flow": "f-99"})))
