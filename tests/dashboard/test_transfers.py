"""What a researcher reads of transfers."""

from __future__ import annotations

import pytest

from adon.errors import Forbidden, NotFound
from apps.dashboard.transfers import flow, flows, new
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import classes, links, parts, text
from tests.support.web_world import World


def test_the_form_offers_applications_and_hosts(visiting: Visiting) -> None:
    shown = new.show(visiting("researcher"))
    options = next(one.options for one in parts(shown) if getattr(one, "id", None) == "new-source")
    assert [option["value"] for option in options] == ["mu-dtn", "osu-dtn"]
    assert options[0]["label"] == "mu-dtn (mu)"


def test_once_more_fills_it_in(world: World, visiting: Visiting) -> None:
    made = world.submit(ports=[5001])
    shown = new.show(visiting("researcher", query={"again": made}))
    typed = {one.id: one.value for one in parts(shown) if getattr(one, "value", None) and hasattr(one, "id")}
    assert typed["new-size"] == "25 GB"
    assert typed["new-ports"] == "5001"


def test_a_flow_tells_its_path_its_reasons_and_its_rules(world: World, visiting: Visiting) -> None:
    made = world.submit()
    shown = flow.live(visiting("researcher", parts={"id": made}))
    said = text(shown)
    assert "6.5 Mbps" in said
    assert "7 Mbps" in said
    assert "cookie=0xad" in said
    assert any(to.startswith("/decisions/") for to in links(shown))


def test_one_that_waits_says_for_what(world: World, visiting: Visiting) -> None:
    made = world.submit(qspec={"throughput": {"min": "60 Mbps"}})
    assert "Queue" in text(flow.live(visiting("researcher", parts={"id": made})))


def test_only_who_may_is_offered_to_cancel(world: World, visiting: Visiting) -> None:
    made = world.submit()
    mine = visiting("researcher", parts={"id": made})
    assert "Cancel" in text(flow.live(mine))
    assert "Cancel" not in text(flow.live(visiting("auditor", parts={"id": made})))
    mine.client.cancel(made)
    assert "Cancel" not in text(flow.live(mine))


def test_a_flow_of_another_is_not_shown(world: World, visiting: Visiting) -> None:
    made = world.submit(as_="rival")
    with pytest.raises((Forbidden, NotFound)):
        flow.show(visiting("researcher", parts={"id": made}))


def test_the_list_leads_on(world: World, visiting: Visiting, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [world.submit(ports=[5001 + one]) for one in range(3)]
    monkeypatch.setattr(flows, "PER_PAGE", 2)
    first = flows.live(visiting("researcher"))
    assert f"/flows/{made[2]}" in links(first)
    older = links(first)[-1]
    assert older.startswith("/flows?before=")
    second = flows.live(visiting("researcher", query={"before": older.partition("=")[2]}))
    assert f"/flows/{made[0]}" in links(second)
    assert f"/flows/{made[2]}" not in links(second)


def test_a_filter_without_a_match_says_so(visiting: Visiting) -> None:
    assert "empty" in classes(flows.live(visiting(query={"state": "failed"})))
