"""Those who listen to what happens: hundreds of them on one thread, each a place in the ring of events.

The application decides who may listen and to what (:mod:`apps.rest.resources.status_resource`), and leaves a
:class:`Ticket`; what follows is done here, without a thread.  Listeners who may see the same, and have seen
the same, are sent the very same bytes, put together once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from adon.access.identity import Actor
from adon.access.policy import Policy
from adon.errors import AdonError
from apps.rest.bridge import Headers, Message, Receive, Send
from apps.rest.event_stream import Happened, Stream

log = logging.getLogger(__name__)

HEARTBEAT_S = 10.0
GATHER_S = 0.1
"""Listeners are woken at most so often: what happens in between comes to them together."""
SLOW_LISTENER_S = 10.0
"""Seconds a listener may let the events wait that were sent to it; then it is cut off."""
ASK_EVERY_S = 1.0
"""So often it is asked whether those who listen may still."""
ALIVE = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to listen.

    :param who: whose place among the listeners it takes.
    :param seen: the number of the last event that was seen.
    :param seconds: the stream ends after so long.
    :param kinds: what is wanted; None for everything.
    """

    who: str
    actor: Actor | None
    policy: Policy
    seen: int
    seconds: float
    kinds: frozenset[str] | None


HANDOVER = "adon.handover"
"""Key of the WSGI environment under which the server offers to stream."""


@dataclass(slots=True)
class Handover:
    """Where the application leaves the ticket of a request."""

    ticket: Ticket | None = None


Standing = Callable[[Collection[str]], Mapping[str, Actor]]
"""Whom tokens of these ids prove now; those that prove nothing any more are left out."""


@dataclass(eq=False, slots=True)
class _Place:
    """One who listens.

    :param over: that the proof it began with is not good any more, or for something else.
    """

    ticket: Ticket
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False


View = tuple[Actor | None, frozenset[str] | None, int, int]


class Listeners:
    """See the module; lives on one event loop.

    Whoever began to listen with a token that is revoked or expired by now, or whose owner is disabled or has
    other roles, is sent home within :data:`ASK_EVERY_S`, and may come again with what is good then.

    :param standing: asked in a thread; None where nobody is to be asked for.
    """

    def __init__(self, stream: Stream, standing: Standing | None = None) -> None:
        self._stream = stream
        self._standing = standing
        self._loop = asyncio.get_running_loop()
        self._waiting: set[_Place] = set()
        self._asking: asyncio.Task[None] | None = None
        self._shared: dict[View, tuple[bytes, int]] = {}
        self._due: asyncio.TimerHandle | None = None
        self._woken = -GATHER_S
        stream.wake(self._from_anywhere)

    async def serve(self, ticket: Ticket, headers: Headers, receive: Receive, send: Send) -> bool:
        """Tell one listener what happens until its time is over; False for one who was too slow."""
        place = _Place(ticket)
        self._waiting.add(place)
        if self._standing is not None and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask(self._standing))
        leaving = asyncio.ensure_future(receive())  # the request has been read: what comes is the end
        leaving.add_done_callback(lambda _: place.woken.set())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._tell(place, leaving, send)
        except TimeoutError:
            log.warning("event=events.slow-listener who=%r", ticket.who)
            return False
        finally:
            self._waiting.discard(place)
            leaving.cancel()
        return True

    async def _ask(self, standing: Standing) -> None:
        """While anybody listens, ask whether they may still."""
        while self._waiting:
            await asyncio.sleep(ASK_EVERY_S)
            actors = [one.ticket.actor for one in self._waiting]
            proofs = {one.proof for one in actors if one is not None and one.via == "token"}
            try:
                now = await self._loop.run_in_executor(None, standing, proofs)
            except AdonError as error:  # a database that is away for a moment sends nobody home
                log.warning("event=events.not-asked error=%r", str(error))
                continue
            for place in self._waiting:
                actor = place.ticket.actor
                if actor is not None and actor.proof in proofs and now.get(actor.proof) != actor:
                    log.info("event=events.sent-home who=%r", place.ticket.who)
                    place.over = True
                    place.woken.set()

    async def _tell(self, place: _Place, leaving: asyncio.Future[Message], send: Send) -> None:
        ticket, woken = place.ticket, place.woken
        end, seen = self._loop.time() + ticket.seconds, ticket.seen
        piece = b": listening\n\n"
        while True:
            woken.clear()  # before the look: what comes after it sets it again
            if place.over:
                break
            more, seen = self._after(ticket, seen)
            if piece or more:
                async with asyncio.timeout(SLOW_LISTENER_S):
                    await send({"type": "http.response.body", "body": piece + more, "more_body": True})
            left = end - self._loop.time()
            if left <= 0 or leaving.done() or self._stream.closed:
                break
            piece = b""
            try:
                async with asyncio.timeout(min(HEARTBEAT_S, left)):
                    await woken.wait()
            except TimeoutError:
                piece = ALIVE
        async with asyncio.timeout(SLOW_LISTENER_S):
            await send({"type": "http.response.body", "body": b""})

    def _after(self, ticket: Ticket, seen: int) -> tuple[bytes, int]:
        """What a listener is to be sent, and the last event it has then seen."""
        view = (ticket.actor, ticket.kinds, id(ticket.policy), seen)
        if view not in self._shared:
            found = self._stream.after(seen)
            self._shared[view] = _together(found, ticket, seen), found[-1].number if found else seen
        return self._shared[view]

    def _from_anywhere(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._soon)
        except RuntimeError:  # the loop has ended: nobody listens any more
            log.debug("event=events.nobody-listens")

    def _soon(self) -> None:
        if self._due is None:
            self._due = self._loop.call_at(max(self._woken + GATHER_S, self._loop.time()), self._wake)

    def _wake(self) -> None:
        self._due, self._woken = None, self._loop.time()
        self._shared.clear()
        for one in self._waiting:
            one.woken.set()


def _together(found: list[Happened], ticket: Ticket, seen: int) -> bytes:
    pieces = []
    if found and found[0].number > seen + 1:
        pieces.append(b": %d events are no longer kept\n\n" % (found[0].number - seen - 1))
    pieces += [
        event.frame
        for event in found
        if (ticket.kinds is None or event.kind in ticket.kinds)
        and event.audience.admits(ticket.actor, ticket.policy)
    ]
    return b"".join(pieces)
