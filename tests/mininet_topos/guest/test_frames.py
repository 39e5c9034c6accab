"""Frames out of bytes, however these come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.guest.frames import MOST, Frame, Kind, Reader, data, passed, was_read

FRAMES = st.builds(Frame, st.sampled_from(Kind), st.integers(0, 2**32 - 1), st.binary(max_size=200))


@given(st.lists(FRAMES, max_size=20), st.lists(st.integers(0, 500), max_size=20))
def test_what_is_packed_is_read_however_it_is_cut(frames: list[Frame], cuts: list[int]) -> None:
    whole = b"".join(frame.packed() for frame in frames)
    ends = sorted({*(cut for cut in cuts if cut < len(whole)), len(whole)})
    reader, begin, found = Reader(), 0, list[Frame]()
    for end in ends:
        found += reader.feed(whole[begin:end])
        begin = end
    assert found == frames


@given(st.binary(max_size=3 * MOST))
def test_data_in_frames_is_the_same_data(whole: bytes) -> None:
    frames = [*data(7, whole)]
    assert b"".join(frame.data for frame in frames) == whole
    assert all(0 < len(frame.data) <= MOST for frame in frames)


def test_counts() -> None:
    assert passed(3, 70_000).count == was_read(70_000).count == 70_000
    with pytest.raises(ValueError, match="no count"):
        _ = Frame(Kind.PASSED, 3, b"x").count


@pytest.mark.parametrize("nonsense", [b"\x01\0\0\0\0\xff\xff", b"\x02\0\0\0\0\x02\x01", b"\x09\0\0\0\0\0\0"])
def test_what_is_no_frame_is_refused(nonsense: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        Reader().feed(nonsense)
    with pytest.raises(ValueError, match="more than"):
        Frame(Kind.DATA, 1, bytes(MOST + 1))
