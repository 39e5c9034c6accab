"""Reservations in the life of the broker: made, drawn on, in the way of others, over, after a restart."""

from __future__ import annotations

from adon.broker.events import ReservationReleased
from adon.broker.flow import FlowState
from adon.broker.resources.reservation import Stage as Life
from adon.broker.resources.reservation_events import MOST_EACH
from adon.errors import Conflict, InvalidInput
from tests.broker.queueing.scenes import reserve_tonight
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import know, make_stage

SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}


def test_what_is_reserved_keeps_others_out_until_it_is_over() -> None:
    stage = make_stage()
    stage.reserve_nodes("ann", lasts=600)
    kept_out = stage.submit(by="bob")
    stage.expect(kept_out, state="queued", code="no-site")
    assert stage.submit(by="ann").state is FlowState.ACTIVE, "they are ann's"
    stage.pass_time(601)
    know(stage, al2s=58.0)
    assert stage.flow(kept_out).state is FlowState.ACTIVE
    assert ("reservation-ended", "info", None) in stage.announcements()


def test_a_release_lets_others_in_at_once() -> None:
    stage = make_stage()
    stage.reserve_nodes("ann")
    waits = stage.submit(by="bob")
    assert waits.state is FlowState.QUEUED
    stage.command(ReservationReleased, 1, "ann")
    assert stage.flow(waits).state is FlowState.ACTIVE
    assert stage.saved.reservations[1].released_at == stage.now
    with refused(Conflict, field="state"):
        stage.command(ReservationReleased, 1, "ann")


def test_reservations_survive_a_restart_and_expire_after_it() -> None:
    stage = make_stage()
    stage.reserve_nodes("ann", lasts=600)
    running = stage.submit(by="ann")
    before = stage.snapshot()["resources"]
    stage.restart()
    know(stage, al2s=58.0)
    assert stage.snapshot()["resources"] == before
    waits = stage.submit(by="bob")
    assert waits.state is FlowState.QUEUED
    stage.report(running)
    stage.pass_time(601)
    know(stage, al2s=58.0)
    assert stage.flow(waits).state is FlowState.ACTIVE


def test_bandwidth_that_is_reserved_is_promised_to_nobody_else() -> None:
    stage = make_stage(internet=6.5)
    stage.reserve(path="al2s", source="mu", destination="osu", bandwidth="55 Mbps")
    flow = stage.submit(by="bob", **SIX)
    stage.expect(flow, path="internet", why={"al2s": "reserved"})
    assert stage.submit(by="ann", **SIX).path == "al2s"
    back = stage.submit(by="bob", qspec={"throughput": {"min": "5 Mbps"}})
    assert back.path == "al2s", "what is left may be had"


def test_a_flow_waits_for_reserved_bandwidth_and_gets_it_when_it_is_released() -> None:
    stage = make_stage(internet=0)
    stage.reserve(path="al2s", source="mu", destination="osu", bandwidth="55 Mbps")
    flow = stage.submit(by="bob", **SIX)
    assert flow.state is FlowState.QUEUED
    stage.command(ReservationReleased, 1, "ann")
    assert stage.flow(flow).path == "al2s"


def test_a_reservation_in_the_other_direction_is_in_nobodys_way() -> None:
    stage = make_stage()
    stage.reserve(path="al2s", source="osu", destination="mu", bandwidth="60 Mbps")
    assert stage.submit(by="bob").path == "al2s"


def test_flows_that_run_are_in_the_way_of_a_reservation() -> None:
    stage = make_stage()
    flow = stage.submit(by="bob", qspec={"throughput": {"min": "50 Mbps"}})
    assert flow.path == "al2s"
    with refused(Conflict, field="reservation"):
        stage.reserve(path="al2s", source="mu", destination="osu", bandwidth="20 Mbps")
    stage.report(flow)
    stage.reserve(path="al2s", source="mu", destination="osu", bandwidth="20 Mbps")


def test_it_begins_and_ends_by_itself_and_says_so() -> None:
    stage = make_stage()
    stage.reserve(compute="osu-hpc", worker_nodes=2, begins=stage.now + 100, lasts=300)
    assert stage.saved.reservations[1].stage(stage.now) is Life.AHEAD
    stage.pass_time(150)
    assert stage.announcements()[-1] == ("reservation-begun", "info", None)
    stage.pass_time(200)
    assert stage.announcements()[-1] == ("reservation-ended", "info", None)
    assert stage.reserve(compute="osu-hpc", worker_nodes=2) == "r-2", "numbers are given once"


def test_a_late_flow_is_told_of_when_a_reservation_begins() -> None:
    read = make_configuration(reserve_nodes=0)
    stage = make_stage(read.model_copy(update={"compute": {"osu-hpc": read.compute["osu-hpc"]}}))
    flow = stage.submit(by="bob")
    assert flow.ends_by is not None
    begins = flow.ends_by + 1
    stage.reserve(compute="osu-hpc", worker_nodes=16, begins=begins, lasts=begins + 99 - stage.now)
    for _ in range(int(begins - stage.now) + 2):
        stage.pass_time(1)
        stage.carry(flow, 1000)
    assert ("reservation-overdrawn", "warning", None) in stage.announcements()


def test_a_reservation_for_one_flow() -> None:
    stage = make_stage(internet=0)
    first = stage.submit(by="ann", qspec={"throughput": {"min": "50 Mbps"}})
    second = stage.submit(by="ann", qspec={"throughput": {"min": "50 Mbps"}})
    assert (first.state, second.state) == (FlowState.ACTIVE, FlowState.QUEUED)
    along = {"path": "al2s", "source": "mu", "destination": "osu", "bandwidth": "50 Mbps"}
    soon = float(first.ends_by or 0)
    stage.reserve(**along, begins=soon, lasts=soon + 600 - stage.now, flow=second.number)
    with refused(InvalidInput, field="flow"):
        stage.reserve("bob", **along, flow=second.number)
    assert (stage.saved.reservations[1].flow, stage.saved.reservations[1].owner) == (2, "ann")


def test_one_person_may_not_have_them_without_end() -> None:
    stage = make_stage()
    for day in range(MOST_EACH):
        begins = stage.now + day * 3000
        stage.reserve(compute="osu-hpc", cores=1, begins=begins, lasts=begins + 2000 - stage.now)
    with refused(Conflict, field="reservation"):
        stage.reserve(compute="osu-hpc", cores=1)
    stage.reserve("bob", compute="osu-hpc", cores=1)


AL2S = {"path": "al2s", "source": "mu", "destination": "osu"}


def test_bandwidth_that_a_flow_has_booked_cannot_be_reserved_as_well() -> None:
    stage = make_stage()
    booked = reserve_tonight(stage).booking
    for mbps, fits in ((45, False), (35, True)):
        wish = {**AL2S, "bandwidth": f"{mbps} Mbps", "begins": booked.begins, "ends": booked.ends}
        if fits:
            assert stage.reserve(**wish) == "r-1"
        else:
            with refused(Conflict, field="reservation"):
                stage.reserve(**wish)


def test_bandwidth_that_somebody_has_reserved_cannot_be_booked_as_well() -> None:
    stage = make_stage()
    stage.reserve(by="bob", lasts=4 * 3600.0, bandwidth="50 Mbps", **AL2S)
    with refused(InvalidInput, field="deadline"):
        reserve_tonight(stage)
    assert reserve_tonight(stage, deadline="9 h").booking.begins >= stage.now + 4 * 3600
