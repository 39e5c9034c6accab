"""Pieces of work in turn, and work that is stopped."""

from __future__ import annotations

import asyncio

import pytest

from measurement.probes.under_way import in_turn, until


class TwoAtOnce:
    """Pieces in order, two at a time."""

    def __init__(self, *pieces: str) -> None:
        self.waiting, self.begun = [*pieces], list[str]()

    def begin(self) -> list[str]:
        started = [self.waiting.pop(0) for _ in range(min(len(self.waiting), 2 - len(self.begun)))]
        self.begun += started
        return started

    def done(self, piece: str) -> None:
        self.begun.remove(piece)


def test_each_is_begun_when_there_is_room_and_told_when_it_has_ended() -> None:
    log = list[str]()

    async def work(piece: str) -> str:
        log.append(f"{piece} begins")
        for _ in range({"slow": 50}.get(piece, 1)):
            await asyncio.sleep(0)
        return f"{piece} ends"

    turns = TwoAtOnce("slow", "a", "b", "c")
    asyncio.run(in_turn(turns, work, log.append))
    assert log == [
        "slow begins",
        "a begins",
        "a ends",
        "b begins",
        "b ends",
        "c begins",
        "c ends",
        "slow ends",
    ]
    assert turns.begun == []


def test_if_one_fails_none_goes_on() -> None:
    left = list[str]()

    async def work(piece: str) -> None:
        if piece == "bad":
            raise ValueError("of no use")
        try:
            await asyncio.sleep(60)
        finally:
            left.append(piece)

    with pytest.raises(ValueError, match="of no use"):
        asyncio.run(in_turn(TwoAtOnce("other", "bad", "last"), work))
    assert left == ["other"]


def test_what_is_stopped_is_left_and_nothing_more_begins() -> None:
    log = list[str]()

    async def scene() -> None:
        stop = asyncio.Event()

        async def work() -> None:
            log.append("begun")
            stop.set()
            try:
                await asyncio.sleep(60)
            finally:
                log.append("left")

        await until(stop, work)
        await until(stop, work)

    asyncio.run(scene())
    assert log == ["begun", "left"]


@pytest.mark.parametrize("stopped", [False, True])
def test_what_fails_is_told_unless_it_was_stopped(stopped: bool) -> None:
    async def scene() -> None:
        stop = asyncio.Event()

        async def work() -> None:
            if stopped:
                stop.set()
            raise ValueError("of no use")

        await until(stop, work)

    if stopped:
        asyncio.run(scene())
    else:
        with pytest.raises(ValueError, match="of no use"):
            asyncio.run(scene())
