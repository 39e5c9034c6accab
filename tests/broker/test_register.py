from __future__ import annotations

from typing import Any

from adon.flowvisor.cookie import Kind
from measurement.model import PathKey
from tests.broker.stage import Stage, ready
from tests.broker.test_counters import DESTINATION, SOURCE, reported

ONE: dict[str, Any] = {"qspec": {"throughput": {"min": "1 Mbps"}}}


def two_flows() -> tuple[Stage, Any, Any]:
    stage = ready()
    first, second = stage.submit(**ONE), stage.submit(**ONE, streams=3)
    assert first.path == second.path == "al2s"
    return stage, first, second


def test_a_flow_is_no_load_to_itself() -> None:
    stage, first, second = two_flows()
    load = stage.broker.flows.loads(("mu", "osu"))["al2s"]
    assert first.path_since is not None
    assert second.path_since is not None
    assert [other.streams for other in load.without((first.path_since, 1))] == [3]
    assert [other.streams for other in load.without((second.path_since, 3))] == [1]


def test_the_use_of_a_path_is_known_when_every_flow_on_it_has_a_rate() -> None:
    stage, first, second = two_flows()
    load = stage.broker.flows.loads(("mu", "osu"))["al2s"]
    for flow, rate in ((first, 8e6), (second, 16e6)):
        assert load.used() is None
        for at in (0.0, 5.0):
            rules = [reported(1, Kind.FLOW_INGRESS, int(rate * at / 8))]
            stage.broker.flows.counters(flow).report(at, 1, rules, SOURCE, DESTINATION)
    used = load.used()
    assert used is not None
    assert used.used == 24e6


def test_flows_on_a_path_by_direction() -> None:
    stage, first, second = two_flows()
    assert stage.broker.flows.on(PathKey("al2s", "mu", "osu")) == [first.id, second.id]
    assert stage.broker.flows.on(PathKey("al2s", "osu", "mu")) == []
    assert stage.broker.flows.reserved() == {"al2s": 2e6}


def test_what_the_request_says_goes_before_what_the_template_says() -> None:
    stage = ready()
    plain = stage.submit(**ONE)
    asked = stage.submit(**ONE, priority=7, queue_patience="3 s")
    register, template = stage.broker.flows, stage.templates.get("soykb")
    assert (register.priority(plain), register.priority(asked)) == (template.priority, 7)
    assert (register.patience(plain), register.patience(asked)) == (template.selection.queue_patience, 3.0)


def test_rivals_are_those_with_a_port_in_common_or_with_none() -> None:
    stage = ready()
    known = stage.submit(**ONE, ports=[5001, 5002])
    learnt = stage.submit(**ONE, ports=[])
    rivals = stage.broker.flows.rivals
    asked = known.request.model_copy(update={"ports": (5002, 6000)})
    assert [flow.id for flow in rivals(asked)] == [known.id]
    assert rivals(asked.model_copy(update={"ports": (6000,)})) == []
    assert [flow.id for flow in rivals(asked.model_copy(update={"ports": ()}))] == [learnt.id]
    back = {"ports": (), "source": "osu-dtn", "destination": "mu-dtn"}
    assert [flow.id for flow in rivals(asked.model_copy(update=back))] == [learnt.id]
    stage.cancel(known)
    assert rivals(asked) == []


def test_the_next_deadline_is_that_of_who_still_waits() -> None:
    stage = ready()
    register = stage.broker.flows
    wish: dict[str, Any] = {"qspec": {"throughput": {"min": "60 Mbps"}}}
    assert register.next_deadline() is None
    first = stage.submit(**wish, queue_patience="20 s")
    second = stage.submit(**wish, queue_patience="50 s")
    assert register.next_deadline() == stage.now + 20
    stage.cancel(first)
    assert register.next_deadline() == stage.now + 50
    stage.cancel(second)
    assert register.next_deadline() is None
