"""Every message that changes a switch, with its reason: one JSON line per change, in a file that rotates.

The decision thread only puts values into a queue; a thread of its own writes them out, a little later and
many at once, so that a line costs no decision its time.  What was not written when the process ends
abruptly is lost: the record that decides is the store's (R3), this one is for people.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from adon.broker.effects import AdmitConnections, DropConnections, SendBatch
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Entry, Op, Rule, rule_text
from adon.flowvisor.topology.path import dpid_text

log = logging.getLogger(__name__)

NAME = "openflow.jsonl"
"""The file in the data folder; the one before it has ``.1`` at the end of its name."""
LARGEST_BYTES = 32 * 1024 * 1024
_PIECE = 1 << 16
PAUSE_S = 0.1
"""Lines wait so long for others to be written with them."""


Noted = SendBatch | AdmitConnections | DropConnections
"""What changes a switch."""


@dataclass(frozen=True, slots=True)
class _Sent:
    at: float
    effect: Noted


class Journal:
    """See the module's text.

    :param folder: the data folder.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._file = folder / NAME
        self._waiting: queue.SimpleQueue[_Sent | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_out, name="of-journal", daemon=True)
        self._thread.start()

    def record_sent(self, effect: Noted) -> None:
        """Note what was handed to its connection; returns at once."""
        self._waiting.put(_Sent(self._clock(), effect))

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join(timeout=5)

    def _write_out(self) -> None:
        going_on = True
        while going_on:
            batch = [self._waiting.get()]
            if batch[0] is not None:
                time.sleep(PAUSE_S)
            while not self._waiting.empty():
                batch.append(self._waiting.get())
            going_on = None not in batch
            try:
                self._append([one for one in batch if one is not None])
            except OSError as error:
                log.warning("event=journal.unwritable file=%s error=%r", NAME, error.strerror)

    def _append(self, batch: list[_Sent]) -> None:
        if self._file.exists() and self._file.stat().st_size > LARGEST_BYTES:
            self._file.replace(self._file.with_name(NAME + ".1"))
        with self._file.open("a", encoding="utf-8") as file:
            for sent in batch:
                file.writelines(_format_lines(sent.at, sent.effect))


def _format_lines(at: float, effect: Noted) -> Iterator[str]:
    match effect:
        case SendBatch():
            yield from (json.dumps(line) + "\n" for line in lines(at, effect))
        case AdmitConnections():
            yield from _connections(at, effect)
        case DropConnections():
            yield json.dumps(_line(at, Op.ADD, effect.rule, effect.cause, "")) + "\n"


def _connections(at: float, effect: AdmitConnections) -> Iterator[str]:
    """A line per connection: there may be thousands in a second, alike but for the port they come from."""
    before, after = _around_port(effect.rule)
    head = f'{{"at": {at!r}, "cause": {json.dumps(effect.cause)}, {before}'
    for port, _, new in effect.packets:
        if new:
            yield f"{head}{port}{after}"


@lru_cache(maxsize=64)
def _around_port(rule: Rule) -> tuple[str, str]:
    """What the lines of a rule's connections have in common before and after the port."""
    line = _line(0.0, Op.ADD, replace(rule, match=replace(rule.match, tp_src=0)), "", "")
    same = {name: value for name, value in line.items() if name not in ("at", "cause")}
    before, after = json.dumps(same).split("tp_src=0", 1)
    return f"{before[1:]}tp_src=", f"{after}\n"


def lines(at: float, effect: SendBatch) -> Iterator[dict[str, Any]]:
    """The changes of a batch as plain values: when, where, what, for whom, and the event that led to it."""
    for change in effect.changes:
        yield _line(at, change.op, change.rule, effect.cause, effect.batch)


def _line(at: float, op: Op, rule: Entry, cause: str, batch: str) -> dict[str, Any]:
    return {
        "at": at,
        "dpid": dpid_text(rule.dpid),
        "op": op.value,
        "owner": owner_of(rule),
        "cause": cause,
        "batch": batch,
        "text": rule_text(rule),
    }


def read(
    file: Path,
    limit: int,
    *,
    owner: str | None = None,
    dpid: str | None = None,
    cause: str | None = None,
    before: float | None = None,
) -> list[dict[str, Any]]:
    """The newest changes that are asked for, the newest first; a line that is cut off is left out.

    :param limit: at most so many.
    :param before: those that were sent before this time.
    """
    wanted = {"owner": owner, "dpid": dpid, "cause": cause}
    asked = {name: value for name, value in wanted.items() if value is not None}
    of_these = (
        line
        for line in _parse_lines(_backwards(file), [json.dumps(value).encode() for value in asked.values()])
        if asked.items() <= line.items() and (before is None or line["at"] < before)
    )
    return list(islice(of_these, limit))


def _backwards(file: Path) -> Iterator[bytes]:
    """The lines of both files, the newest first, read no farther back than somebody asks."""
    for part in (file, file.with_name(file.name + ".1")):
        if part.exists():
            with part.open("rb") as stream:
                begin, rest = stream.seek(0, os.SEEK_END), b""
                while begin > 0:
                    size = min(begin, _PIECE)
                    begin = stream.seek(begin - size)
                    rest, *lines = (stream.read(size) + rest).split(b"\n")
                    yield from reversed(lines)
                yield rest


def _parse_lines(lines: Iterable[bytes], with_these: Collection[bytes]) -> Iterator[dict[str, Any]]:
    """Of some lines those that may be asked for; those without its words are not read as JSON."""
    for text in lines:
        if text and all(one in text for one in with_these):
            try:
                yield json.loads(text)
            except ValueError:
                log.debug("event=journal.cut-off")
