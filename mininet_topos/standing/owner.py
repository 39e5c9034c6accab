"""``python -m mininet_topos.standing.owner``: owns a test network that stays, until SIGTERM or its end.

Standard output is for whoever brings it up, one JSON object per line: ``tell`` on the way, then ``up`` or
``failed``.  What comes later goes to ``owner.log`` in the run folder.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adon.errors import AdonError, InvalidInput
from mininet_topos import old_platforms as platforms
from mininet_topos.interruption import sigterm_interrupts
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.standing import asked as values
from mininet_topos.standing import pings
from mininet_topos.standing.asked import Asked, Standing

if TYPE_CHECKING:
    from mininet_topos.serving import Adon
    from mininet_topos.standing.pings import Answer

LOG = "owner.log"
LOOK_INTERVAL = 0.5
EXIT_DIED = 3
FIRST_PING_S = 30.0

Tell = Callable[[str], None]


@contextmanager
def standing(asked: Asked, tell: Tell) -> Iterator[tuple[Standing, Bed]]:
    """All of it; gone when the context ends.

    :raises InvalidInput, Conflict, Unavailable: if it cannot be had, with the cause.
    """
    began_at = time.time()
    network = asked.described()
    choice = platforms.choose(asked.platform)
    tell(f"platform {choice.platform}: {choice.why}")
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder(default_folder(asked.name)))
        tell(f"building {network.name}: {network.title}")
        underway = stack.enter_context(platforms.begun(choice.platform, network, folder))
        bed = underway.bed
        adon = stack.enter_context(_prepared(bed)) if asked.adon else None
        if adon is not None and underway.sealed:
            adon.launch()
        underway.await_built()
        tell("the network forwards, its measurement points answer")
        answer = None if adon is None else _through_adon(bed, adon, tell)
        made = Standing(
            asked.name,
            folder.path,
            os.getpid(),
            network.name,
            network.scale,
            choice.platform,
            choice.why,
            bed.emulation,
            None if adon is None else adon.url,
            began_at,
            time.time(),
            None if answer is None else answer.document(),
        )
        values.write(made)
        yield made, bed


def _prepared(bed: Bed) -> AbstractContextManager[Adon]:
    from mininet_topos.networks.configuration import fitting
    from mininet_topos.old_platforms.controlled import configuration_of
    from mininet_topos.serving import prepared

    return prepared(bed, configuration_of(bed, schedule=fitting(bed.network)), bed.folder / "adon")


def _through_adon(bed: Bed, adon: Adon, tell: Tell) -> Answer | None:
    """The first ping through ADON's rules, which needs its controller alone; then people's tokens."""
    from mininet_topos.standing.people import introduced

    if adon.process is None:
        adon.launch()
    if not bed.controlled():
        adon.listening()
        bed.reconnect()
    tell("ADON listens for its switches")
    way = next(pings.ways(bed.network), None)
    answer = None if way is None else pings.first(bed, way, FIRST_PING_S)
    if answer is not None:
        tell(f"first ping: {answer}")
    elif way is not None:
        tell(f"no ping went through our rules in {FIRST_PING_S:g} s")
    introduced(adon.answering(), adon.folder)
    return answer


def main(arguments: Sequence[str]) -> int:
    """Bring up what the one argument asks for, as JSON; the exit status."""
    asked = Asked(**json.loads(arguments[0]))

    def say(event: str, **words: object) -> None:
        sys.stdout.write(json.dumps({"event": event, **words}) + "\n")
        sys.stdout.flush()

    try:
        with (
            suppress(KeyboardInterrupt),
            sigterm_interrupts(),
            standing(asked, lambda text: say("tell", text=text)) as (made, bed),
        ):
            say("up", **made.document())
            _be_quiet(made.folder)
            return watch(bed)
    except AdonError as error:
        say("failed", text=str(error), input=isinstance(error, InvalidInput))
        return 2 if isinstance(error, InvalidInput) else 1
    return 0


def watch(bed: Bed) -> int:
    """Stay until the network has ended by itself, which is said, or KeyboardInterrupt."""
    network = Path(f"/proc/{bed.pid}")
    while network.exists():
        time.sleep(LOOK_INTERVAL)
    sys.stderr.write(f"the testbed in {bed.folder} has ended by itself\n")
    return EXIT_DIED


def _be_quiet(folder: Path) -> None:
    """Whoever brought it up goes now: nobody reads our pipe any more."""
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
