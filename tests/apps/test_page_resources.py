"""Resources on the page: compute sites, reservations with a form, how well forecasts held."""

from __future__ import annotations

import pytest

from tests.apps.peopled import RESERVATION
from tests.apps.test_forecasts import forecast  # noqa: F401 - a fixture
from tests.apps.test_page import csrf, sign_in

TYPED = {"compute": "osu-hpc", "worker_nodes": "2", "ends": "2025-10-10T06:00", "note": "soy <fast>"}


def text_of(world, who="researcher", address="/resources"):
    answer = sign_in(world, who)[0].get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_sites_with_what_they_have_and_what_is_free(world):
    text = text_of(world)
    assert all(words in text for words in ("4 worker nodes, 64 cores", "0 worker nodes, 64 cores", "osu-hpc"))
    assert "Nothing is reserved." in text
    assert 'href="/flows/f-1"' in text


def test_one_s_own_reservations_and_for_staff_everybody_s(world):
    world.ask("POST", "/reservations", "rival", json={**RESERVATION, "note": "<b>odd</b>"})
    assert "r-1" not in text_of(world)
    seen = text_of(world, "auditor")
    assert '1 worker nodes of osu-hpc<small class="kind">&lt;b&gt;odd&lt;/b&gt;</small>' in seen
    assert "Release</button>" not in seen
    assert "Release</button>" in text_of(world, "operator")


def test_reserve_and_release(world):
    browser, _ = sign_in(world, "researcher")
    form = browser.get("/resources?reserve=1")
    done = browser.post("/resources/reservations", data={**TYPED, "csrf": csrf(form)})
    assert (done.status_code, done.headers["Location"]) == (303, "/resources#reservations")
    seen = browser.get("/resources")
    assert "2 worker nodes of osu-hpc" in seen.text
    gone = browser.post("/resources/reservations/r-1/release", data={"csrf": csrf(seen)})
    assert gone.status_code == 303
    assert "Nothing is reserved." in browser.get("/resources").text


@pytest.mark.parametrize(
    ("change", "words", "status"),
    [
        ({"worker_nodes": "99"}, "worker_nodes", 422),
        ({"worker_nodes": "many"}, "worker_nodes", 422),
        ({"ends": ""}, "ends", 422),
        ({"memory": "64"}, "memory", 422),
        ({"compute": ""}, "compute", 422),
    ],
)
def test_a_wrong_form_comes_back_with_what_is_wrong_and_what_was_typed(world, change, words, status):
    browser, _ = sign_in(world, "researcher")
    form = browser.get("/resources?reserve=1")
    answer = browser.post("/resources/reservations", data={**TYPED, **change, "csrf": csrf(form)})
    assert answer.status_code == status
    assert f"<strong>{words}</strong>" in answer.text
    assert 'value="soy &lt;fast&gt;"' in answer.text


def test_what_does_not_fit_says_when_it_would(world):
    world.ask("POST", "/reservations", "rival", json={**RESERVATION, "worker_nodes": 14})
    browser, _ = sign_in(world, "researcher")
    form = browser.get("/resources?reserve=1")
    answer = browser.post("/resources/reservations", data={**TYPED, "csrf": csrf(form)})
    assert answer.status_code == 409
    assert "it would from 2025-10-10 00:00:00 UTC on" in answer.text


def test_an_auditor_reserves_nothing(world):
    browser, _ = sign_in(world, "auditor")
    assert ">Reserve</a>" not in browser.get("/resources").text
    form = browser.get("/")
    assert browser.post("/resources/reservations", data={**TYPED, "csrf": csrf(form)}).status_code == 403


def test_without_the_controller_what_is_reserved_is_still_told(world):
    world.ask("POST", "/reservations", "researcher", json=RESERVATION)
    world.stop_controller()
    answer = sign_in(world, "researcher")[0].get("/resources")
    assert answer.status_code == 503
    assert "The controller does not answer" in answer.text
    assert "r-1" in answer.text


def test_how_well_forecasts_held_is_for_staff(forecast):  # noqa: F811
    assert "forecasts of completion" not in text_of(forecast)
    text = text_of(forecast, "operator")
    assert "How well forecasts of completion held" in text
    assert "67 %" in text
    picture = sign_in(forecast, "operator")[0].get("/resources/calibration.svg")
    assert (picture.status_code, picture.mimetype) == (200, "image/svg+xml")
    assert sign_in(forecast, "researcher")[0].get("/resources/calibration.svg").status_code == 403


def test_a_flow_s_page_tells_its_forecast_and_the_spread_of_its_costs(forecast):  # noqa: F811
    text = text_of(forecast, address="/flows/f-1")
    assert "Was expected to end" in text, "it has ended"
    assert "90 % between 08:53:40 and 08:54:40" in text
