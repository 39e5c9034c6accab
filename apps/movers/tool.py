"""What a tool has to be able to do for the loop, whichever it is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from adon.transfers.machine import Event, Transfer
from adon.transfers.plan import Plan
from adon.transfers.wish import TransferOptions

LONGEST_WORDS = 300


class Tool(Protocol):
    """One tool.  Asked by several threads, for one transfer by one at a time; its troubles are answers."""

    def begin(self, transfer: Transfer, plan: Plan, options: TransferOptions, streams: int | None) -> Event:
        """Start a run, or find the one that was started when nobody heard the answer."""

    def look(self, transfer: Transfer, plan: Plan) -> Event:
        """How a run goes."""

    def stop(self, transfer: Transfer, plan: Plan) -> Event:
        """End a run; answered only when it has ended."""


@runtime_checkable
class Limited(Tool, Protocol):
    """A tool that can be held to a rate."""

    def limit(self, rate: float | None) -> bool:
        """Hold all that it moves to so many bits/s (None: to nothing); whether it heard."""


def run_of(transfer: Transfer, number: int) -> str:
    """What a try of a transfer is called at the tool."""
    return f"{transfer.key}/{number}"


def short(text: str) -> str:
    """Another program's words in one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_WORDS else line[: LONGEST_WORDS - 1] + "…"


def whole(value: object) -> int:
    """A count that a tool told; 0 for what is none.  JSON of another program is not to be trusted."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else 0
