"""Sites, jobs and reservations as pages."""

from __future__ import annotations

from apps.dashboard.compute import jobs, reservations, sites
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import parts, text
from tests.support.web_world import World


def test_sites_tell_their_state_and_what_their_word_was_worth(world: World, visiting: Visiting) -> None:
    world.ask("POST", "/jobs", json={"site": "osu-hpc", "job": "align"})
    world.end_job(1)
    world.report_sites()
    said = text(sites.live(visiting("researcher")))
    assert "condor_status ended" in said
    assert "1 job" in said


def test_a_job_may_be_ended_by_whose_it_is(world: World, visiting: Visiting) -> None:
    made = world.ask("POST", "/jobs", "researcher", json={"site": "osu-hpc", "job": "align"})
    assert made.status_code == 202, made.text
    assert "Cancel" in text(jobs.live(visiting("researcher")))
    assert "Cancel" not in text(jobs.live(visiting("auditor")))


def test_a_reservation_is_asked_for_in_the_form_s_words(visiting: Visiting) -> None:
    here = visiting("researcher")
    typed = dict.fromkeys(reservations.FIELDS, "")
    compute = {**typed, "where": "compute osu-hpc", "worker_nodes": "4", "ends": "8 h"}
    assert reservations.asked(compute, here) == {"compute": "osu-hpc", "worker_nodes": 4, "ends": "8 h"}
    path = {**typed, "where": "path al2s mu osu", "bandwidth": "5 Gbps", "ends": "2026-11-24 06:00"}
    assert reservations.asked(path, here) == {
        "path": "al2s",
        "source": "mu",
        "destination": "osu",
        "bandwidth": "5 Gbps",
        "ends": "2026-11-24T06:00:00+00:00",
    }


def test_what_is_no_number_goes_to_the_api_as_it_is_which_names_it(visiting: Visiting) -> None:
    typed = {**dict.fromkeys(reservations.FIELDS, ""), "where": "compute osu-hpc", "cores": "many"}
    assert reservations.asked(typed, visiting())["cores"] == "many"


def test_who_may_not_reserve_sees_no_form(visiting: Visiting) -> None:
    ids = [getattr(one, "id", None) for one in parts(reservations.show(visiting("auditor")))]
    assert "reservation-add" not in ids
