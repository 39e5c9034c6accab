"""Many byte streams over one, as values: what a guest and its host say to each other on a serial line.

A frame is its kind, the stream's number, the length of what follows, and that.  A stream begins with the name
of the service it is for; either side begins some, with numbers of its own.  Neither sends more than a window
of bytes that the other has not passed on, so that a reader that waits holds up its own stream alone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEAD = struct.Struct("!BIH")
MOST = 512
"""Bytes of one frame: streams take turns, and a message of OpenFlow does not wait for a whole transfer."""
WINDOW = 1 << 16
"""Bytes of one stream that the other side has not passed on."""
LINE_WINDOW = 2048
"""Bytes of all that the other side has not read off the line.  A terminal holds 4096 and then asks for a
pause, from which User-Mode Linux does not always come back."""
_COUNT = struct.Struct("!I")


class Kind(IntEnum):
    """What a frame says."""

    OPEN = 1
    """A stream begins; with the name of the service."""
    DATA = 2
    PASSED = 3
    """So many bytes were passed on (four bytes)."""
    END = 4
    """No more comes in this direction."""
    BROKEN = 5
    """The stream is over in both."""
    READ = 6
    """So many bytes were read off the line (four bytes); of stream 0, and not counted themselves."""
    OVER = 7
    """Whoever says it says nothing more: a terminal's other end may not notice that the line is gone."""


@dataclass(frozen=True, slots=True)
class Frame:
    """See the module's text.

    :raises ValueError: if it holds more than :data:`MOST` bytes.
    """

    kind: Kind
    stream: int
    data: bytes = b""

    def __post_init__(self) -> None:
        if len(self.data) > MOST:
            raise ValueError(f"data: {len(self.data)} bytes are more than {MOST}")

    def packed(self) -> bytes:
        """Its bytes."""
        return _HEAD.pack(self.kind, self.stream, len(self.data)) + self.data

    @property
    def count(self) -> int:
        """What :attr:`Kind.PASSED` and :attr:`Kind.READ` say.

        :raises ValueError: if it says none.
        """
        if len(self.data) != _COUNT.size:
            raise ValueError("data: is no count")
        return int(_COUNT.unpack(self.data)[0])


def passed(stream: int, count: int) -> Frame:
    """So many bytes were passed on."""
    return Frame(Kind.PASSED, stream, _COUNT.pack(count))


def was_read(count: int) -> Frame:
    """So many bytes were read off the line."""
    return Frame(Kind.READ, 0, _COUNT.pack(count))


def data(stream: int, whole: bytes) -> Iterator[Frame]:
    """Bytes as frames."""
    return (Frame(Kind.DATA, stream, whole[at : at + MOST]) for at in range(0, len(whole), MOST))


class Reader:
    """Frames out of bytes as they come."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, come: bytes) -> list[Frame]:
        """The frames that are whole now.

        :raises ValueError: if this is no frame; nothing more can be read then.
        """
        self._held += come
        found = list[Frame]()
        at = 0
        while len(self._held) - at >= _HEAD.size:
            kind, stream, length = _HEAD.unpack_from(self._held, at)
            if length > MOST:
                raise ValueError(f"a frame of {length} bytes")
            end = at + _HEAD.size + length
            if len(self._held) < end:
                break
            found.append(Frame(Kind(kind), stream, bytes(self._held[at + _HEAD.size : end])))
            at = end
        del self._held[:at]
        return found
