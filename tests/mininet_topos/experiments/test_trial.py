from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from adon.api.measurements import ExecutionView, OverlapView
from adon.errors import Unavailable
from mininet_topos.commands import wait_until
from mininet_topos.experiments.document import Moment, Phase
from mininet_topos.experiments.policies import FlowUpdate
from mininet_topos.experiments.results import DecisionRow, FlowRow
from mininet_topos.experiments.trial import TrialOutcome, TrialRun
from mininet_topos.experiments.trial_setup import TrialSetup
from mininet_topos.experiments.verdicts import OVERLAP
from mininet_topos.testbed import LinkChange
from tests.mininet_topos.experiments.loopback import UNDO, Archive, LoopbackTestbed, make_setup, make_trial

TIMEOUT = 60.0
FLOW = "{flow: soykb, template: soykb, from: mu, to: osu, size: 100 MB}"
THEN = "{flow: then, after: [soykb, ends], template: soykb, from: mu, to: osu, size: 100 MB}"
THROUGHPUT = "measuring: {rtt: null, latency: null}"


def carry_out(
    workload: str, events: str = "[]", policy: str = "always al2s", **options: Any
) -> tuple[TrialOutcome, LoopbackTestbed]:
    testbed = LoopbackTestbed()
    setup = make_setup(make_trial(workload, events, policy, **options), testbed)
    return TrialRun(setup, lambda _line: None).run(), testbed


def row_of(outcome: TrialOutcome, flow: str) -> FlowRow:
    return next(row for row in outcome.tables.flows if row.flow == flow)


def at(outcome: TrialOutcome, of: str, what: str) -> float:
    found = outcome.tables.time_of(Moment(of=of, what=Phase(what)))
    assert found is not None
    return found


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    thread = Thread(target=act)
    thread.start()
    yield
    thread.join()


def test_flow_is_pinned_to_its_path_and_every_byte_is_counted():
    outcome, testbed = carry_out(f"[{FLOW}]")
    (row,) = outcome.tables.flows
    assert (outcome.reason, row.state, row.paths, row.problem) == ("", "finished", "al2s", "")
    assert row.received == row.size == 1_000_000
    assert row.asked <= row.began <= row.ended
    assert sum(one.received for one in outcome.tables.throughput) == row.received
    assert {one.path for one in outcome.tables.throughput if one.received} == {"al2s"}
    assert [(one.flow, one.outcome, one.path) for one in outcome.tables.decisions] == [
        ("soykb", "admit", "al2s")
    ]
    assert {rule[0] for rule in testbed.rules} == {"--names", "del-flows"}


def test_flow_starts_after_the_moment_that_it_waits_for():
    outcome, _ = carry_out(f"[{FLOW}, {THEN}]")
    assert row_of(outcome, "then").asked >= row_of(outcome, "soykb").ended


def test_flow_that_lasts_a_time_ends_after_it():
    outcome, _ = carry_out("[{flow: a, template: soykb, from: mu, to: osu, lasts: 1 s, rate: 100 Mbps}]")
    (row,) = outcome.tables.flows
    assert (row.state, row.problem) == ("finished", "")
    assert row.received > 0
    assert row.ended - row.began >= 1.0


def test_flow_that_lasts_until_another_ends_is_stopped_then():
    long = "{flow: long, template: soykb, from: mu, to: osu, until: [soykb, ends], rate: 100 Mbps}"
    outcome, _ = carry_out(f"[{long}, {FLOW}]")
    assert row_of(outcome, "long").state == "finished"
    assert row_of(outcome, "long").ended >= row_of(outcome, "soykb").ended


def test_flow_whose_end_comes_first_never_sends():
    late = "{flow: late, at: 1 h, template: soykb, from: mu, to: osu, until: [soykb, ends]}"
    outcome, _ = carry_out(f"[{FLOW}, {late}]", limit="10 s")
    assert row_of(outcome, "late").state == "rejected"
    assert row_of(outcome, "late").received == 0


def test_load_is_carried_between_the_measured_addresses_of_its_path_until_its_end():
    events = "[{event: others, at: 0 s, load: {path: internet, streams: 2, until: [soykb, ends]}}]"
    later = FLOW.replace("template", "after: [others, begins], template")
    outcome, _ = carry_out(f"[{later}]", events)
    assert outcome.reason == ""
    others = [row for row in outcome.tables.throughput if row.flow == "others"]
    assert {row.path for row in others} == {"internet"}
    assert sum(row.received for row in others) > 0
    assert at(outcome, "others", "begins") <= row_of(outcome, "soykb").asked
    assert at(outcome, "others", "ends") >= row_of(outcome, "soykb").ended


def test_load_that_ends_by_itself_makes_the_trial_partial():
    testbed = LoopbackTestbed()
    programs: list[Any] = []
    testbed.popen = lambda *words, **options: (
        programs.append(  # type: ignore[method-assign, assignment]
            LoopbackTestbed.popen(*words, **options)
        )
        or programs[-1]
    )
    flow = "{flow: a, at: 1 h, template: soykb, from: mu, to: osu, size: 1 MB}"
    trial = make_trial(f"[{flow}]", "[{event: others, at: 0 s, load: {path: al2s, streams: 1}}]")
    with meanwhile(lambda: wait_until(lambda: len(programs) == 2, TIMEOUT) and programs[1].kill()):
        outcome = TrialRun(make_setup(trial, testbed), lambda _line: None).run()
    assert "others" in outcome.reason
    assert row_of(outcome, "a").state == "waiting"


CUT = "[{event: cut, at: 0 s, link: {path: internet, rate: 100 Mbps, state: down, until: [soykb, ends]}}]"


def test_change_of_a_circuit_is_undone_at_its_end():
    outcome, testbed = carry_out(f"[{FLOW}]", CUT)
    assert outcome.reason == ""
    assert testbed.changes == [("routed", LinkChange(up=False, rate=1e6)), ("routed", UNDO)]
    assert "1000000.0 bps" in outcome.tables.events[0].about
    assert at(outcome, "cut", "ends") >= row_of(outcome, "soykb").ended


def test_trial_is_partial_if_a_circuit_cannot_be_restored():
    class Broken(LoopbackTestbed):
        def change_link(self, circuit: str, change: LinkChange) -> LinkChange:
            if change == UNDO:
                raise Unavailable(f"{circuit}: tc: no such device")
            return super().change_link(circuit, change)

    setup = make_setup(make_trial(f"[{FLOW}]", CUT), Broken())
    outcome = TrialRun(setup, lambda _line: None).run()
    assert "routed: tc: no such device" in outcome.reason
    assert row_of(outcome, "soykb").state == "finished"
    assert [row.about for row in outcome.tables.events if row.problem] == ["aborted"]


def test_flow_that_is_moved_by_order_was_on_both_paths():
    flow = "{flow: a, template: soykb, from: mu, to: osu, until: [move, begins, 1 s], rate: 100 Mbps}"
    events = "[{event: move, after: [a, begins], move: {flow: a, to: internet}}]"
    outcome, _ = carry_out(f"[{flow}]", events)
    assert row_of(outcome, "a").paths == "al2s > internet"


def test_step_after_a_move_that_failed_is_left_out():
    events = "[{event: move, after: [soykb, ends], move: {flow: soykb, to: internet}}]"
    outcome, _ = carry_out(f"[{FLOW}, {THEN.replace('[soykb, ends]', '[move, begins]')}]", events)
    assert outcome.reason == ""
    assert row_of(outcome, "then").state == "rejected"
    assert ("move", Phase.BEGINS) not in {(row.of, row.what) for row in outcome.tables.moments}


def test_trial_that_is_not_over_in_time_is_partial_and_keeps_what_arrived():
    flow = "{flow: a, template: soykb, from: mu, to: osu, size: 10 TB, rate: 100 Mbps}"
    outcome, _ = carry_out(f"[{flow}]", limit="3 s")
    assert "a is running" in outcome.reason
    assert row_of(outcome, "a").state == "running"
    assert row_of(outcome, "a").ended is None


@pytest.mark.parametrize("what", ["tested", "retested"])
def test_flow_waits_for_a_new_test_of_each_path(what):
    archive, began = Archive(), time.time()
    for path in ("al2s", "internet"):
        archive.add(path, began - 5)
    then = f"{{flow: then, after: [soykb, {what}], template: soykb, from: mu, to: osu, size: 100 MB}}"
    setup = make_setup(make_trial(f"[{FLOW}, {then}]", rest=THROUGHPUT), LoopbackTestbed(), archive)
    run, lines = None, list[str]()

    def test_paths() -> None:
        assert wait_until(lambda: any("soykb ends" in line for line in lines), TIMEOUT)
        for path in ("al2s", "internet"):
            archive.add(path, time.time() + 0.01)

    run = TrialRun(setup, lines.append)
    with meanwhile(test_paths):
        outcome = run.run()
    assert outcome.reason == ""
    assert len(outcome.tables.measurements) == 2
    assert row_of(outcome, "then").asked >= max(row.at for row in outcome.tables.measurements)


def test_best_test_takes_the_path_with_the_best_last_test():
    archive = Archive()
    for path, value in (("al2s", 5e6), ("internet", 4e6), ("al2s", 1e6)):
        archive.add(path, time.time() - 60 + len(archive.results), value)
    setup = make_setup(
        make_trial(f"[{FLOW}]", policy="best test", rest=THROUGHPUT), LoopbackTestbed(), archive
    )
    setup.tests.read()
    outcome = TrialRun(setup, lambda _line: None).run()
    assert row_of(outcome, "soykb").paths == "internet"


def test_overlapping_tests_are_an_event():
    runs = {
        name: ExecutionView(
            task=f"{name}/throughput", planned_start=1.8e9, started=1.8e9, ended=1.8e9 + 1, outcome="finished"
        )
        for name in ("one", "two")
    }
    archive = Archive(overlapping=[OverlapView(first=runs["one"], second=runs["two"])])
    setup = make_setup(make_trial(f"[{FLOW}]", rest=THROUGHPUT), LoopbackTestbed(), archive)
    outcome = TrialRun(setup, lambda _line: None).run()
    (row,) = [row for row in outcome.tables.events if row.event == OVERLAP]
    assert "one/throughput" in row.about
    assert "two/throughput" in row.about


class Scripted:
    """A policy that queues or rejects each flow."""

    def __init__(self, *, rejects: bool) -> None:
        self.rejects, self.finished_flows = rejects, list[tuple[str, object]]()
        self.updates: list[FlowUpdate] = []

    def request(self, flow: Any, port: int) -> None:
        self.updates.append(FlowUpdate(flow.name, time.time(), reason="scripted", is_rejected=self.rejects))

    def report_start(self, flow: str) -> None:
        raise AssertionError(flow)

    def report_end(self, flow: str, delivery: object) -> None:
        self.finished_flows.append((flow, delivery))

    def order_move(self, flow: str, path: str) -> str:
        return "scripted"

    def poll(self) -> list[FlowUpdate]:
        updates, self.updates = self.updates, []
        return updates

    def read_decisions(self) -> None:
        self.updates = []

    decisions: list[DecisionRow] = []  # noqa: RUF012 - of no flow


def run_scripted(
    workload: str, policy: Any, change: Callable[[TrialSetup], object] = lambda _: None
) -> TrialOutcome:
    setup = make_setup(make_trial(workload), LoopbackTestbed())
    setup.policy = policy
    change(setup)
    return TrialRun(setup, lambda _line: None).run()


def test_steps_that_wait_for_a_rejected_flow_are_left_out():
    waiting = "{flow: then, after: [soykb, moved], template: soykb, from: mu, to: osu, size: 100 MB}"
    outcome = run_scripted(f"[{FLOW}, {waiting}]", Scripted(rejects=True))
    assert outcome.reason == ""
    assert [(row.state, row.received) for row in outcome.tables.flows] == [("rejected", 0)] * 2
    assert row_of(outcome, "soykb").problem == "scripted"


def test_queued_flow_is_withdrawn_when_its_end_comes():
    policy = Scripted(rejects=False)
    flow = "{flow: a, template: soykb, from: mu, to: osu, until: [a, asked, 0.5 s], rate: 100 Mbps}"
    outcome = run_scripted(f"[{flow}]", policy)
    assert policy.finished_flows == [("a", None)]
    assert row_of(outcome, "a").state == "rejected"


def test_trial_is_partial_when_adon_ends():
    class Dead(TrialSetup):
        def check_health(self) -> None:
            raise Unavailable("adon serve ended by itself")

    def kill(setup: TrialSetup) -> None:
        setup.__class__ = Dead

    outcome = run_scripted(f"[{FLOW}]", Scripted(rejects=False), kill)
    assert "adon serve ended by itself" in outcome.reason
    assert row_of(outcome, "soykb").state == "waiting"
