"""Pages about templates, decisions, outcomes and advice."""

from __future__ import annotations

from typing import Any

import pytest

from adon.errors import AdonError, Forbidden
from apps.dashboard.policy import (
    advice_page,
    catalog_page,
    counterfactuals,
    decision_page,
    decisions_page,
    outcomes_page,
    settings_page,
    template_backtest,
    template_editor,
    template_page,
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


def test_catalog_shows_bounds_weights_and_outcomes(world: World, visiting: Visiting) -> None:
    end_flow(world)
    shown = catalog_page.live(visiting())
    said = text(shown)
    for value in ("≥ 7 Mbps", "≤ 100 ms", "75 %", "25 %", "1 of"):
        assert value in said
    assert "/templates/soykb" in links(shown)


def test_user_without_permission_is_offered_no_editor(visiting: Visiting) -> None:
    assert "/templates/new" in links(catalog_page.show(visiting("performance_engineer")))
    reader = visiting("researcher", parts={"name": "soykb"})
    assert "/templates/new" not in links(catalog_page.show(reader))
    assert "/templates/soykb/edit" not in links(template_page.show(reader))


def test_template_shows_tables_versions_and_differences(world: World, visiting: Visiting) -> None:
    world.ask("POST", "/templates", json={**SOYKB, "weights": {"throughput": 1}, "title": "Once more"})
    shown = template_page.show(visiting(parts={"name": "soykb"}))
    assert {"template-throughput"} <= ids(shown)
    assert "template-rtt" not in ids(shown)
    compare = next(to for to in links(shown) if "before=" in to)
    assert compare == "/templates/soykb?version=2&before=1"
    said = text(template_page.show(visiting(parts={"name": "soykb"}, query={"version": "2", "before": "1"})))
    assert "Once more" in said
    older = text(template_page.show(visiting(parts={"name": "soykb"}, query={"version": "1"})))
    assert "version 2" in older


# -- the editor ----------------------------------------------------------------------------------------


def test_text_with_a_problem_names_its_line_and_cannot_be_saved(visiting: Visiting) -> None:
    problems, lines, _rows, picture, disabled, *_ = template_editor.check_text(
        visiting(), NEXT.replace("9 Mbps", "9")
    )
    assert "line 4" in text(problems)
    assert "qspec.throughput.min" in text(problems)
    assert [one.children for one in lines if "wrong" in one.className] == ["! 4"]
    assert "Correct the text" in text(picture)
    assert disabled


def test_valid_text_is_drawn_over_the_saved_version_and_saved_as_the_next(
    world: World, visiting: Visiting
) -> None:
    here = visiting("performance_engineer")
    problems, _, _, picture, disabled, label = template_editor.check_text(here, NEXT)
    assert "good" in classes(problems)
    for value in ("75 %", "50 %"):
        assert value in text(picture)
    assert (disabled, label.split()[-1]) == (False, "2")
    assert template_editor.save_text(here, NEXT) == "/templates/soykb?saved=2"
    assert world.store.template("soykb").author == "performance_engineer"


def test_researcher_can_check_a_template_but_not_save_it(visiting: Visiting) -> None:
    here = visiting("researcher")
    *_, disabled, _label = template_editor.check_text(here, NEXT)
    assert disabled
    with pytest.raises(Forbidden):
        template_editor.save_text(here, NEXT)


def test_invalid_text_is_neither_saved_nor_backtested(visiting: Visiting) -> None:
    for deed in (
        lambda: template_editor.save_text(visiting(), "name: 7"),
        lambda: template_backtest.start_backtest(visiting(), "name: 7", "1d"),
    ):
        with pytest.raises(AdonError):
            deed()


def test_backtest_without_configuration_is_not_available(visiting: Visiting) -> None:
    assert "Not available" in text(template_backtest.backtest_state(visiting(), "b-1")[0])
    assert template_backtest.backtest_state(visiting(), None) == ([], False)


# -- decisions -----------------------------------------------------------------------------------------


def test_decisions_are_listed_and_filtered(world: World, visiting: Visiting) -> None:
    world.submit()
    shown = decisions_page.live(visiting())
    assert f"/decisions/{DECISION}" in links(shown)
    for query in ({"outcome": "move"}, {"path": "internet"}):
        assert "empty" in classes(decisions_page.live(visiting(query=query)))


def test_researcher_sees_only_decisions_about_own_flows(world: World, visiting: Visiting) -> None:
    world.submit(as_="rival")
    assert f"/decisions/{DECISION}" not in links(decisions_page.live(visiting("researcher")))


def test_decision_shows_scores_sites_and_links(world: World, visiting: Visiting) -> None:
    world.report_sites()
    world.stage.measure("al2s", loss=0.0)
    world.ask("POST", "/templates", json=COMPUTED)
    flow = world.submit(template="computed", qspec={"loss": {"max": "0.1 %"}})
    shown = decision_page.show(visiting(parts={"id": str(world.flow(flow).decision)}))
    said = text(shown)
    for words in ("al2s: Q 10", "never measured", "violated", "impossible"):
        assert words in said, words
    assert {f"/flows/{flow}", "/templates/computed?version=1", "/paths/al2s", "/sites/osu-hpc"} <= set(
        links(shown)
    )
    assert "/paths/al2s" in links(shown)
    assert counterfactuals.COMPUTE in ids(shown)


def test_decision_names_the_event_that_led_to_it(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    shown = text(decision_page.show(visiting(parts={"id": str(world.flow(flow).decision)})))
    assert "request of a flow" in shown


# -- policy, outcomes and advice -----------------------------------------------------------------------


def test_policy_shows_each_setting_with_its_source(visiting: Visiting) -> None:
    shown = text(settings_page.show(visiting()))
    for words in ("Hold-down time of a failed path", "30 s", "policy.failed_path_holdoff", "default"):
        assert words in shown, words


def test_outcomes_show_predicted_and_achieved_values(world: World, visiting: Visiting) -> None:
    assert "empty" in classes(outcomes_page.live(visiting()))
    flow = end_flow(world)
    decided = world.ask("GET", f"/flows/{flow}/outcome").json["decision"]
    shown = outcomes_page.live(visiting())
    said = text(shown)
    for words in ("80 Mbps", "6.5 Mbps", "held", "1 of"):
        assert words in said, words
    assert {f"/flows/{flow}", f"/decisions/{decided}", "/paths/al2s"} <= set(links(shown))
    assert "Calibration of forecasts" in said
    assert "empty" in classes(outcomes_page.live(visiting(query={"template": "rivvir"})))
    assert "Calibration" not in text(outcomes_page.live(visiting("researcher")))


def test_advice_of_a_flow_and_list_of_flows(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    assert f"/advice?flow={flow}" in links(advice_page.show(visiting()))
    shown = advice_page.show(visiting("performance_engineer", query={"flow": flow}))
    said = text(shown)
    for words in ("Recommended settings", "mu-dtn (sender)"):
        assert words in said, words
    assert "notice" in classes(advice_page.show(visiting(query={"flow": "f-99"})))


def test_advice_request_has_the_entered_values_only() -> None:
    assert advice_page.advice_request({}, None) == {"path": {}}
    entered = {"rate": "10 Gbps", "streams": 2, "sender": "net.core.rmem_max = 1"}
    assert advice_page.advice_request(entered, "f-1") == {
        "path": {"rate": "10 Gbps"},
        "streams": 2,
        "sender": {"text": "net.core.rmem_max = 1"},
        "flow": "f-1",
    }
