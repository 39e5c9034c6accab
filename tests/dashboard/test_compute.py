"""Pages of sites, jobs and reservations."""

from __future__ import annotations

import pytest

from adon.errors import InvalidInput
from apps.dashboard.compute import jobs_page, reservations_page, sites_page
from apps.dashboard.visit import Visit
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import parts, text
from tests.support.web_world import World


def test_sites_show_their_state_and_estimate_bias(world: World, visiting: Visiting) -> None:
    world.ask("POST", "/jobs", json={"site": "osu-hpc", "job": "align"})
    world.end_job(1)
    world.report_sites()
    said = text(sites_page.live(visiting("researcher")))
    assert "condor_status ended" in said
    assert "1 job" in said


def test_cancel_is_offered_to_the_requester_of_a_job(world: World, visiting: Visiting) -> None:
    made = world.ask("POST", "/jobs", "researcher", json={"site": "osu-hpc", "job": "align"})
    assert made.status_code == 202, made.text
    assert "Cancel" in text(jobs_page.live(visiting("researcher")))
    assert "Cancel" not in text(jobs_page.live(visiting("auditor")))


def read(here: Visit, **typed: str) -> dict[str, object]:
    values = [typed.get(field.name, "") for field in reservations_page.FORM.fields]
    return reservations_page.reservation_request(reservations_page.FORM.read(values, here.zone))


def test_form_makes_the_request_of_a_reservation(visiting: Visiting) -> None:
    here = visiting("researcher")
    compute = read(here, where="compute osu-hpc", worker_nodes="4", ends="8 h")
    assert compute == {"compute": "osu-hpc", "worker_nodes": 4, "ends": "8 h"}
    assert read(here, where="path al2s mu osu", bandwidth="5 Gbps", ends="2026-11-24 06:00") == {
        "path": "al2s",
        "source": "mu",
        "destination": "osu",
        "bandwidth": "5 Gbps",
        "ends": "2026-11-24T06:00:00+00:00",
    }


def test_text_in_a_number_field_is_refused_with_its_field(visiting: Visiting) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(visiting(), where="compute osu-hpc", cores="many")
    assert [one.field for one in refused.value.problems] == ["cores"]


def test_user_without_permission_sees_no_form(visiting: Visiting) -> None:
    ids = [getattr(one, "id", None) for one in parts(reservations_page.show(visiting("auditor")))]
    assert "reservation-add" not in ids
