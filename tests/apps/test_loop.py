from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from adon.broker.effects import Effect, WakeAt
from adon.broker.events import BatchFailed, Event, SnapshotAsked, Tick
from apps.campus_edge import loop as module
from apps.campus_edge.loop import DecisionLoop, Inbox, Stamps


class Clock:
    """A clock that moves only when told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class ScriptedInbox(Inbox):
    """Gives what the script holds; where it says a number, so many seconds pass without an event.

    A wait longer than asked for would be a late tick, so the time that is let pass is what was asked.
    """

    def __init__(self, clock: Clock, script: Iterable[Event | str | None]) -> None:
        super().__init__()
        self._clock, self._script = clock, list(script)
        self.waits: list[float] = []

    def get(self, timeout: float) -> Event | None:
        self.waits.append(timeout)
        step = self._script.pop(0)
        if isinstance(step, str):
            self._clock.now += timeout
            raise queue.Empty
        return step


class Broker:
    """Says the effects it was given, event by event."""

    def __init__(self, *effects: list[Effect]) -> None:
        self.events: list[Event] = []
        self._effects = list(effects)

    def handle(self, event: Event) -> list[Effect]:
        self.events.append(event)
        return self._effects.pop(0) if self._effects else []


def asked(number: int) -> Event:
    return SnapshotAsked(f"e-{number}", 1000.0, f"c-{number}")


def nothing_overdue(_: float) -> tuple[list[Event], float | None]:
    return [], None


def run(
    clock: Clock, script: list[Event | str | None], broker: Broker, overdue: Any = nothing_overdue
) -> tuple[ScriptedInbox, list[tuple[str, list[Effect]]]]:
    carried: list[tuple[str, list[Effect]]] = []
    inbox = ScriptedInbox(clock, [*script, None])
    thread = DecisionLoop(
        inbox,
        broker,
        lambda event, effects: carried.append((event.id, list(effects))),
        overdue,
        Stamps(clock),
    )
    thread.run()
    return inbox, carried


def test_stamps_are_unique_carry_the_time_and_tell_runs_apart() -> None:
    clock = Clock()
    first = Stamps(clock)
    ids = [first() for _ in range(3)]
    assert len({identifier for identifier, _ in ids}) == 3
    assert {at for _, at in ids} == {1000.0}
    clock.now += 0.1
    assert not {identifier for identifier, _ in ids} & {Stamps(clock)()[0] for _ in range(3)}


def test_stamps_of_many_threads_are_unique() -> None:
    stamps, seen = Stamps(), set[str]()
    threads = [
        threading.Thread(target=lambda: seen.update([stamps()[0] for _ in range(500)])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2000


def test_event_that_was_overtaken_in_the_queue_has_the_time_of_the_event_before_it() -> None:
    clock, broker = Clock(), Broker()
    late = [SnapshotAsked(f"e-{at}", at, "c") for at in (1005.0, 1004.0, 1006.0, 999.0)]
    run(clock, late, broker)
    assert [(event.id, event.at) for event in broker.events] == [
        ("e-1005.0", 1005.0),
        ("e-1004.0", 1005.0),
        ("e-1006.0", 1006.0),
        ("e-999.0", 1006.0),
    ]


def test_events_are_decided_and_carried_out_one_after_the_other_in_order() -> None:
    broker = Broker([], [WakeAt("e-2", 5000.0)])
    _, carried = run(Clock(), [asked(1), asked(2), asked(3)], broker)
    assert [event.id for event in broker.events] == ["e-1", "e-2", "e-3"]
    assert carried == [("e-1", []), ("e-2", [WakeAt("e-2", 5000.0)]), ("e-3", [])]


def test_a_tick_comes_when_it_was_asked_for_and_only_once() -> None:
    clock = Clock()
    broker = Broker([WakeAt("e-1", 1007.0)])
    inbox, _ = run(clock, [asked(1), "wait", "wait"], broker)
    (tick,) = [event for event in broker.events if isinstance(event, Tick)]
    assert tick.at == 1007.0
    assert inbox.waits[1] == 7.0
    assert inbox.waits[2] == 60.0, "nothing is asked for any more"


def test_the_earlier_of_two_wishes_counts() -> None:
    clock = Clock()
    broker = Broker([WakeAt("e-1", 1007.0)], [WakeAt("e-2", 1003.0)], [WakeAt("e-3", 1050.0)])
    inbox, _ = run(clock, [asked(1), asked(2), asked(3), "wait"], broker)
    assert inbox.waits[3] == 3.0
    assert [event.at for event in broker.events if isinstance(event, Tick)] == [1003.0]


def test_a_tick_is_not_starved_by_events() -> None:
    clock = Clock()
    broker = Broker([WakeAt("e-1", 1000.0)])
    run(clock, [asked(1), asked(2)], broker)
    assert [type(event).__name__ for event in broker.events] == ["SnapshotAsked", "Tick", "SnapshotAsked"]


def test_a_wish_in_the_past_does_not_make_a_busy_loop() -> None:
    clock = Clock()
    broker = Broker([WakeAt("e-1", 10.0)])
    inbox, _ = run(clock, [asked(1), "wait", "wait"], broker)
    assert inbox.waits[1:] == [60.0, 60.0, 60.0]


def test_what_is_overdue_is_decided_first_and_asked_about_again_in_time() -> None:
    clock = Clock()
    late = BatchFailed("late", 1000.0, 1, "f-1/1", "no barrier reply within 5 s")

    def overdue(now: float) -> tuple[list[Event], float | None]:
        return ([late], None) if now >= 1005.0 else ([], 1005.0)

    broker = Broker()
    inbox, carried = run(clock, ["wait", asked(2)], broker, overdue)
    assert inbox.waits[0] == 5.0
    assert [identifier for identifier, _ in carried][:2] == ["late", "e-2"]


def test_an_exception_in_the_core_stops_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(module, "die", ended.append)

    class Broken(Broker):
        def handle(self, event: Event) -> list[Effect]:
            raise RuntimeError("a bug")

    run(Clock(), [asked(1)], Broken())
    assert len(ended) == 1


def test_stop_ends_the_thread_after_what_is_waiting() -> None:
    inbox, broker = Inbox(), Broker()
    thread = DecisionLoop(inbox, broker, lambda *_: None, nothing_overdue, Stamps())
    inbox.put(asked(1))
    thread.stop()
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
    assert [event.id for event in broker.events] == ["e-1"]


class Chores:
    """Some things to do when there is time; says when each was done."""

    def __init__(self, log: list[str], count: int) -> None:
        self._log, self._left = log, count

    @property
    def pending(self) -> bool:
        return self._left > 0

    def do_some(self) -> None:
        self._left -= 1
        self._log.append("chore")


def at_leisure(script: list[Event | str | None], chores: int) -> tuple[list[str], ScriptedInbox]:
    clock, log = Clock(), list[str]()
    inbox = ScriptedInbox(clock, [*script, None])
    carry_out: Any = lambda event, _: log.append(event.id)  # noqa: E731
    leisure = Chores(log, chores)
    DecisionLoop(inbox, Broker(), carry_out, nothing_overdue, Stamps(clock), leisure).run()
    return log, inbox


def test_events_go_before_what_has_time() -> None:
    log, inbox = at_leisure([asked(1), asked(2), "empty", asked(3), "empty"], 2)
    assert log == ["e-1", "e-2", "chore", "e-3", "chore"]
    assert inbox.waits[:4] == [0.0] * 4, "nobody waits for an event while there is something to do"
    assert inbox.waits[-1] == 60.0


def test_what_had_no_time_is_done_before_the_end() -> None:
    log, _ = at_leisure([asked(1)], 3)
    assert log == ["e-1", "chore", "chore", "chore"]
