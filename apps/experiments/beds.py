"""The test networks of a run: brought up when one is needed, used again while trials leave it as it was."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from apps.experiments import edges
from apps.experiments.interrupting import Interruption
from apps.experiments.progress import Progressing
from mininet_topos import old_platforms as platforms
from mininet_topos.networks import Network
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.old_platforms import Choice
from mininet_topos.old_platforms.bed import Bed

PREFIX = "experiment"


@dataclass(slots=True)
class Beds:
    """The test network, brought up when it is needed, and again where one was spoilt."""

    network: Network
    choice: Choice
    interruption: Interruption
    progress: Progressing
    never_came_up: bool = False
    emulation: str = ""
    _stack: ExitStack = field(default_factory=ExitStack)
    _bed: Bed | None = None
    _first: dict[str, frozenset[str]] = field(default_factory=dict)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """As long as networks may be up; they are gone at the end."""
        try:
            yield
        finally:
            self._remove()

    @contextmanager
    def bed(self) -> Iterator[Bed]:
        """A network for one trial.

        :raises AdonError: if it does not come up.
        """
        yield self._bed if self._bed is not None else self._up()
        if self._bed is None:  # it was spoilt
            return
        with self.interruption.deferred():
            if not edges.cleared(self._bed, self._first):
                self.progress.line("the test network is removed: the next trial gets a new one")
                self._remove()

    def spoilt(self) -> None:
        """The present network is not to be used again."""
        if self._bed is None:
            self.never_came_up = True
            return
        with self.interruption.deferred():
            self._remove()

    def _up(self) -> Bed:
        self.progress.line(f"building {self.network.name} on {self.choice.platform} ({self.choice.why})")
        name = f"{PREFIX}-{int(time.time()) % 100_000}-{secrets.token_hex(2)}"
        stack = ExitStack()
        with stack:
            # Entering may be interrupted: what was entered by then is left.
            folder = stack.enter_context(run_folder(default_folder(name)))
            bed = stack.enter_context(platforms.up(self.choice.platform, self.network, folder))
            self._first = edges.rules_of(bed)
            self._stack = stack.pop_all()
        self.never_came_up = False
        self._bed, self.emulation = bed, bed.emulation
        return bed

    def _remove(self) -> None:
        self._bed = None
        self._stack.close()
        self._stack = ExitStack()
