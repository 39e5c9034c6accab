from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adon.broker.flow import FlowState
from apps.rest.page.form import wish
from tests.apps.measured import FELL
from tests.apps.web import NOW


def sign_in(world, who="researcher"):
    browser = world.app.test_client()
    answer = browser.post("/sign-in", data={"token": world.tokens.get(who, who)})
    return browser, answer


def csrf(page):
    return re.search(r'name="csrf" value="([^"]+)"', page.text)[1]


FORM = {
    "template": "soykb",
    "source": "mu-dtn",
    "destination": "osu-dtn",
    "size": "25 GB",
    "weight-throughput": "3",
    "weight-rtt": "0",
}


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/flows/new",
        "/flows/f-1",
        "/templates",
        "/templates/soykb/1",
        "/measurements",
        "/measurements/plan",
    ],
)
def test_nobody_sees_anything_before_signing_in(world, address):
    answer = world.app.test_client().get(address)
    back = "" if address == "/" else f"?next={address}"
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/sign-in{back}")


def test_the_cookie_holds_no_token_and_no_script_can_read_it(world):
    _, answer = sign_in(world)
    assert answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"]
    assert world.tokens["researcher"] not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_a_wrong_token_is_refused_without_telling_it_back(world):
    _, answer = sign_in(world, "adon_wrong")
    assert answer.status_code == 401
    assert "not known" in answer.text
    assert "adon_wrong" not in answer.text
    assert "Set-Cookie" not in answer.headers


def test_a_sign_in_from_another_site_is_refused(world):
    answer = world.app.test_client().post(
        "/sign-in", data={"token": world.tokens["admin"]}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 403


def test_a_revoked_token_ends_its_sessions(world):
    browser, _ = sign_in(world)
    assert browser.get("/").status_code == 200
    token = world.access.tokens.list("researcher")[0]
    world.access.tokens.revoke(token.id, NOW)
    assert browser.get("/").status_code == 302


def test_signing_out_ends_the_session(world):
    browser, _ = sign_in(world)
    cookie = browser.get_cookie("adon_session").value
    browser.post("/sign-out", data={"csrf": csrf(browser.get("/"))})
    browser.set_cookie("adon_session", cookie)
    assert browser.get("/").status_code == 302


def test_the_overview_shows_values_ages_and_basis(world):
    world.submit()
    browser, _ = sign_in(world)
    text = browser.get("/").text
    for shown in ("58 Mbps", "42 s ago", "active test", "60.6 Mbps", "f-1", "not connected", "not measured"):
        assert shown in text


@pytest.mark.parametrize(
    ("counted", "reported", "shown", "meter"),
    [
        (88_240_000, None, "88.24 MB of 100 MB", "0.8824"),
        (88_240_000, 100_000_000, "100 MB of 100 MB", "1.0"),  # the counters were read before the end
        (88_240_000, 0, "88.24 MB of 100 MB", "0.8824"),  # as a transfer reports that has begun
        (104_000_000, 100_000_000, "100 MB of 100 MB", "1.0"),  # with headers and what was sent twice
        (0, None, "0 B of 100 MB", "0.0"),
    ],
)
def test_progress_is_what_the_counters_or_the_transfer_itself_know(world, counted, reported, shown, meter):
    name = world.submit(size="100 MB")
    store = world.controller.store
    store.save_flow(replace(store.flow(1), bytes_delivered=counted, bytes_reported=reported), "e", NOW)
    browser, _ = sign_in(world)
    for address in ("/", f"/flows/{name}"):
        text = browser.get(address).text
        assert f"<small>{shown}</small>" in text
        assert f'value="{meter}"' in text


def test_empty_states_say_what_to_do_next(world):
    browser, _ = sign_in(world)
    text = browser.get("/").text
    assert "Describe your first transfer" in text
    assert "Nothing waits" in text


def test_a_controller_that_is_away_is_said_and_the_rest_is_shown(world):
    world.submit()
    world.stop_controller()
    text = sign_in(world)[0].get("/").text
    assert "f-1" in text
    assert "adon serve" in text


def test_a_flow_is_submitted_by_the_form(world):
    browser, _ = sign_in(world)
    page = browser.get("/flows/new?template=soykb")
    assert 'name="weight-throughput" value="3"' in page.text  # the template's own weight
    answer = browser.post("/flows/new", data={**FORM, "csrf": csrf(page), "ports": "5001, 5002"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/flows/f-1")
    assert world.controller.seen[-1][1] == {
        "command": world.controller.seen[-1][1]["command"],
        "requester": "researcher",
        "roles": ["researcher"],
        "groups": [],
        "request": {
            "template": "soykb",
            "source": "mu-dtn",
            "destination": "osu-dtn",
            "size": "25 GB",
            "weights": {"throughput": 3.0, "rtt": 0.0},
            "ports": [5001, 5002],
        },
    }


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"size": "25"}, "size"),
        ({"source": "elsewhere"}, "source"),
        ({"weight-throughput": "0"}, "weights"),
        ({"weight-throughput": "much"}, "weights.throughput"),
        ({"priority": "high"}, "priority"),
        ({"ports": "http"}, "ports"),
    ],
)
def test_a_form_with_a_mistake_comes_back_filled_in(world, change, shown):
    browser, _ = sign_in(world)
    data = {**FORM, "label": "my <data>", **change, "csrf": csrf(browser.get("/flows/new"))}
    answer = browser.post("/flows/new", data=data)
    assert answer.status_code == 422
    assert f"<strong>{shown}</strong>" in answer.text
    assert 'value="my &lt;data&gt;"' in answer.text
    assert world.store.flows() == ()


def test_a_form_without_a_controller_says_so(world):
    browser, _ = sign_in(world)
    page = browser.get("/flows/new")
    world.stop_controller()
    answer = browser.post("/flows/new", data={**FORM, "csrf": csrf(page)})
    assert answer.status_code == 503
    assert "controller" in answer.text


@pytest.mark.parametrize("proof", [{}, {"csrf": ""}, {"csrf": "guess"}, {"csrf": "ü"}])
def test_a_form_from_elsewhere_does_nothing(world, proof):
    browser, _ = sign_in(world)
    answer = browser.post("/flows/new", data={**FORM, **proof}, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.mimetype) == (403, "text/html")
    assert world.store.flows() == ()


def test_another_session_s_csrf_token_does_not_serve(world):
    browser, _ = sign_in(world)
    other, _ = sign_in(world, "rival")
    answer = browser.post("/flows/new", data={**FORM, "csrf": csrf(other.get("/flows/new"))})
    assert answer.status_code == 403


def test_a_flow_shows_candidates_scores_and_compute_costs(world):
    name = world.submit(label="<script>alert(1)</script>")
    world.fill(name)
    browser, _ = sign_in(world)
    text = browser.get(f"/flows/{name}").text
    for shown in (
        "al2s has the highest Q (9.35)",
        "Q = 9.35",
        "throughput 6.5 Mbps is below 7 Mbps",
        "never measured",
        "no worker nodes are free",
        "impossible",
        "95.5 s",
        f"because of alarm <code>{FELL.id}",
        "Cancel this flow",
    ):
        assert shown in text
    assert "<script>" not in text + browser.get("/").text


def queue_up(world, name):
    """As if the controller had no path for it."""
    store = world.controller.store
    flow = store.flow(int(name[2:]))
    store.save_flow(flow.step(FlowState.QUEUED, NOW, "no candidate qualifies"), "e-1", NOW)


def test_a_waiting_flow_says_why_and_what_would_help(world):
    name = world.submit()
    queue_up(world, name)
    browser, _ = sign_in(world)
    text = browser.get(f"/flows/{name}").text
    for shown in (
        "Why it waits",
        "throughput 5 Mbps is below 8 Mbps",
        "What would be admitted now",
        "6.5 Mbps",
    ):
        assert shown in text
    world.stop_controller()
    assert browser.get(f"/flows/{name}").status_code == 200


def test_cancelling_is_for_those_who_may(world):
    name = world.submit()
    auditor, _ = sign_in(world, "auditor")
    page = auditor.get(f"/flows/{name}")
    assert "Cancel this flow" not in page.text
    assert auditor.post(f"/flows/{name}/cancel", data={"csrf": csrf(page)}).status_code == 403
    browser, _ = sign_in(world)
    browser.post(f"/flows/{name}/cancel", data={"csrf": csrf(browser.get("/"))})
    assert world.store.flow(1).state == "cancelled"
    rival, _ = sign_in(world, "rival")
    assert rival.get(f"/flows/{name}").status_code == 403


def test_templates_are_shown(world):
    browser, _ = sign_in(world)
    assert "throughput ≥ 7 Mbps" in browser.get("/templates").text
    assert "name: soykb" in browser.get("/templates/soykb/1").text
    missing = browser.get("/templates/soykb/9", headers={"Accept": "text/html"})
    assert (missing.status_code, missing.mimetype) == (404, "text/html")


def test_no_page_may_be_framed_or_run_a_script(world):
    browser, _ = sign_in(world)
    for address in ("/", "/sign-in", "/flows/new", "/static/adon.css", "/measurements", "/measurements/plan"):
        policy = browser.get(address).headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert ("unsafe-inline" in policy) == (address == "/measurements/plan")


def test_over_https_the_cookie_is_for_this_host_alone(world):
    browser = world.app.test_client()
    answer = browser.post("/sign-in", data={"token": world.tokens["admin"]}, base_url="https://localhost")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-adon_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert browser.get("/", base_url="https://localhost").status_code == 200
    value = cookie.partition("=")[2].partition(";")[0]
    stranger = world.app.test_client()
    stranger.set_cookie("adon_session", value, domain="localhost", secure=True)
    assert stranger.get("/", base_url="https://localhost").status_code == 302, "a name that others can set"


def test_signing_in_again_ends_the_session_before(world):
    browser, _ = sign_in(world)
    before = world.access.sessions.list(NOW + 10, "researcher")
    browser.post("/sign-in", data={"token": world.tokens["admin"]})
    assert len(before) == 1
    assert world.access.sessions.list(NOW + 10, "researcher") == ()


def test_what_is_left_empty_is_left_out():
    assert wish({"size": " 1 GB ", "label": " ", "weight-rtt": "", "ports": ""}) == {"size": "1 GB"}
