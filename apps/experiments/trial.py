"""One trial, from its first flow to its last byte: a loop around the timeline.

What happens comes from three sides: carriers tell of bytes, the decider has news of its decisions, time
passes.  Each is told to the timeline, which answers with what to begin next.  Nothing is decided here.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from adon.errors import AdonError, Unavailable
from adon.experiments.events import Event
from adon.experiments.parts import What
from adon.experiments.steps import course, ended_by
from adon.experiments.timeline import ALL, Action, Begin, Never, Passed, Skip, advance
from apps.experiments.carriers import Began, Carriers, Ended, Message
from apps.experiments.deciding import Decided, Decider, Given, News, Refused
from apps.experiments.happenings import Happenings
from apps.experiments.lives import Carried, FlowLife
from apps.experiments.loads import load_of_event, load_of_flow
from apps.experiments.record import Outcome, Record
from mininet_topos.waiting import wait_until

POLL_S = 0.3
SEEN_BY_TESTS = frozenset({What.TESTED, What.RETESTED})
DYING_S = 3.0
"""Seconds that a dying network may take: its first process ends after all others in it."""

INTERRUPTED = "interrupted"


@dataclass(slots=True)
class Running:
    """A trial under way.

    :param disk: the folder for what flows store.
    :param healthy: raises an error when the network or ADON has died.
    :param deferred: a context that nothing interrupts.
    """

    record: Record
    carriers: Carriers
    disk: Path
    healthy: Callable[[], None]
    deferred: Callable[[], AbstractContextManager[None]] = nullcontext
    _open: set[str] = field(default_factory=set)

    # -- the loop -------------------------------------------------------------------------------------------

    def run(self, decider: Decider, happen: Happenings, keep: Callable[[Outcome], object]) -> None:
        """Carry it out; an error of ADON's or the network's makes it partial, with what there is by then.

        :param keep: is given what came of it, before anything can interrupt.
        """
        why = ""
        self.record.began_at = self.record.now
        try:
            try:
                why = self._loop(decider, happen)
            except AdonError as error:
                why = str(error)  # looking for its cause takes seconds, in which somebody may interrupt
                why = self._cause(error)
                self._broken_off(why)
        except KeyboardInterrupt:
            why = why or INTERRUPTED
            self._broken_off(why)
        with self.deferred():
            for life in self.record.flows.values():
                life.cut = life.carried.running
            self.carriers.end()
            # One who is dead is asked nothing: each question would be half a minute of silence.
            silent = self._drain_quietly(decider, self._dead() if why else "")
            keep(self.record.outcome(decider, why, silent))

    def _broken_off(self, why: str) -> None:
        self.record.note("trial", "trial", "ends", "broken off", why)

    def _cause(self, error: AdonError) -> str:
        """What lies behind an error: a switch does not answer because the network is dying."""
        wait_until(lambda: self._dead() != "", DYING_S)
        return self._dead() or str(error)

    def _dead(self) -> str:
        """What does not run any more, in words; empty if everything does."""
        try:
            self.healthy()
        except AdonError as error:
            return str(error)
        return ""

    def _loop(self, decider: Decider, happen: Happenings) -> str:
        state = course(self.record.trial)
        self.record.heard.append(Passed())
        while True:
            while self.record.heard:
                state, actions = advance(
                    state, self.record.heard.pop(0), self.record.now - self.record.began_at
                )
                for action in actions:
                    self._act(action, decider, happen)
                if actions:  # what is decided at once does not wait for our next look
                    self._look(decider)
            if state.over and all(life.over for life in self.record.flows.values()) and not self._open:
                return ""
            now = self.record.now - self.record.began_at
            if now > self.record.trial.limit:
                return f"not over within {self.record.trial.limit:g} s: {self.record.missing()}"
            self._wait(
                min(POLL_S, self.record.trial.limit - now + 0.01, (state.wake or now + POLL_S) - now), decider
            )
            self.healthy()
            for life in self.record.flows.values():
                life.carried.look(self.record.now)
            self._look_at_tests(decider, state.awaited)
            self._look(decider)
            self.record.heard.append(Passed())

    def _look(self, decider: Decider) -> None:
        for news in decider.look():
            self._news(news)

    def _wait(self, seconds: float, decider: Decider) -> None:
        try:
            message = self.carriers.inbox.get(timeout=max(0.001, seconds))
        except queue.Empty:
            return
        self._carried(message, decider)
        self._drain(decider)

    def _drain(self, decider: Decider) -> None:
        while not self.carriers.inbox.empty():
            self._carried(self.carriers.inbox.get(), decider)

    def _drain_quietly(self, decider: Decider, silent: str) -> str:
        """Note how the rest ended; who decides is told until it does not answer.

        :param silent: why it is not told at all; empty if it is.
        :return: why it is not to be asked any more; empty if it may be.
        """
        while not self.carriers.inbox.empty():
            try:
                self._carried(self.carriers.inbox.get(), None if silent else decider)
            except AdonError as error:
                silent = str(error)
        return silent

    # -- actions --------------------------------------------------------------------------------------------

    def _act(self, action: Action, decider: Decider, happen: Happenings) -> None:
        of = ended_by(action.step)
        match action:
            case Skip(step, why):
                if of is None:
                    self.record.tell(f"{step} is left out: {why}")
                    self._skipped(step, why)
                else:
                    self._end(of, decider, happen)  # what is to end with a moment that never comes ends now
            case Begin(step):
                if of is not None:
                    self._end(of, decider, happen)
                elif step in self.record.flows:
                    self._ask(self.record.flows[step], decider)
                else:
                    self._begin(self.record.event(step), happen)

    def _skipped(self, step: str, why: str) -> None:
        life = self.record.flows.get(step)
        if life is not None:
            life.refused = life.refused or f"never asked for: {why}"
        else:
            self.record.note(step, self.record.event(step).kind, "begins", "left out", why)

    def _ask(self, life: FlowLife, decider: Decider) -> None:
        flow = life.flow
        if life.over:  # its end has come before it
            return
        life.asked = self.record.now
        self.record.tell(f"{flow.name} asks for a path from {flow.source} to {flow.destination}")
        self.record.hear(flow.name, What.ASKED)
        decider.ask(flow, life.port)

    def _begin(self, event: Event, happen: Happenings) -> None:
        self.record.hear(event.name, What.ASKED)
        if event.load is not None:
            carried = self.record.loads[event.name] = Carried()
            self.record.note(event.name, event.kind, "begins", f"load on {event.load.path}", "")
            if event.lasts is not None or event.until is not None:
                self._open.add(event.name)
            load = load_of_event(event.load, self.record.network, self.record.ports[event.name])
            self.carriers.begin(event.name, load, carried)
            return
        # What it leads to may come before it has been carried out to the end: a port is down at once.
        ordered = self.record.now
        try:
            done = happen.begin(event)
            self.record.note(event.name, event.kind, "begins", done.about, done.trouble, ordered)
        except AdonError as error:
            self.record.note(event.name, event.kind, "begins", event.kind, str(error))
            raise
        if event.lasts is not None or event.until is not None:
            self._open.add(event.name)
        self.record.hear(event.name, What.BEGINS)

    def _end(self, of: str, decider: Decider, happen: Happenings) -> None:
        carried = self.record.carried(of)
        if carried is not None:
            carried.stop()
            life = self.record.flows.get(of)
            if life is not None and not carried.ordered and not life.over:
                self._refused(of, "its end came before it had a path")
                if life.asked is not None:
                    decider.withdrawn(of)
            return
        if of not in self._open:
            return
        event = self.record.event(of)
        done = happen.end(event)
        self.record.note(of, event.kind, "ends", done.about, done.trouble)
        self._open.discard(of)
        self.record.hear(of, What.ENDS)

    # -- what happened --------------------------------------------------------------------------------------

    def _carried(self, message: Message, decider: Decider | None) -> None:
        """Note what was told of something under way, and tell whoever decides, if there is anybody."""
        life, carried = self.record.flows.get(message.name), self.record.carried(message.name)
        assert carried is not None  # noqa: S101 - who tells of it carries it
        match message:
            case Began(name, at):
                carried.began = carried.since = at
                self.record.hear(name, What.BEGINS, at)
                if life is not None:
                    self.record.tell(f"{name} sends")
                    if decider is not None:
                        decider.began(name)
            case Ended(name, last_byte, delivered):
                # The first word of a sender may take longer to us than all its bytes to the receiver.
                at = last_byte if carried.began is None else max(carried.began, last_byte)
                carried.ended, carried.delivered = at, delivered
                self.record.hear(name, What.ENDS, at)
                if life is None:
                    self.record.note(name, "load", "ends", f"{delivered.received} bytes", delivered.trouble)
                    self._open.discard(name)
                    if not carried.stopped:
                        # What a flow finds without the load is not what the file asks for.
                        raise Unavailable(f"{name} ended by itself: {delivered.trouble or 'silently'}")
                    return
                trouble = f": {delivered.trouble}" if delivered.trouble else ""
                self.record.tell(f"{name} ends after {at - (carried.began or at):.1f} s{trouble}")
                if decider is not None:
                    decider.ended(name, delivered)
                self._closed(name, "it is over")

    def _news(self, news: News) -> None:
        life = self.record.flows[news.flow]
        match news:
            case Decided(_, number, at):
                life.number = number
                life.decided = life.decided or self.record.now if at is None else max(at, life.asked or at)
            case Refused(_, why):
                if not life.over and not life.carried.ordered:
                    self._refused(news.flow, why)
            case Given(name, path, at):
                if life.over:
                    return
                life.decided = life.decided or self.record.now
                life.paths.append((at, path))
                if len(life.paths) > 1:
                    self.record.tell(f"{name} is moved to {path}")
                    self.record.hear(name, What.MOVED, at)
                    return
                self.record.tell(f"{name} is given {path}")
                self.record.hear(name, What.ADMITTED, at)
                self.carriers.begin(
                    name, load_of_flow(life.flow, self.record.network, life.port, self.disk), life.carried
                )

    def _refused(self, flow: str, why: str) -> None:
        self.record.flows[flow].refused = why
        self.record.tell(f"{flow} is refused: {why}")
        self.record.hear(flow, What.ENDS)
        self._closed(flow, f"it was refused: {why}")

    def _closed(self, flow: str, why: str) -> None:
        """Of its moments only a test may still come, after which others may wait for it."""
        never_sent = self.record.flows[flow].carried.began is None
        self.record.heard.append(Never(flow, ALL if never_sent else ALL - SEEN_BY_TESTS, why))

    def _look_at_tests(self, decider: Decider, awaited: frozenset[tuple[str, What]]) -> None:
        if not self.record.tests.due(self.record.now):
            return
        new = self.record.tests.look(self.record.began_at, self.record.now)
        if new:
            decider.measured(new)
        for of, what in awaited:
            if what in SEEN_BY_TESTS:
                self._tested(of, what)

    def _tested(self, of: str, what: What) -> None:
        carried = self.record.carried(of) or Carried()
        since = carried.began if what is What.TESTED else carried.ended
        if since is None:
            return
        at = self.record.tests.tested(since, self.record.tested_paths_of(of))
        if at is not None:
            self.record.hear(of, what, at)
