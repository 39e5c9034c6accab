"""The controller behind the web side of tests: today's command handler and executor on a stage.

Commands and questions come over a real link.  The production code of the campus edge turns them into events,
saves effects in a real store and answers.  The stage's player carries out effects on switches in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, cast

from adon.broker.effects import Effect
from adon.broker.events import Event
from adon.config import Configuration
from adon.errors import AdonError
from adon.store.store import Store
from adon.templates_catalog.catalog import Catalog
from apps.campus_edge.__main__ import receiver
from apps.campus_edge.commands import Commands
from apps.campus_edge.executor import Executor, Switches
from apps.campus_edge.input_recorder import Remembering
from apps.campus_edge.tally import Tally
from apps.link import LinkServer, Peer
from tests.support.stage import Stage

never_fresh = count(step=1000).__next__
"""A monotonic clock by which no answer is young enough to be given again."""


class PlayedSwitches:
    """What the executor sends to switches is ignored: the stage carries it out."""

    def __getattr__(self, name: str) -> Callable[[Effect], None]:
        return lambda _: None


class HeldPeer:
    """A peer whose answers wait until everything that follows from its command is done and saved."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._held: list[tuple[str, Mapping[str, Any] | AdonError]] | None = []

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._peer.send(kind, payload)

    def answer(self, command: str, value: Mapping[str, Any] | AdonError) -> None:
        if self._held is None:
            self._peer.answer(command, value)
        else:
            self._held.append((command, value))

    def release(self) -> None:
        held, self._held = self._held or [], None
        for command, value in held:
            self._peer.answer(command, value)


class WebStage(Stage):
    """A stage that any thread may feed; an executor saves and answers what the broker returns."""

    def __init__(self, configuration: Configuration, catalog: Catalog, *, now: float) -> None:
        self.lock = threading.RLock()
        self.carry_out_for: Callable[[Event, list[Effect]], None] = lambda *_: None
        self._handled: list[tuple[Event, list[Effect]]] = []
        super().__init__(configuration, catalog, now=now)

    def handle(self, event: Event) -> list[Effect]:
        """Let the broker handle one event, and note its effects for the executor."""
        effects = super().handle(event)
        self._handled.append((event, effects))
        return effects

    def feed(self, event: Event) -> list[Effect]:
        """Feed one event and all that follow from it; then save and answer."""
        with self.lock:
            effects = super().feed(event)
            handled, self._handled = self._handled, []
            for one, its in handled:
                self.carry_out_for(one, its)
            return effects

    def advance(self, until: float) -> None:
        """Let time pass; no command comes meanwhile."""
        with self.lock:
            super().advance(until)


class Controller:
    """The far end of the web side's link.

    :ivar seen: the messages that came over the link.
    :ivar faults: exceptions of the handler other than refusals; a test with any of them fails.
    """

    def __init__(self, path: Path, url: str, configuration: Configuration, now: float) -> None:
        self.store = Store.open(url)
        self._readable = Store.open(url, read_only=True)
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.faults: list[Exception] = []
        self.tally = Tally()
        catalog = Catalog.of(saved.template for saved in self.store.templates())
        self.stage = WebStage(configuration, catalog, now=now)
        self._commands = Commands(self.stage.feed, self._readable, self.stage.stamp, never_fresh)
        remembering = Remembering(self.store, "test")
        executor = Executor(
            self.store, cast(Switches, PlayedSwitches()), self._commands, self._tell, lambda _: None
        )
        executor.remember = remembering.keep

        def carry_out(event: Event, effects: list[Effect]) -> None:
            executor.carry_out(event, effects)
            while remembering.pending:
                remembering.do_some()

        self.stage.carry_out_for = carry_out
        self.server = LinkServer(path, self.handle)

    def _tell(self, kind: str, payload: Mapping[str, Any], role: str | None = None) -> None:
        self.server.broadcast(kind, payload, role)

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        self.seen.append((kind, payload))
        held = HeldPeer(peer)
        try:
            with self.stage.lock:
                receive = receiver(self.stage.broker, self._commands, self.tally)
                receive(cast(Peer, held), kind, payload)
        except AdonError:
            raise
        except Exception as error:
            self.faults.append(error)
            raise
        held.release()

    def close(self) -> None:
        self.server.close()
        with self.stage.lock:
            self._readable.close()
            self.store.close()
