"""Pages about transfers."""

from __future__ import annotations

import pytest

from adon.errors import Forbidden, NotFound
from apps.dashboard.transfers import flow_page, flows_page, new_transfer_page
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import classes, links, parts, text
from tests.support.web_world import World


def test_form_offers_applications_and_hosts(visiting: Visiting) -> None:
    shown = new_transfer_page.show(visiting("researcher"))
    options = next(one.options for one in parts(shown) if getattr(one, "id", None) == "new-source")
    assert [option["value"] for option in options] == ["mu-dtn", "osu-dtn"]
    assert options[0]["label"] == "mu-dtn (mu)"


def test_repeated_transfer_fills_the_form(world: World, visiting: Visiting) -> None:
    made = world.submit(ports=[5001])
    shown = new_transfer_page.show(visiting("researcher", query={"again": made}))
    typed = {one.id: one.value for one in parts(shown) if getattr(one, "value", None) and hasattr(one, "id")}
    assert typed["new-size"] == "25 GB"
    assert typed["new-ports"] == "5001"


def test_form_starts_with_the_template_of_the_address(visiting: Visiting) -> None:
    shown = new_transfer_page.show(visiting("researcher", query={"template": "soykb"}))
    assert next(one.value for one in parts(shown) if getattr(one, "id", None) == "new-template") == "soykb"


def test_flow_shows_values_bounds_rules_and_decision(world: World, visiting: Visiting) -> None:
    made = world.submit()
    shown = flow_page.live(visiting("researcher", parts={"id": made}))
    said = text(shown)
    assert "6.5 Mbps" in said
    assert "7 Mbps" in said
    assert "cookie=0xad" in said
    assert any(to.startswith("/decisions/") for to in links(shown))


def test_queued_flow_shows_the_queue(world: World, visiting: Visiting) -> None:
    made = world.submit(qspec={"throughput": {"min": "60 Mbps"}})
    assert "Queue" in text(flow_page.live(visiting("researcher", parts={"id": made})))


def test_cancel_is_offered_to_the_requester_of_an_active_flow(world: World, visiting: Visiting) -> None:
    made = world.submit()
    mine = visiting("researcher", parts={"id": made})
    assert "Cancel" in text(flow_page.live(mine))
    assert "Cancel" not in text(flow_page.live(visiting("auditor", parts={"id": made})))
    mine.client.cancel(made)
    assert "Cancel" not in text(flow_page.live(mine))


def test_flow_of_another_user_is_not_shown(world: World, visiting: Visiting) -> None:
    made = world.submit(as_="rival")
    with pytest.raises((Forbidden, NotFound)):
        flow_page.show(visiting("researcher", parts={"id": made}))


def test_list_has_a_link_to_older_flows(
    world: World, visiting: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [world.submit(ports=[5001 + one]) for one in range(3)]
    monkeypatch.setattr(flows_page, "PER_PAGE", 2)
    first = flows_page.live(visiting("researcher"))
    assert f"/flows/{made[2]}" in links(first)
    older = links(first)[-1]
    assert older.startswith("/flows?before=")
    second = flows_page.live(visiting("researcher", query={"before": older.partition("=")[2]}))
    assert f"/flows/{made[0]}" in links(second)
    assert f"/flows/{made[2]}" not in links(second)


def test_filter_without_a_match_shows_the_empty_state(visiting: Visiting) -> None:
    assert "empty" in classes(flows_page.live(visiting(query={"state": "failed"})))
