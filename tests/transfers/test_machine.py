"""No two runs at once, none after a cancel, bytes that never go back, an end to trying."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from adon.transfers.machine import (
    Broke,
    Deed,
    FlowStands,
    Patience,
    Phase,
    Prepared,
    Progressed,
    Report,
    RetryAsked,
    Started,
    Stopped,
    Succeeded,
    Ticked,
    Transfer,
    Unanswered,
    step,
    todo,
    told,
)

PATIENCE = Patience(3, 10.0, 60.0)
GO = FlowStands(go=True, over=False)
HOLD = FlowStands(go=False, over=False)
OVER = FlowStands(go=False, over=True)
NEW = Transfer(7, "adon/f-7/1", "mu-dtn", pausable=True)


def after(*events: object, start: Transfer = NEW, now: float = 0.0) -> Transfer:
    for event in events:
        start = step(start, event, now, PATIENCE, 1.0)  # type: ignore[arg-type]
    return start


def test_it_waits_for_its_flow_runs_and_is_done() -> None:
    assert todo(NEW) is None
    assert todo(after(GO)) is Deed.START
    running = after(GO, Started(3), Progressed(40))
    assert (running.phase, running.tries, running.job) == (Phase.RUNNING, 1, 3)
    assert running.report == Report("progress", 40)
    done = after(Succeeded(100), start=running)
    assert (done.phase, done.report, todo(done)) == (Phase.DONE, Report("finished", 100), None)


def test_what_broke_starts_again_after_pauses_that_grow_and_fails_in_the_end() -> None:
    broken = after(GO, Started(1), Broke("disk full", kept=30))
    assert (broken.phase, broken.next_at, broken.kept, broken.error) == (
        Phase.RETRYING,
        10.0,
        30,
        "disk full",
    )
    assert after(Ticked(), start=broken, now=9.9).phase is Phase.RETRYING
    again = after(Ticked(), Started(2), Progressed(5), Broke("disk full"), start=broken, now=10.0)
    assert (again.next_at, again.bytes) == (30.0, 35)
    last = after(Ticked(), Started(3), Broke("disk full"), start=again, now=30.0)
    assert (last.phase, last.report) == (Phase.FAILED, Report("failed", 35, "disk full"))


def test_who_asks_need_not_wait_for_the_pause() -> None:
    assert after(GO, Started(1), Broke("x"), RetryAsked()).phase is Phase.STARTING


def test_what_another_run_cannot_mend_fails_at_once() -> None:
    assert after(GO, Broke("no such folder", again=False)).phase is Phase.FAILED


def test_it_is_stopped_while_its_flow_waits_and_goes_on_where_it_was() -> None:
    stopping = after(GO, Started(1), Progressed(50), HOLD)
    assert todo(stopping) is Deed.STOP
    paused = after(Stopped(kept=40), start=stopping)
    assert (paused.phase, paused.kept, paused.failures) == (Phase.WAITING, 40, 0)
    resumed = after(GO, Started(2), Progressed(20), start=paused)
    assert (resumed.phase, resumed.bytes) == (Phase.RUNNING, 60)


def test_what_runs_is_stopped_before_it_is_cancelled() -> None:
    stopping = after(GO, Started(1), OVER)
    assert (stopping.phase, todo(stopping)) == (Phase.STOPPING, Deed.STOP)
    assert after(GO, OVER, Started(1)).phase is Phase.STOPPING
    assert after(Stopped(), GO, Ticked(), start=stopping).phase is Phase.CANCELLED


def test_bytes_never_go_back() -> None:
    assert after(GO, Started(1), Progressed(40), Progressed(30)).bytes == 40


def test_a_flow_that_cannot_pause_lets_its_transfer_run() -> None:
    steady = Transfer(7, "k", "mu-dtn")
    assert after(GO, Started(1), HOLD, start=steady).phase is Phase.RUNNING


def test_a_job_of_somebody_else_is_neither_stopped_nor_started_again() -> None:
    foreign = Transfer(7, "k", "mu-dtn", attached=True, pausable=True)
    running = after(GO, Started(1), start=foreign)
    assert after(HOLD, start=running).phase is Phase.RUNNING
    assert after(OVER, start=running).phase is Phase.CANCELLED
    assert after(Broke("it broke"), start=running).phase is Phase.FAILED


def test_only_the_report_that_was_taken_is_forgotten() -> None:
    running = after(GO, Started(3), Progressed(40))
    assert told(running, Report("progress", 40)).report is None
    assert told(running, Report("started", 0)).report == Report("progress", 40)


def test_pauses_stay_within_their_bounds() -> None:
    assert Patience(9, 1.0, 60.0).pause(10_000, 1.0) == 60.0
    assert Patience(9, 8.0, 60.0).pause(1, 0.0) == 4.0


@dataclass
class Tool:
    """A tool that does as it is told, is slow, breaks, and forgets."""

    runs: int = 0
    starts: int = 0
    seen: list[int] = field(default_factory=list)


WHAT = st.sampled_from(["go", "hold", "over", "do", "do", "do", "break", "silent", "time", "retry"])


@settings(max_examples=500)
@given(
    st.lists(st.tuples(WHAT, st.sampled_from([0, 10, 30, 60, 95])), min_size=6, max_size=40), st.booleans()
)
def test_whatever_happens(script: list[tuple[str, int]], pausable: bool) -> None:
    transfer, tool, now = Transfer(1, "k", "a", pausable=pausable), Tool(), 0.0
    cancelled = False
    for what, number in script:
        starts, before = tool.starts, transfer
        transfer, now = happens(transfer, tool, what, number, now)
        assert tool.runs in (0, 1)
        assert transfer.bytes >= before.bytes
        if cancelled:
            assert tool.starts == starts
        cancelled = cancelled or what == "over"
        assert transfer.failures <= PATIENCE.tries
        if transfer.phase.final or transfer.phase is Phase.RETRYING or transfer.phase is Phase.WAITING:
            assert tool.runs == 0
        if before.phase.final:
            assert transfer.phase is before.phase


def happens(t: Transfer, tool: Tool, what: str, number: int, now: float) -> tuple[Transfer, float]:
    event: object = Ticked()
    match what:
        case "go" | "hold":
            event = FlowStands(go=what == "go", over=False)
        case "over":
            event = OVER
        case "time":
            now += number
        case "retry":
            event = RetryAsked()
        case "silent":
            event = Unanswered("no answer")
        case "break" if tool.runs:
            tool.runs = 0
            if todo(t) is Deed.LOOK:
                event = Broke("it broke", kept=number)
        case "do":
            event = done(t, tool, number)
    return step(t, event, now, PATIENCE, 0.5), now  # type: ignore[arg-type]


def done(t: Transfer, tool: Tool, number: int) -> object:
    match todo(t):
        case Deed.START:
            if number < 20:
                return Broke("not now", again=number > 5)
            tool.runs, tool.starts = tool.runs + 1, tool.starts + 1
            return Started(tool.starts)
        case Deed.LOOK:
            if not tool.runs:
                return Broke("it is gone")
            if number > 90:
                tool.runs = 0
                return Succeeded(number)
            return Progressed(number)
        case Deed.STOP:
            tool.runs = 0
            return Stopped(number)
        case _:
            return Ticked()


def test_what_is_starting_when_its_flow_has_to_wait_is_found_and_stopped() -> None:
    for one in (NEW, Transfer(7, "k", "mu-dtn")):
        assert after(GO, HOLD, start=one).phase is Phase.STOPPING
        assert after(GO, HOLD, Stopped(), start=one).phase is Phase.WAITING
    foreign = Transfer(7, "k", "mu-dtn", attached=True)
    assert after(GO, HOLD, start=foreign).phase is Phase.STARTING


def test_the_mark_of_a_run_is_kept_before_it_is_asked_for_and_forgotten_with_it() -> None:
    asked = after(GO, Prepared("s-1"))
    assert (asked.phase, asked.mark, todo(asked)) == (Phase.STARTING, "s-1", Deed.START)
    assert after(Started("t-1", "s-1"), Broke("x"), start=asked).mark == ""
    assert after(HOLD, Stopped(), start=asked).mark == ""
