"""Listeners to events: hundreds on one event loop, each a position in the ring of events.

The application checks the permission (:mod:`apps.rest.resources.status_resource`) and leaves a
:class:`Ticket`; the event loop sends the events without a thread.  Listeners with the same permission and
position get the same bytes, which are joined once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from adon.access.identity import Actor
from adon.access.policy import Policy
from adon.errors import AdonError
from apps.rest.event_stream import Event, Stream
from apps.rest.wsgi_bridge import Headers, Message, Receive, Send

log = logging.getLogger(__name__)

HEARTBEAT_S = 10.0
GATHER_S = 0.1
"""Seconds in which events are gathered before listeners wake."""
SLOW_LISTENER_S = 10.0
"""Seconds after which a listener that does not read is disconnected."""
CHECK_EVERY_S = 1.0
"""Seconds between two checks of the listeners' tokens."""
ALIVE = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class Ticket:
    """Permission to listen.

    :param who: name that the listener counts for.
    :param seen: number of the last event that the listener received.
    :param seconds: duration of the stream.
    :param kinds: kinds of events; None for all.
    """

    who: str
    actor: Actor | None
    policy: Policy
    seen: int
    seconds: float
    kinds: frozenset[str] | None


HANDOVER = "adon.handover"
"""Key of the WSGI environment with the :class:`Handover` of the server."""


@dataclass(slots=True)
class Handover:
    """Place in which the application leaves the ticket of a request."""

    ticket: Ticket | None = None


Standing = Callable[[Collection[str]], Mapping[str, Actor]]
"""Returns the actors of the valid tokens among these ids."""


@dataclass(eq=False, slots=True)
class _Listener:
    """One listener.

    :param over: whether its token is no longer valid, or for another actor.
    """

    ticket: Ticket
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False


View = tuple[Actor | None, frozenset[str] | None, int, int]


class Listeners:
    """Listeners of one event loop.

    A listener whose token was revoked or has expired, or whose owner was disabled or has other roles, is
    disconnected within :data:`CHECK_EVERY_S`.

    :param standing: called in a thread; None if tokens cannot be revoked.
    """

    def __init__(self, stream: Stream, standing: Standing | None = None) -> None:
        self._stream = stream
        self._standing = standing
        self._loop = asyncio.get_running_loop()
        self._waiting: set[_Listener] = set()
        self._checking: asyncio.Task[None] | None = None
        self._shared: dict[View, tuple[bytes, int]] = {}
        self._due: asyncio.TimerHandle | None = None
        self._woken = -GATHER_S
        stream.wake(self._wake_soon)

    async def serve(self, ticket: Ticket, headers: Headers, receive: Receive, send: Send) -> bool:
        """Send events to one listener until its time is over; False if it was too slow."""
        listener = _Listener(ticket)
        self._waiting.add(listener)
        if self._standing is not None and (self._checking is None or self._checking.done()):
            self._checking = asyncio.create_task(self._check(self._standing))
        leaving = asyncio.ensure_future(receive())
        leaving.add_done_callback(lambda _: listener.woken.set())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send_events(listener, leaving, send)
        except TimeoutError:
            log.warning("event=events.slow-listener who=%r", ticket.who)
            return False
        finally:
            self._waiting.discard(listener)
            leaving.cancel()
        return True

    async def _check(self, standing: Standing) -> None:
        """Check the listeners' tokens while there are listeners."""
        while self._waiting:
            await asyncio.sleep(CHECK_EVERY_S)
            actors = [one.ticket.actor for one in self._waiting]
            proofs = {one.proof for one in actors if one is not None and one.via == "token"}
            try:
                now = await self._loop.run_in_executor(None, standing, proofs)
            except AdonError as error:
                log.warning("event=events.not-checked error=%r", str(error))
                continue
            for listener in self._waiting:
                actor = listener.ticket.actor
                if actor is not None and actor.proof in proofs and now.get(actor.proof) != actor:
                    log.info("event=events.revoked who=%r", listener.ticket.who)
                    listener.over = True
                    listener.woken.set()

    async def _send_events(self, listener: _Listener, leaving: asyncio.Future[Message], send: Send) -> None:
        ticket, woken = listener.ticket, listener.woken
        end, seen = self._loop.time() + ticket.seconds, ticket.seen
        piece = b": listening\n\n"
        while True:
            woken.clear()
            if listener.over:
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
        """Return the bytes for a listener, and the number of the last event in them."""
        view = (ticket.actor, ticket.kinds, id(ticket.policy), seen)
        if view not in self._shared:
            found = self._stream.after(seen)
            self._shared[view] = _join(found, ticket, seen), found[-1].number if found else seen
        return self._shared[view]

    def _wake_soon(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._schedule)
        except RuntimeError:
            log.debug("event=events.no-listener")

    def _schedule(self) -> None:
        if self._due is None:
            self._due = self._loop.call_at(max(self._woken + GATHER_S, self._loop.time()), self._wake)

    def _wake(self) -> None:
        self._due, self._woken = None, self._loop.time()
        self._shared.clear()
        for one in self._waiting:
            one.woken.set()


def _join(found: list[Event], ticket: Ticket, seen: int) -> bytes:
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
