"""What whoever runs a program in a guest and the guest say to each other, over one connection per program.

A message is its kind, the length of what follows, and that.  The client begins with :attr:`Kind.START`, then
sends input, signals and sizes; the guest sends output until :attr:`Kind.ENDED`.  Of input the client sends no
more than :data:`MOST` bytes that the program has not taken: the guest always reads, so that signals and the
client's end never wait behind it.  It imports little: a client starts for every program, and in a guest
starting Python is slow.
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import asdict, dataclass
from enum import IntEnum

_HEAD = struct.Struct("!BI")
MOST = 1 << 16
"""Bytes of one message; also how much may wait, either way, before no more is read."""


class Kind(IntEnum):
    """What a message says."""

    START = 1
    """Run this (:class:`Start`)."""
    INPUT = 2
    INPUT_END = 3
    SIGNAL = 4
    """Send its process group this signal (one byte)."""
    SIZE = 5
    """The terminal has so many rows and columns now (two numbers of two bytes)."""
    OUTPUT = 6
    ERRORS = 7
    ENDED = 8
    """It has ended: by itself with a status, or by a signal, then minus that (two bytes, signed)."""
    REFUSED = 9
    """It could not be started; why."""
    CLOCK = 10
    """Instead of a start: what time is it; and the answer (nanoseconds since 1970)."""
    STEP = 11
    """The clock is to be put forward by so many nanoseconds."""
    TAKEN = 12
    """The program took so many bytes of its input, or will never read them (four bytes)."""


_STATUS = struct.Struct("!h")
_SIZE = struct.Struct("!HH")
_MOMENT = struct.Struct("!q")
_COUNT = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Start:
    """What is to be run.

    :param host: in which host; None: where the switches are.
    :param folder: where, if the guest has it.
    :param environment: beside the guest's own.
    :param size: rows and columns of its terminal; None: it gets pipes.
    """

    argv: list[str]
    host: str | None
    folder: str
    environment: dict[str, str]
    size: tuple[int, int] | None

    def packed(self) -> bytes:
        """As bytes.

        :raises ValueError: if they are more than one message holds.
        """
        packed = json.dumps(asdict(self)).encode()
        if len(packed) > MOST:
            raise ValueError(f"the command line and its environment are more than {MOST} bytes")
        return packed

    @classmethod
    def unpacked(cls, data: bytes) -> Start:
        """From bytes.

        :raises ValueError: if they are none.
        """
        try:
            read = json.loads(data)
            size = None if read["size"] is None else (int(read["size"][0]), int(read["size"][1]))
            return cls(read["argv"], read["host"], read["folder"], read["environment"], size)
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"this starts no program: {error}") from error


def status(code: int) -> bytes:
    """What :attr:`Kind.ENDED` says."""
    return _STATUS.pack(code)


def status_of(data: bytes) -> int:
    """The other way round.

    :raises ValueError: if it is none.
    """
    try:
        return int(_STATUS.unpack(data)[0])
    except struct.error as error:
        raise ValueError(f"no exit status: {error}") from error


def size(rows: int, columns: int) -> bytes:
    """What :attr:`Kind.SIZE` says."""
    return _SIZE.pack(rows, columns)


def size_of(data: bytes) -> tuple[int, int]:
    """The other way round.

    :raises ValueError: if it is none.
    """
    try:
        rows, columns = _SIZE.unpack(data)
    except struct.error as error:
        raise ValueError(f"no size: {error}") from error
    return rows, columns


def signal_of(data: bytes) -> int:
    """The number of the signal that :attr:`Kind.SIGNAL` says.

    :raises ValueError: if it is none.
    """
    if len(data) != 1:
        raise ValueError(f"no signal: {len(data)} bytes")
    return data[0]


def taken(count: int) -> bytes:
    """What :attr:`Kind.TAKEN` says."""
    return _COUNT.pack(count)


def taken_of(data: bytes) -> int:
    """The other way round.

    :raises ValueError: if it is none.
    """
    try:
        return int(_COUNT.unpack(data)[0])
    except struct.error as error:
        raise ValueError(f"no count: {error}") from error


def moment(nanoseconds: int) -> bytes:
    """What :attr:`Kind.CLOCK` and :attr:`Kind.STEP` say."""
    return _MOMENT.pack(nanoseconds)


def moment_of(data: bytes) -> int:
    """The other way round.

    :raises ValueError: if it is none.
    """
    try:
        return int(_MOMENT.unpack(data)[0])
    except struct.error as error:
        raise ValueError(f"no moment: {error}") from error


class Wire:
    """A connection that messages go over; never waits.

    :param sock: becomes non-blocking.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._come = bytearray()
        self._out = bytearray()

    def fileno(self) -> int:
        """Of the connection."""
        return self._sock.fileno()

    @property
    def waiting(self) -> bool:
        """Whether something has not gone out yet."""
        return bool(self._out)

    @property
    def full(self) -> bool:
        """Whether so much has not that no more should be said."""
        return len(self._out) >= MOST

    def say(self, kind: Kind, data: bytes = b"") -> None:
        """Say it, as soon as there is room."""
        self._out += _HEAD.pack(kind, len(data)) + data
        self.flush()

    def flush(self) -> None:
        """Send what there is room for.

        :raises OSError: if the other side is gone.
        """
        try:
            while self._out:
                del self._out[: self._sock.send(self._out)]
        except BlockingIOError:
            return

    def take(self) -> list[tuple[Kind, bytes]] | None:
        """The messages that are whole now; None if the other side says no more.

        :raises ValueError: if it is none.
        :raises OSError: if the connection broke.
        """
        try:
            come = self._sock.recv(MOST)
        except BlockingIOError:
            return []
        self._come += come
        found = list[tuple[Kind, bytes]]()
        at = 0
        while len(self._come) - at >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._come, at)
            if length > MOST:
                raise ValueError(f"a message of {length} bytes")
            end = at + _HEAD.size + length
            if len(self._come) < end:
                break
            found.append((Kind(kind), bytes(self._come[at + _HEAD.size : end])))
            at = end
        del self._come[:at]
        return found if found or come else None
