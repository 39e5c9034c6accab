"""Trials with real programs and real bytes, on loopback; who decides is the simulator's, or a stand-in."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from dataclasses import replace

import pytest

from adon.errors import Unavailable
from adon.experiments.figures import Figure, Measure
from adon.experiments.measures import value
from adon.experiments.results import DecisionRow, FlowState
from adon.timestamps import format_time
from apps.experiments import stage
from apps.experiments.carriers import Began, Carriers, Ended
from apps.experiments.deciding import Decided, Given, Refused
from apps.experiments.happenings import Happenings
from apps.experiments.interrupting import Interruption
from apps.experiments.lives import Carried
from apps.experiments.loads import load_of_flow
from apps.experiments.record import Outcome, Record
from apps.experiments.seen_tests import SeenTests
from apps.experiments.stage import Staged
from apps.experiments.trial import INTERRUPTED, Running
from mininet_topos.carrying import Carriage, Delivered
from mininet_topos.shaping import Change
from mininet_topos.waiting import wait_until
from tests.apps.experiments.loopback import THROUGHPUT, Bed, file, trials
from tests.ports import free_port

SOYKB = "flow: soykb, template: soykb, from: mu, to: osu, streams: 2"
SMALL = f"{{{SOYKB}, size: 300 MB}}"


class Run:
    """One trial under way."""

    def __init__(self, tmp_path, text: str, **options) -> None:
        self.bed = Bed(tmp_path)
        (self.trial, *_) = trials(text)
        tests = SeenTests(options.pop("tests", lambda _began: ()))
        self.record = Record(self.trial, self.bed.network, tests, lambda _line: None)
        self.running = Running(
            self.record, Carriers(self.bed), tmp_path, **{"healthy": lambda: None, **options}
        )
        self.decider = stage.decider(Staged(self.bed, self.trial), self.record)
        self.happenings = Happenings(self.bed, self.decider, None, self.trial.links)

    def outcome(self):
        found: list[Outcome] = []
        self.running.run(self.decider, self.happenings, found.append)
        return found[0]


def test_a_flow_is_asked_for_given_its_path_and_counted_byte_by_byte(tmp_path):
    run = Run(tmp_path, file(f"[{SMALL}]"))
    outcome = run.outcome()
    assert outcome.why == ""
    (row,) = outcome.tables.flows
    assert (row.state, row.path, row.received, row.size) == ("finished", "al2s", 3_000_000, 3_000_000)
    assert 0 <= row.asked <= row.decided <= row.began <= row.ended
    assert sum(one.received for one in outcome.tables.throughput) == 3_000_000
    assert {one.path for one in outcome.tables.throughput} == {"al2s"}
    assert [(one.flow, one.outcome, one.path) for one in outcome.tables.decisions] == [
        ("soykb", "admit", "al2s")
    ]
    commands = [words[0] for words in run.bed.told]
    assert commands == ["--names"] * 4 + ["del-flows"] * 2


def test_what_had_arrived_before_we_heard_that_it_was_sent_took_no_time(tmp_path):
    run = RunByOurClock(tmp_path, file(f"[{SMALL}]"))
    begin = run.carriers.begin

    def at_once(name, load, carried):
        begin(name, load, carried)
        now = run.carriers.clock()
        run.carriers.later(now + 0.2, Ended(name, now, Delivered(received=3_000_000)))

    run.carriers.begin = at_once
    (row,) = run.outcome().tables.flows
    assert (row.state, row.ended) == ("finished", row.began)


def test_what_is_stored_is_written_to_the_disk_and_gone_afterwards(tmp_path):
    """Written for as long as it runs: what does not fit on the disk fails, and says so."""
    outcome = Run(tmp_path, file(f"[{{{SOYKB}, size: 300 MB, store: disk}}]")).outcome()
    (row,) = outcome.tables.flows
    assert (row.state, row.received) == ("finished", 3_000_000)
    assert list(tmp_path.iterdir()) == []
    run = Run(tmp_path, file(f"[{{{SOYKB}, size: 300 MB, store: disk}}]"))
    run.running.disk = tmp_path / "nowhere"
    (row,) = run.outcome().tables.flows
    assert row.state == "failed"
    assert row.trouble


def test_a_flow_was_decided_on_when_its_decision_was_made_not_when_it_was_seen(tmp_path):
    run = RunByOurClock(tmp_path, file(f"[{{{SOYKB}, at: 2 s, lasts: 1 s}}]"))
    run.decider = Late(run.record)
    (row,) = run.outcome().tables.flows
    assert row.began - row.asked > 5
    assert row.decided - row.asked == pytest.approx(0.25)


def test_what_comes_after_comes_after(tmp_path):
    second = "flow: second, after: [soykb, ends, 0.2 s], template: soykb, from: osu, to: mu, size: 100 MB"
    outcome = Run(tmp_path, file(f"[{SMALL}, {{{second}}}]")).outcome()
    first, then = outcome.tables.flows
    assert then.asked >= first.ended + 0.2
    assert then.state == "finished"


UNTIL = "{flow: b, template: soykb, from: mu, to: osu, rate: 8 Gbps, until: [a, ends]}"
LASTING = f"[{{flow: a, template: soykb, from: mu, to: osu, lasts: 1.5 s, rate: 8 Gbps}}, {UNTIL}]"


def test_a_policy_that_hashes_takes_the_same_path_in_every_repetition(tmp_path):
    taken = set()
    for trial in trials(file(f"[{SMALL}]", policies="[ecmp]").replace("repetitions: 1", "repetitions: 9")):
        bed = Bed(tmp_path)
        record = Record(trial, bed.network, SeenTests(lambda _began: ()), lambda _line: None)
        decider = stage.decider(Staged(bed, trial), record)
        decider.ask(trial.flows[0], 20_000)
        taken |= {row.path for row in decider.remembered(trial.number)}
    assert len(taken) == 1


def test_programs_that_are_told_to_end_report_what_arrived(tmp_path):
    outcome = Run(tmp_path, file(LASTING)).outcome()
    assert outcome.why == ""
    for row in outcome.tables.flows:
        assert row.state == "finished"
        assert row.received > 0


def test_a_flow_lasts_as_long_as_the_file_says_or_until_something(tmp_path):
    run = RunByOurClock(tmp_path, file(LASTING))
    first, then = run.outcome().tables.flows
    assert first.ended - first.began == pytest.approx(1.5, abs=0.01)
    assert then.ended == pytest.approx(first.ended, abs=0.01)


def test_what_is_to_end_before_it_sends_never_sends(tmp_path):
    """Its end is a moment that comes first: it must not go on for the rest of the trial."""
    late = "{flow: late, after: [a, begins, 1 min], template: soykb, from: mu, to: osu, until: [a, ends]}"
    run = RunByOurClock(tmp_path, file(LASTING.replace(UNTIL, late), limit="5 min"))
    outcome = run.outcome()
    assert outcome.why == ""
    assert [row.state for row in outcome.tables.flows] == ["finished", "rejected"]
    assert outcome.tables.flows[1].trouble
    assert outcome.tables.flows[1].asked is None
    assert [one.flow for one in outcome.tables.decisions] == ["a"]


def test_what_waits_when_its_end_comes_is_withdrawn_from_who_decides(tmp_path):
    events = "[{event: slow, at: 1 s, link: {path: al2s, rate: 300 Mbps, for: 1 s}}]"
    flow = "{flow: a, template: soykb, from: mu, to: osu, until: [slow, ends]}"
    run = RunByOurClock(tmp_path, file(f"[{flow}]", events))
    run.decider = Queueing()
    outcome = run.outcome()
    assert outcome.why == ""
    assert run.decider.told == ["a asked", "a withdrawn"]
    assert [row.state for row in outcome.tables.flows] == ["rejected"]


def test_what_is_told_to_end_before_its_programs_are_there_ends(tmp_path):
    run = Run(tmp_path, file(f"[{{{SOYKB}, lasts: 10 s}}]"))
    carriers, carried = run.running.carriers, Carried()
    carried.stop()
    load = load_of_flow(run.trial.flows[0], run.bed.network, free_port(), tmp_path)
    try:
        carriers.begin("soykb", load, carried)
        messages = [carriers.inbox.get(timeout=20)]
        while not isinstance(messages[-1], Ended):
            messages.append(carriers.inbox.get(timeout=20))
    finally:
        carriers.end()


def test_a_load_that_ends_by_itself_breaks_the_trial_off(tmp_path):
    """What flows find without it is not what the file asks for."""
    events = "[{event: others, at: 0 s, load: {path: al2s, streams: 2}}]"
    run = RunByOurClock(tmp_path, file(f"[{{{SOYKB}, lasts: 1 min, rate: 8 Gbps}}]", events, limit="2 min"))
    run.carriers.fails = {"others": 2.0}
    outcome = run.outcome()
    assert outcome.why.startswith("others ")
    assert outcome.why.endswith("no route")
    assert outcome.tables.flows[0].state == FlowState.RUNNING


def test_loads_and_links_come_and_go(tmp_path):
    events = """
  - {event: others, at: 0 s, load: {path: al2s, streams: 2, for: 1 s}}
  - {event: cut, after: [others, begins], link: {path: al2s, state: down, for: 0.5 s}}
  - {event: slow, at: 0 s, link: {name: routed, rate: 300 Mbps}}
"""
    run = Run(tmp_path, file(f"[{SMALL}]", events))
    outcome = run.outcome()
    run.happenings.undo()
    assert outcome.why == ""
    told = [(row.event, row.phase) for row in outcome.tables.events]
    assert told.index(("cut", "begins")) < told.index(("cut", "ends"))
    assert ("others", "ends") in told
    assert [link for link in run.bed.links if link[0] == "line"] == [
        ("line", Change(up=False)),
        ("line", Change(up=True)),
    ]
    slow, restored = [change for name, change in run.bed.links if name == "routed"]
    assert slow == Change(rate=3e6)
    assert restored == Change(rate=run.bed.network.link("routed").shape.rate)
    assert any(row.flow == "others" and row.received > 0 for row in outcome.tables.throughput)


def test_a_link_is_again_what_the_trial_wants_not_what_it_was_built_as(tmp_path):
    events = """
  - {event: worse, at: 0 s, link: {path: al2s, delay: 90 ms, for: 1 s}}
  - {event: cut, after: [worse, begins], link: {path: al2s, state: down, rate: 300 Mbps, for: 0.2 s}}
"""
    text = f"{file(f'[{{{SOYKB}, lasts: 3 s}}]', events)}links: {{al2s: {{delay: 20 ms, loss: 1 %}}}}\n"
    run = RunByOurClock(tmp_path, text)
    assert run.outcome().why == ""
    run.happenings.undo()
    line = run.bed.network.link("line")
    assert [change for name, change in run.bed.links if name == "line"] == [
        Change(delay=0.09),
        Change(up=False, rate=3e6),
        Change(up=True, rate=line.shape.rate),
        Change(delay=0.02),
    ]


def test_a_flow_that_is_moved_by_hand_is_on_both_paths(tmp_path):
    flow = f"{{{SOYKB}, lasts: 4 s, rate: 8 Gbps}}"
    events = "[{event: hand, after: [soykb, begins, 0.8 s], move: {flow: soykb, to: internet}}]"
    outcome = Run(tmp_path, file(f"[{flow}]", events)).outcome()
    (row,) = outcome.tables.flows
    assert row.paths.split()[::2] == ["al2s", "internet"]
    assert [one.outcome for one in outcome.tables.decisions] == ["admit", "move"]


def test_a_move_by_hand_of_a_flow_that_is_not_asked_for_yet_is_said_not_to_be_done(tmp_path):
    flow = f"{{{SOYKB}, at: 2 s, lasts: 1 s}}"
    run = RunByOurClock(
        tmp_path, file(f"[{flow}]", "[{event: hand, at: 1 s, move: {flow: soykb, to: internet}}]")
    )
    outcome = run.outcome()
    assert outcome.why == ""
    assert [(row.event, bool(row.trouble)) for row in outcome.tables.events] == [("hand", True)]


def test_what_is_not_over_in_time_is_said_and_kept(tmp_path):
    flow = f"{{{SOYKB}, size: 10 TB, rate: 8 Gbps}}"

    def shorten() -> None:
        if run.record.received("soykb") > 0:
            run.record.trial = replace(run.trial, limit=2.0)

    run = Run(tmp_path, file(f"[{flow}]", limit="10 h"), healthy=shorten)
    outcome = run.outcome()
    assert {"2", "soykb"} <= {*outcome.why.split()}
    (row,) = outcome.tables.flows
    assert row.state == FlowState.RUNNING
    assert row.ended is None
    assert row.received > 0


def test_decisions_that_cannot_be_read_any_more_are_those_remembered(tmp_path, monkeypatch):
    run = Run(tmp_path, file(f"[{SMALL}]"))

    def dead(_trial):
        raise Unavailable("refused")

    monkeypatch.setattr(run.decider, "decisions", dead)
    outcome = run.outcome()
    assert outcome.why.endswith(": refused")
    assert [one.outcome for one in outcome.tables.decisions] == ["admit"]


def test_what_dies_in_the_middle_ends_the_trial_and_is_named(tmp_path):
    def healthy() -> None:
        if run.record.received("soykb") > 0:
            raise Unavailable("died")

    flow = f"{{{SOYKB}, lasts: 1 min, rate: 8 Gbps}}"
    run = Run(tmp_path, file(f"[{flow}]", limit="2 min"), healthy=healthy)
    outcome = run.outcome()
    assert outcome.why == "died"
    assert outcome.tables.flows[0].state == FlowState.RUNNING
    assert [(row.event, row.trouble) for row in outcome.tables.events] == [("trial", "died")]


def test_ctrl_c_in_the_middle_keeps_what_there_is(tmp_path):
    """A second one changes nothing: what was found is kept all the same."""
    said: list[str] = []
    interruption = Interruption(said.append)
    flow = f"{{{SOYKB}, lasts: 1 min, rate: 8 Gbps}}"
    run = Run(tmp_path, file(f"[{flow}]", limit="2 min"), deferred=interruption.deferred)

    def press() -> None:
        assert wait_until(lambda: run.record.received("soykb") > 0, 15)
        os.kill(os.getpid(), signal.SIGINT)
        assert wait_until(lambda: interruption.came, 15)
        os.kill(os.getpid(), signal.SIGINT)

    with interruption.watched():
        pressing = threading.Thread(target=press)
        pressing.start()
        outcome = run.outcome()
        pressing.join()
    assert outcome.why == INTERRUPTED
    assert outcome.tables.flows[0].received > 0
    assert len(said) == 1


THREE = ", ".join(
    f"{{flow: {name}, template: soykb, from: mu, to: osu, lasts: 1 min, rate: 8 Gbps}}" for name in "abc"
)


@pytest.mark.parametrize(("dead", "asked"), [(False, ["a ended"]), (True, [])])
def test_who_decides_and_does_not_answer_is_not_asked_again_when_a_trial_is_broken_off(tmp_path, dead, asked):
    """Each question would take half a minute, and nothing interrupts them: of a dead one nothing is asked."""

    pressed: list[bool] = []

    def healthy() -> None:
        if all(life.carried.began for life in run.record.flows.values()):
            if dead:
                raise Unavailable("ended")
            if not pressed:
                pressed.append(True)
                raise KeyboardInterrupt

    run = RunByOurClock(tmp_path, file(f"[{THREE}]", limit="2 min"), healthy=healthy)
    run.decider = Silent(run.record)
    outcome = run.outcome()
    assert outcome.why == ("ended" if dead else INTERRUPTED)
    assert run.decider.told == asked
    assert [row.received for row in outcome.tables.flows] == [1, 1, 1]
    assert [row.outcome for row in outcome.tables.decisions] == ["remembered"]


def throughput_test(path: str, started: float) -> dict[str, object]:
    """A result as GET /measurements answers."""
    times = {"started_at": format_time(started), "observed_at": format_time(started + 0.1)}
    ends = {"path": path, "source": "mu", "destination": "osu"}
    return {**ends, **times, "metric": "throughput", "value": 1e6, "origin": f"{started}", "tool": "iperf3"}


@pytest.mark.parametrize("what", ["tested", "retested"])
def test_what_comes_after_a_test_comes_after_one_of_every_path(tmp_path, what):
    """Of each path there is one test that began before the flow, and one that began after it had ended."""
    then = f"{{flow: then, after: [soykb, {what}], template: soykb, from: mu, to: osu, size: 100 MB}}"
    began = time.time()
    tests = [throughput_test(path, began - 5) for path in ("al2s", "internet")]
    text = file(f"[{SMALL}, {then}]", measuring=THROUGHPUT)
    run = Run(tmp_path, text, tests=lambda _began: list(tests))
    soykb = run.record.flows["soykb"].carried

    def test_each_path() -> None:
        assert wait_until(lambda: soykb.ended is not None, 15)
        for path in ("al2s", "internet"):
            tests.append(throughput_test(path, time.time()))
            time.sleep(1.2)

    threading.Thread(target=test_each_path, daemon=True).start()
    outcome = run.outcome()
    assert outcome.why == ""
    assert len(outcome.tables.measurements) == 4
    assert outcome.tables.flows[1].asked >= max(row.at for row in outcome.tables.measurements)


def test_what_comes_after_the_test_of_a_load_comes_after_one_of_every_path(tmp_path):
    """Not only of the path that it is on: who decides compares them."""
    then = "{flow: then, after: [others, tested], template: soykb, from: mu, to: osu, size: 100 MB}"
    events = "[{event: others, at: 0 s, load: {path: al2s, streams: 2, until: [then, ends]}}]"
    tests: list[dict[str, object]] = []
    text = file(f"[{then}]", events, measuring=THROUGHPUT)
    run = Run(tmp_path, text, tests=lambda _began: list(tests))

    def test_each_path() -> None:
        assert wait_until(lambda: getattr(run.record.carried("others"), "began", None) is not None, 15)
        for path in ("al2s", "internet"):
            tests.append(throughput_test(path, time.time()))
            time.sleep(1.2)

    threading.Thread(target=test_each_path, daemon=True).start()
    outcome = run.outcome()
    assert outcome.why == ""
    assert outcome.tables.flows[0].asked >= max(row.at for row in outcome.tables.measurements)
    assert len(outcome.tables.measurements) == 2


def test_what_waits_for_a_flow_that_is_refused_is_left_out(tmp_path):
    then = "{flow: then, after: [soykb, begins], template: soykb, from: mu, to: osu, size: 100 MB}"
    run = Run(tmp_path, file(f"[{SMALL}, {then}]"))
    run.decider = Refusing()
    outcome = run.outcome()
    assert [row.state for row in outcome.tables.flows] == ["rejected", "rejected"]
    assert "unqualified" in outcome.tables.flows[1].trouble
    assert outcome.why == ""


def test_a_flow_that_was_never_asked_for_has_missed_its_deadline(tmp_path):
    then = (
        "{flow: then, after: [soykb, begins], template: soykb, from: mu, to: osu, size: 1 GB, deadline: 9 s}"
    )
    run = Run(tmp_path, file(f"[{SMALL}, {then}]"))
    run.decider = Refusing()
    tables = run.outcome().tables
    assert (tables.flows[1].asked, tables.flows[1].deadline) == (None, 9.0)
    assert value(tables, Figure(of=Measure.DEADLINES_MISSED)) == 1.0


def test_a_flow_that_is_refused_keeps_the_reason_whatever_was_to_end_it(tmp_path):
    lasting = f"{{{SOYKB}, lasts: 1 s}}"
    then = "{flow: then, after: [soykb, begins], template: soykb, from: mu, to: osu, lasts: 1 s}"
    run = RunByOurClock(tmp_path, file(f"[{lasting}, {then}]"))
    said: list[str] = []
    run.record.tell = said.append
    run.decider = Refusing()
    outcome = run.outcome()
    soykb, skipped = outcome.tables.flows
    assert soykb.trouble == "unqualified"
    assert skipped.trouble.endswith(": unqualified")
    assert [line.split()[0] for line in said if "refused: " in line and "then" not in line] == ["soykb"]


class Clock:
    """Time that passes when somebody waits."""

    now = 1_795_000_000.0

    def __call__(self) -> float:
        return self.now


class Told(Carriage):
    """Stands for the two programs of a flow: their end is told as soon as they are to stop."""

    def __init__(self, name: str, carriers: StandIns) -> None:
        self.name, self.carriers, self.ending = name, carriers, False
        self.received, self._before = 1, [1]

    def stop(self) -> None:
        if not self.ending:
            self.ending = True
            at = self.carriers.clock()
            self.carriers.later(at, Ended(self.name, at, Delivered(received=1)))


class StandIns:
    """Carriers without programs, and their inbox: things happen at times that are known."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.inbox = clock, self
        self.fails: dict[str, float] = {}
        self.coming: list[tuple[float, object]] = []
        self.carried: list[Carried] = []

    def later(self, at: float, message: object) -> None:
        self.coming = sorted([*self.coming, (at, message)], key=lambda one: one[0])

    def begin(self, name, load, carried) -> None:
        carried.ordered, carried.carriage = True, Told(name, self)
        self.carried.append(carried)
        self.later(self.clock() + 0.1, Began(name, self.clock() + 0.1))
        if name in self.fails:
            at = self.clock() + self.fails[name]
            self.later(at, Ended(name, at, Delivered(trouble="no route")))

    def end(self) -> None:
        for carried in self.carried:
            carried.stop()

    def empty(self) -> bool:
        return not self.coming or self.coming[0][0] > self.clock.now

    def get(self, timeout: float = 0.0):
        until = self.clock.now + timeout
        if not self.coming or self.coming[0][0] > until:
            self.clock.now = until
            raise queue.Empty
        at, message = self.coming.pop(0)
        self.clock.now = max(self.clock.now, at)
        return message


class RunByOurClock(Run):
    """A trial in which time is ours: nothing is started."""

    def __init__(self, tmp_path, text: str, **options) -> None:
        super().__init__(tmp_path, text, **options)
        clock = Clock()
        self.carriers = StandIns(clock)
        self.record.clock, self.running.carriers = clock, self.carriers


class Queueing:
    """A decider that lets everybody wait."""

    def __init__(self) -> None:
        self.news, self.told = [], []

    def ask(self, flow, port):
        self.told.append(f"{flow.name} asked")
        self.news.append(Decided(flow.name))

    def withdrawn(self, flow):
        self.told.append(f"{flow} withdrawn")

    def ports(self, path, *, live):
        pass

    def look(self):
        news, self.news = self.news, []
        return news

    def measured(self, tests):
        pass

    def decisions(self, trial):
        return ()


class Refusing(Queueing):
    """A decider that has no room for anybody."""

    def ask(self, flow, port):
        self.news += [Decided(flow.name), Refused(flow.name, "unqualified")]


class Silent(Queueing):
    """A decider that gives everybody a path, and then does not answer any more."""

    def __init__(self, sight) -> None:
        super().__init__()
        self.sight = sight

    def ask(self, flow, port):
        self.news.append(Given(flow.name, "al2s", self.sight.now))

    def began(self, flow):
        pass

    def ended(self, flow, delivered):
        self.told.append(f"{flow} ended")
        raise Unavailable("does not answer in time")

    def decisions(self, trial):
        self.told.append("all decisions")
        raise Unavailable("does not answer in time")

    def remembered(self, trial):
        return [DecisionRow(trial, 0.0, "a", "remembered", "al2s", None, None, "")]


class Late(Queueing):
    """A decider that decides after a quarter of a second, and tells so after five."""

    def __init__(self, sight) -> None:
        super().__init__()
        self.sight, self.asked_at = sight, 0.0

    def ask(self, flow, port):
        self.asked_at = self.sight.now
        decided = Decided(flow.name, at=self.asked_at + 0.25)
        self.news = [decided, Given(flow.name, "al2s", self.asked_at + 5)]

    def look(self):
        return super().look() if self.sight.now > self.asked_at + 5 else ()

    def began(self, flow):
        pass

    def ended(self, flow, delivered):
        pass
