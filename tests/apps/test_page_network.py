"""What a network engineer sees: the network, the rules, the way of a packet, the effect of a failure."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adon.broker.effects import RuleState, SendBatch
from adon.broker.question import Question
from adon.flowvisor.action import Output, PushVlan
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.ladder import Granted
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import GROUP_PREFIX
from adon.flowvisor.rule import Bucket, Change, GroupEntry, MeterEntry, Op, Rule
from adon.store.lease import CONTROLLER
from apps.journal import Journal
from tests.apps.test_page import csrf, sign_in
from tests.apps.web import NOW, ROLES
from tests.broker.stage import ready
from tests.broker.test_tracing import trace as traced_on

PAGES = ("/network", "/rules", "/trace", "/what-if")
ODD = "<b>p&\"'0</b>"
WINDOW = {
    "scope": "path",
    "name": "al2s",
    "begins": "2099-11-21T02:00",
    "ends": "2099-11-21T04:00",
    "lead": "10 min",
    "note": "splicing <fast>",
}


def text_of(world, address, who="operator"):
    answer = sign_in(world, who)[0].get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def asked(world):
    """What the controller was asked, greetings of the link left out."""
    return [kind for kind, _ in world.controller.seen if kind != "hello"]


# -- who may, and what no page may do --------------------------------------------------------------------


@pytest.mark.parametrize("who", [*ROLES, None])
@pytest.mark.parametrize("address", PAGES)
def test_the_pages_are_for_those_who_run_the_network(world, address, who):
    browser = world.app.test_client() if who is None else sign_in(world, who)[0]
    answer = browser.get(address, headers={"Accept": "text/html"})
    if who is None:
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/sign-in?next={address}")
    elif who == "researcher":
        assert answer.status_code == (422 if address == "/rules" else 403)
        assert 'href="/network"' not in browser.get("/").text
    else:
        assert answer.status_code == 200
        assert f'href="{address}"' in browser.get("/").text


@pytest.mark.parametrize("address", PAGES)
def test_no_script_and_no_style_stands_in_them(world, address):
    answer = sign_in(world, "admin")[0].get(address)
    assert "<script" not in answer.text
    assert "style=" not in answer.text
    assert not re.search(r"\son\w+=", answer.text)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("address", "who"),
    [("/maintenance", "admin"), ("/maintenance/m-1/cancel", "admin"), ("/rules/repair", "operator")],
)
@pytest.mark.parametrize("proof", [{}, {"csrf": "guess"}])
def test_a_form_from_elsewhere_does_nothing(world, address, who, proof):
    browser, _ = sign_in(world, who)
    assert browser.post(address, data={**WINDOW, **proof}).status_code == 403
    assert asked(world) == []


# -- the network -----------------------------------------------------------------------------------------


def test_the_network_shows_switches_circuits_and_the_controller(world):
    world.controller.store.take_lease(CONTROLLER, "mu-1", 5)
    text = text_of(world, "/network")
    for shown in (
        "0000000000000a01",
        "12 of 1000",
        "3 of others",
        "not connected",
        "osu-edge-al2s",  # a port that is down
        "3000",
        "al2s · L2 · f-1",
        "2 missing, 0 wrong, 1 extra, 0 blocked",
        "<strong>mu-1</strong>",
        "No link between our switches is configured",
        "No maintenance is announced",
    ):
        assert shown in text, shown
    assert text.count('class="switch edge') == 2


def test_a_path_or_the_one_of_a_flow_is_marked(world):
    assert 'class="halo"' not in text_of(world, "/network")
    for address in ("/network?path=al2s", "/network?flow=f-1"):
        text = text_of(world, address)
        assert text.count('class="halo"') == 1
        assert '<tr class="chosen">' in text
    assert 'class="halo"' not in text_of(world, "/network?path=nowhere")


def link(state, ends, **more):
    ends = [{"switch": one, "dpid": "0" * 16, "number": 2, "port": port, "admin": True} for one, port in ends]
    return {
        "state": state,
        "reason": "",
        "since": NOW,
        "penalised_until": None,
        "delays": [],
        "ends": ends,
    } | more


def test_links_have_their_state_and_odd_names_are_only_text(world):
    snapshot = world.controller.snapshot
    pair = (("mu-edge", ODD), ("osu-edge", "eth0"))
    ends = [{"switch": switch, "port": port} for switch, port in pair]
    snapshot["wires"] = [{"name": "fibre-7", "ends": ends, "capacity": 1e10, "state": "live", "reason": ""}]
    foreign = {"chassis": ODD, "port": "ge-0/0/1", "system": "somebody's router"}
    snapshot["links"] = [
        link("penalised", pair[::-1], penalised_until=NOW + 60, delays=[0.004, None], reason="flaps"),
        {"state": "foreign", "ends": link("", [("mu-edge", "eth9")])["ends"], **foreign},
    ]
    for switch in snapshot["switches"]:
        switch["ports"] = {ODD: {"number": 7, "live": False}}
    text = text_of(world, "/network")
    for shown in ("fibre-7", "not used until 08:54:20", "4 ms", "flaps", "10 Gbps", "router &lt;b&gt;"):
        assert shown in text, shown
    assert 'class="line penalised"' in text
    assert "<b>p" not in text
    assert text.count("&lt;b&gt;p&amp;&#34;&#39;0&lt;/b&gt;") >= 3


def test_a_network_of_nothing_says_what_to_do(world):
    snapshot = world.controller.snapshot
    snapshot.update(switches=[], sites=[], circuits=[], paths=[])
    text = text_of(world, "/network")
    assert "No switch is configured" in text
    assert "No path is configured" in text
    assert "None has run yet" in text


def test_without_a_controller_the_pages_say_so_and_show_what_is_known(world):
    world.fill(world.submit())
    world.ask(
        "POST",
        "/maintenance",
        json={**WINDOW, "begins": "2099-11-21T02:00:00Z", "ends": "2099-11-21T04:00:00Z"},
    )
    browser, _ = sign_in(world, "admin")
    world.stop_controller()
    for address, words in (
        ("/network", "adon serve"),
        ("/network", "<strong>m-1</strong>"),
        ("/trace?from=mu-dtn&to=osu-dtn", "the controller"),
        ("/what-if?all=1", "the controller"),
    ):
        answer = browser.get(address)
        assert (answer.status_code, words in answer.text) == (503, True), address
    rules = browser.get("/rules")
    assert (rules.status_code, "nothing can be compared now" in rules.text) == (200, True)
    assert "onto its path" in rules.text
    assert browser.get("/flows/f-1").status_code == 200


# -- maintenance -----------------------------------------------------------------------------------------


def test_a_window_is_announced_and_cancelled_by_forms(world):
    browser, _ = sign_in(world, "performance_engineer")
    proof = {"csrf": csrf(browser.get("/network"))}
    answer = browser.post("/maintenance", data={**WINDOW, **proof})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/network#maintenance")
    (window,) = world.store.windows()
    assert (window.id, window.begins, window.lead) == ("m-1", 4098909600.0, 600.0)
    text = browser.get("/network").text
    assert "splicing &lt;fast&gt;" in text
    assert "2099-11-21 02:00:00 UTC" in text
    assert "/what-if?failure=maintenance&amp;name=m-1" in text
    assert browser.post("/maintenance/m-1/cancel", data=proof).status_code == 303
    assert "<strong>m-1</strong>" not in browser.get("/network").text
    assert browser.post("/maintenance/m-1/cancel", data=proof).status_code == 409
    assert browser.post("/maintenance/x/cancel", data=proof).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "nowhere"}, "name"),
        ({"begins": "soon"}, "begins"),
        ({"ends": "2099-11-21T01:00"}, "ends"),
        ({"lead": "10"}, "lead"),
        ({"scope": "planet"}, "scope"),
    ],
)
def test_a_window_with_a_mistake_comes_back_filled_in(world, change, field):
    browser, _ = sign_in(world, "admin")
    answer = browser.post("/maintenance", data={**WINDOW, **change, "csrf": csrf(browser.get("/network"))})
    assert answer.status_code == 422
    assert f"<strong>{field}" in answer.text
    assert 'value="splicing &lt;fast&gt;"' in answer.text
    assert world.store.windows() == ()


def test_a_page_with_a_form_does_not_load_again_by_itself(world):
    browser, _ = sign_in(world, "admin")
    assert 'http-equiv="refresh"' in browser.get("/network").text
    for page in (
        browser.get("/network?announce=1"),
        browser.post("/maintenance", data={"csrf": csrf(browser.get("/network"))}),
    ):
        assert 'name="begins"' in page.text
        assert 'http-equiv="refresh"' not in page.text


def test_maintenance_is_for_those_who_may(world):
    browser, _ = sign_in(world, "operator")
    page = browser.get("/network")
    assert "Announce a window" not in page.text
    assert browser.post("/maintenance", data={**WINDOW, "csrf": csrf(page)}).status_code == 403


# -- rules -----------------------------------------------------------------------------------------------


def entries(flow):
    group = GroupEntry(
        0xA01,
        GROUP_PREFIX,
        "fast_failover",
        (Bucket((PushVlan(3000), Output(2)), 2), Bucket((Output(3),), 3)),
    )
    meter = MeterEntry(0xA01, 40_961, 25_000_000, 2_500_000, flow.number)
    far = Rule(0xA02, 30_500, Match(in_port=2), (Output(1),), cookie(Kind.FLOW_DELIVERY, flow.number))
    return group, meter, far


@pytest.fixture
def ruled(world):
    """A world with rules, a group, a meter, and a journal."""
    flow = world.fill(world.submit())
    group, meter, far = entries(flow)
    store = world.controller.store
    store.save_rules([group, meter], RuleState.INSTALLED, "", NOW)
    store.save_rules([far], RuleState.FAILED, "OFPFMFC_TABLE_FULL <b>", NOW)
    journal = Journal(world.folder, clock=lambda: NOW)
    journal.sent(SendBatch("e-1", 0xA01, "b-1", (Change(Op.ADD, meter), Change(Op.ADD, group))))
    journal.sent(SendBatch("e-2", 0xA02, "b-2", (Change(Op.DELETE, far),)))
    journal.close()
    return world


def test_the_rules_of_a_switch_are_told_in_words(ruled):
    text = text_of(ruled, "/rules")
    for shown in (
        "Rules in mu-edge",
        "3 installed",
        "Puts this flow&#39;s packets onto its path, at the sender&#39;s edge.",
        "send them out of port 2; else while port 3 is up",
        "group_id=",
        "Drops what is above 25 Mbps",
        'href="/flows/f-1"',
        'href="/rules?owner=path-0"',
    ):
        assert shown in text, shown
    assert "TABLE_FULL" not in text
    assert "OFPFMFC_TABLE_FULL &lt;b&gt;" in text_of(ruled, "/rules?dpid=0000000000000a02")


def test_the_rules_of_an_owner_are_those_of_all_switches(ruled):
    text = text_of(ruled, "/rules?owner=f-1")
    assert all(shown in text for shown in ("Rules of f-1", "mu-edge", "osu-edge", "2 installed", "1 failed"))
    assert "1 installed" in text_of(ruled, "/rules?owner=path-0")
    assert "No rule of ours" in text_of(ruled, "/rules?owner=path-9")


def test_the_difference_is_told_and_repaired(world):
    browser, _ = sign_in(world, "operator")
    page = browser.get("/rules")
    for shown in (
        "1 difference",
        "should be there and is not",
        "priority=30500 actions=drop",
        "when it was last read",
    ):
        assert shown in page.text, shown
    answer = browser.post("/rules/repair", data={"csrf": csrf(page)})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/rules#differences")
    assert world.controller.seen[-1][0] == "rules.sync"


def test_repairing_is_for_those_who_may(world):
    browser, _ = sign_in(world, "auditor")
    page = browser.get("/rules")
    assert "repair it now" not in page.text
    assert browser.post("/rules/repair", data={"csrf": csrf(page)}).status_code == 403


def test_what_was_sent_leads_to_the_flow_and_the_decision(ruled):
    text = text_of(ruled, "/rules")
    assert 'href="/rules?cause=e-1#sent"' in text
    assert 'href="/flows/f-1#d-1"' in text
    assert "e-2" not in text  # sent to the other switch
    elsewhere = text_of(ruled, "/rules?cause=e-2")
    assert "because of e-2" in elsewhere
    assert "op-delete" in elsewhere
    assert "op-add" not in elsewhere
    assert 'id="d-1"' in text_of(ruled, "/flows/f-1")


def test_a_researcher_sees_the_rules_of_a_flow_of_their_own(ruled):
    browser, _ = sign_in(ruled)
    text = browser.get("/rules?owner=f-1").text
    assert "onto its path" in text
    assert "Sent lately" not in text
    assert "Difference" not in text
    for address, status in (
        ("/rules?owner=path-0", 422),
        ("/rules?owner=f-9", 404),
        ("/rules?dpid=0000000000000a01", 422),
    ):
        assert browser.get(address).status_code == status
    assert sign_in(ruled, "rival")[0].get("/rules?owner=f-1").status_code == 403


@pytest.mark.parametrize("query", ["dpid=1", "owner=<b>", "colour=blue", "cause=" + "x" * 65])
def test_a_wrong_question_about_rules_is_refused(world, query):
    answer = sign_in(world, "admin")[0].get(f"/rules?{query}", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.mimetype) == (422, "text/html")
    assert "<b>" not in answer.text


def test_of_many_rules_the_first_are_shown_and_all_counted(world):
    rules = [Rule(0xA01, 30_000, Match(in_port=n), (), cookie(Kind.FLOW_INGRESS, 1)) for n in range(1, 321)]
    world.controller.store.save_rules(rules, RuleState.INSTALLED, "", NOW)
    text = text_of(world, "/rules?dpid=0000000000000a01")
    assert "The first 300 of 320" in text
    assert "320 installed" in text


# -- a packet's way --------------------------------------------------------------------------------------


def test_a_trace_is_a_story(world):
    stage = ready()
    flow = stage.submit(ports=[5001])
    world.controller.trace = lambda asked: traced_on(
        stage, Question(asked["from"], asked["to"], port=asked["port"])
    )
    text = text_of(world, "/trace?from=mu-dtn&to=osu-dtn&port=5001&protocol=tcp&version=4&source_port=")
    for shown in (
        'class="verdict good"',
        "delivered: to osu-dtn",
        "from al2s, VLAN 1701",
        "Changed on the way: receiver’s MAC 02:00:00:00:0b:0a, VLAN 1701",
        f"flow {flow.id} of {flow.requester} on al2s",
        'href="/flows/f-1"',
        'href="/network?path=al2s"',
        "push_vlan:0x8100",
        "Out by port 2",
    ):
        assert shown in text, shown
    assert text.count('<span class="layer">table 0</span>') == 2


def test_a_packet_that_is_dropped_is_told_where(world):
    text = text_of(world, "/trace?from=mu-dtn&to=osu-dtn&port=80")
    assert 'class="verdict bad"' in text
    assert "no rule of table 0 takes it" in text
    assert 'class="step none"' in text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=mu-dtn", "to"),
        ("from=mu-dtn&to=osu-dtn&port=http", "port"),
        ("from=mu-dtn&to=osu-dtn&port=70000", "port"),
        ("from=mu-dtn&to=osu-dtn&port=-1", "port"),
        ("from=mu-dtn&to=osu-dtn&protocol=gre", "protocol"),
        ("from=mu-dtn&to=osu-dtn&colour=blue", "colour"),
    ],
)
def test_a_trace_with_a_mistake_comes_back_filled_in(world, query, field):
    answer = sign_in(world, "admin")[0].get(f"/trace?{query}")
    assert answer.status_code == 422
    assert f"<strong>{field}</strong>" in answer.text
    assert 'value="mu-dtn"' in answer.text
    assert asked(world) == []


def test_an_empty_trace_asks_nothing(world):
    assert "Choose two hosts" in text_of(world, "/trace")
    assert "Choose a failure" in text_of(world, "/what-if")
    assert asked(world) == []


# -- failures --------------------------------------------------------------------------------------------


def test_a_failure_is_rehearsed(world):
    text = text_of(world, "/what-if?failure=path-down&name=al2s")
    for shown in (
        "would hit 3 flows; 2 find another path, the QSpec of 1 would break",
        ">kept</span>",
        ">broken</span>",
        "7 Mbps find no room",
        "21 Mbps before, 0 bps after, of 60.6 Mbps",
    ):
        assert shown in text, shown
    assert text.count('class="bars"') == 2


def test_every_single_failure_is_a_line_the_worst_first(world):
    text = text_of(world, "/what-if?all=1")
    verdicts = re.findall(r">(broken|unknown|fine)</span>", text)
    assert len(verdicts) == 13
    assert verdicts == sorted(verdicts, key=["broken", "unknown", "fine"].index)
    assert "/what-if?failure=path-down&amp;name=al2s" in text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("failure=rain&name=al2s", "failure"),
        ("failure=path-down&name=", "name"),
        ("failure=path-down&name=<b>", "name"),
        ("name=al2s", "failure"),
    ],
)
def test_a_failure_that_cannot_be_is_refused(world, query, field):
    answer = sign_in(world, "admin")[0].get(f"/what-if?{query}")
    assert answer.status_code == 422
    assert f"<strong>{field}</strong>" in answer.text
    assert "<b>" not in answer.text


# -- a flow ----------------------------------------------------------------------------------------------


def test_a_flow_shows_slice_grant_spares_rules_and_the_way_to_the_trace(world):
    name = world.submit(ports=[5001])
    flow = world.fill(name)
    granted = Granted("mu-edge-al2s", 0.6, 20e6, 20e6, 5e6, 25e6, "meter", "the port has no queue 1", 40_961)
    world.controller.store.save_flow(
        replace(flow, slice="genomics", granted=granted, advised=True), "e-1", NOW
    )
    internet = [path for path in world.controller.snapshot["paths"] if path["path"] == "internet"]
    for path in internet:
        path.update(usable=False, reason="maintenance <m-1>")
    text = text_of(world, f"/flows/{name}")
    for shown in (
        "genomics",
        "Asked for 20 Mbps, granted 20 Mbps",
        "5 Mbps lent on the 60 % share of port mu-edge-al2s; it may use 25 Mbps",
        "meter 40961: the port has no queue 1",
        "advised: nothing was sent",
        'title="maintenance &lt;m-1&gt;">down',
        "Rules in the switches",
        "mu-edge</span>",
        "/trace?from=mu-dtn&amp;to=osu-dtn&amp;port=5001",
    ):
        assert shown in text, shown
    assert "Trace its packets" not in sign_in(world)[0].get(f"/flows/{name}").text


@pytest.mark.parametrize(("configured", "shown"), [(None, "internet"), (1, "internet"), (0, "no other path")])
def test_as_many_paths_stand_by_as_are_configured(world, configured, shown):
    world.controller.snapshot["standby_paths"] = configured
    name = world.submit()
    world.fill(name)
    stand_by = re.search(r"<dt>Stand by</dt><dd>(.*?)</dd>", text_of(world, f"/flows/{name}"))
    assert stand_by is not None
    assert stand_by[1] == shown


def test_a_path_whose_ports_nobody_knows_does_not_stand_by(world):
    for path in world.controller.snapshot["paths"]:
        path["ports_known"] = path["path"] == "al2s"
    name = world.submit()
    world.fill(name)
    assert "no other path" in text_of(world, f"/flows/{name}")
