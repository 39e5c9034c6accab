"""Reservations in the life of the broker: made, drawn on, in the way of others, over, after a restart."""

from __future__ import annotations

from typing import Any

from adon.broker.events import ReservationAsked, ReservationReleased
from adon.broker.flow import FlowState
from adon.broker.resources.reservation import ReservationRequest
from adon.broker.resources.reservation import Stage as Life
from adon.broker.resources.reserving import MOST_EACH
from adon.errors import Conflict, InvalidInput
from tests.broker.queueing.test_reserving import night
from tests.broker.stage import Stage, configuration, know, ready
from tests.support.refusals import refused

SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}


def reserve(stage: Stage, by: str = "ann", lasts: float = 3600.0, **fields: Any) -> str:
    body = {"ends": stage.now + lasts, **fields}
    answer = stage.command(ReservationAsked, ReservationRequest.model_validate(body), by)
    return str(answer["id"])


def all_nodes(stage: Stage, by: str = "ann", **fields: Any) -> None:
    for site, nodes in (("mu-hpc", 3), ("osu-hpc", 15)):
        reserve(stage, by, compute=site, worker_nodes=nodes, **fields)


def test_what_is_reserved_keeps_others_out_until_it_is_over() -> None:
    stage = ready()
    all_nodes(stage, lasts=600)
    kept_out = stage.submit(by="bob")
    assert kept_out.state is FlowState.QUEUED
    assert "(reserved by r-1)" in kept_out.reason
    assert stage.submit(by="ann").state is FlowState.ACTIVE, "they are ann's"
    stage.pass_time(601)
    know(stage, al2s=58.0)
    assert stage.flow(kept_out).state is FlowState.ACTIVE
    assert [text for text in stage.said if text.endswith("is over")], stage.said


def test_a_release_lets_others_in_at_once() -> None:
    stage = ready()
    all_nodes(stage)
    waits = stage.submit(by="bob")
    assert waits.state is FlowState.QUEUED
    stage.command(ReservationReleased, 1, "ann")
    assert stage.flow(waits).state is FlowState.ACTIVE
    assert stage.reservations[1].released_at == stage.now
    with refused(Conflict, field="state"):
        stage.command(ReservationReleased, 1, "ann")


def test_reservations_survive_a_restart_and_expire_after_it() -> None:
    stage = ready()
    all_nodes(stage, lasts=600)
    running = stage.submit(by="ann")
    before = stage.broker.world.ledger
    stage.restart_controller()
    know(stage, al2s=58.0)
    assert stage.broker.world.ledger == before
    waits = stage.submit(by="bob")
    assert waits.state is FlowState.QUEUED
    stage.report(running)
    stage.pass_time(601)
    know(stage, al2s=58.0)
    assert stage.flow(waits).state is FlowState.ACTIVE


def test_bandwidth_that_is_reserved_is_promised_to_nobody_else() -> None:
    stage = ready(internet=6.5)
    reserve(stage, path="al2s", source="mu", destination="osu", bandwidth="55 Mbps")
    flow = stage.submit(by="bob", **SIX)
    assert flow.path == "internet"
    excluded = {one.path: one.why for one in stage.last_decision(flow).candidates}
    assert excluded["al2s"].startswith("5.6 Mbps of bandwidth free, 6 Mbps needed; r-1 keeps 55 Mbps")
    assert stage.submit(by="ann", **SIX).path == "al2s"
    back = stage.submit(by="bob", qspec={"throughput": {"min": "5 Mbps"}})
    assert back.path == "al2s", "what is left may be had"


def test_a_flow_waits_for_reserved_bandwidth_and_gets_it_when_it_is_released() -> None:
    stage = ready(internet=0)
    reserve(stage, path="al2s", source="mu", destination="osu", bandwidth="55 Mbps")
    flow = stage.submit(by="bob", **SIX)
    assert flow.state is FlowState.QUEUED
    stage.command(ReservationReleased, 1, "ann")
    assert stage.flow(flow).path == "al2s"


def test_a_reservation_in_the_other_direction_is_in_nobodys_way() -> None:
    stage = ready()
    reserve(stage, path="al2s", source="osu", destination="mu", bandwidth="60 Mbps")
    assert stage.submit(by="bob").path == "al2s"


def test_flows_that_run_are_in_the_way_of_a_reservation() -> None:
    stage = ready()
    flow = stage.submit(by="bob", qspec={"throughput": {"min": "50 Mbps"}})
    assert flow.path == "al2s"
    with refused(Conflict, field="reservation"):
        reserve(stage, path="al2s", source="mu", destination="osu", bandwidth="20 Mbps")
    stage.report(flow)
    reserve(stage, path="al2s", source="mu", destination="osu", bandwidth="20 Mbps")


def test_it_begins_and_ends_by_itself_and_says_so() -> None:
    stage = ready()
    reserve(stage, compute="osu-hpc", worker_nodes=2, begins=stage.now + 100, lasts=300)
    assert stage.reservations[1].stage(stage.now) is Life.AHEAD
    stage.pass_time(150)
    assert [text for text in stage.said if "r-1" in text][-1].endswith("begins")
    stage.pass_time(200)
    assert [text for text in stage.said if "r-1" in text][-1].endswith("is over")
    assert stage.broker.world.ledger.reservations == ()
    assert reserve(stage, compute="osu-hpc", worker_nodes=2) == "r-2", "numbers are given once"


def test_a_late_flow_is_told_of_when_a_reservation_begins() -> None:
    read = configuration(reserve_nodes=0)
    stage = ready(read.model_copy(update={"compute": {"osu-hpc": read.compute["osu-hpc"]}}))
    flow = stage.submit(by="bob")
    assert flow.ends_by is not None
    begins = flow.ends_by + 1
    reserve(stage, compute="osu-hpc", worker_nodes=16, begins=begins, lasts=begins + 99 - stage.now)
    for _ in range(int(begins - stage.now) + 2):
        stage.pass_time(1)
        stage.carry(flow, 1000)
    told = [text for text in stage.said if "r-1" in text][-1]
    assert told.endswith("begins, but flows are late there: 16 worker nodes free, 17 needed")


def test_a_reservation_for_one_flow() -> None:
    stage = ready(internet=0)
    first = stage.submit(by="ann", qspec={"throughput": {"min": "50 Mbps"}})
    second = stage.submit(by="ann", qspec={"throughput": {"min": "50 Mbps"}})
    assert (first.state, second.state) == (FlowState.ACTIVE, FlowState.QUEUED)
    along = {"path": "al2s", "source": "mu", "destination": "osu", "bandwidth": "50 Mbps"}
    soon = float(first.ends_by or 0)
    reserve(stage, **along, begins=soon, lasts=soon + 600 - stage.now, flow=second.number)
    with refused(InvalidInput, field="flow"):
        reserve(stage, "bob", **along, flow=second.number)
    assert stage.reservations[1].for_whom == "f-2 of ann"


def test_one_person_may_not_have_them_without_end() -> None:
    stage = ready()
    for day in range(MOST_EACH):
        begins = stage.now + day * 3000
        reserve(stage, compute="osu-hpc", cores=1, begins=begins, lasts=begins + 2000 - stage.now)
    with refused(Conflict, field="reservation"):
        reserve(stage, compute="osu-hpc", cores=1)
    reserve(stage, "bob", compute="osu-hpc", cores=1)


AL2S = {"path": "al2s", "source": "mu", "destination": "osu"}


def test_bandwidth_that_a_flow_has_booked_cannot_be_reserved_as_well() -> None:
    stage = ready()
    booked = night(stage).booking
    for mbps, fits in ((45, False), (35, True)):
        wish = {**AL2S, "bandwidth": f"{mbps} Mbps", "begins": booked.begins, "ends": booked.ends}
        if fits:
            assert reserve(stage, **wish) == "r-1"
        else:
            with refused(Conflict, field="reservation"):
                reserve(stage, **wish)


def test_bandwidth_that_somebody_has_reserved_cannot_be_booked_as_well() -> None:
    stage = ready()
    reserve(stage, by="bob", lasts=4 * 3600.0, bandwidth="50 Mbps", **AL2S)
    with refused(InvalidInput, field="deadline"):
        night(stage)
    assert night(stage, deadline="9 h").booking.begins >= stage.now + 4 * 3600
