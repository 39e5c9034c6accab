from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from adon.errors import Conflict, InvalidInput
from adon.store.access.access import Access
from adon.store.access.answers import CLAIM_S, KEPT_S, LONGEST, Answer, Request
from tests.support.refusals import refused

NOW = 2000.0
ASKED = Request("POST", "/api/v1/flows", "k-1", "ann", b'{"size": 1}')
GIVEN = Answer(202, b'{"id": "f-1"}', {"Location": "/api/v1/flows/f-1"})


def test_asked_twice_answered_twice_done_once(access: Access) -> None:
    assert access.answers.claim(ASKED, NOW) is None
    access.answers.keep(ASKED, GIVEN, NOW)
    assert access.answers.claim(ASKED, NOW + KEPT_S - 1) == GIVEN
    assert access.answers.claim(ASKED, NOW + KEPT_S) is None


@pytest.mark.parametrize(
    "other", [{"body": b'{"size": 2}'}, {"path": "/api/v1/templates"}, {"method": "PUT"}], ids=str
)
def test_the_key_of_another_request(access: Access, other: dict[str, object]) -> None:
    access.answers.claim(ASKED, NOW)
    access.answers.keep(ASKED, GIVEN, NOW)
    with pytest.raises(InvalidInput, match="Idempotency-Key"):
        access.answers.claim(replace(ASKED, **other), NOW)  # type: ignore[arg-type]


def test_the_key_of_another_actor_is_another_key(access: Access) -> None:
    access.answers.claim(ASKED, NOW)
    access.answers.keep(ASKED, GIVEN, NOW)
    assert access.answers.claim(replace(ASKED, actor="bob"), NOW) is None


def test_a_claim_is_free_again_when_nobody_followed_it_up(access: Access) -> None:
    assert access.answers.claim(ASKED, NOW) is None
    with refused(Conflict, field="Idempotency-Key"):
        access.answers.claim(ASKED, NOW + CLAIM_S - 1)
    assert access.answers.claim(ASKED, NOW + CLAIM_S) is None


def test_what_came_to_nothing_may_be_tried_again(access: Access) -> None:
    access.answers.claim(ASKED, NOW)
    access.answers.forget(ASKED)
    assert access.answers.claim(ASKED, NOW) is None
    access.answers.keep(ASKED, Answer(200, b"x" * (LONGEST + 1)), NOW)
    assert access.answers.claim(ASKED, NOW) is None, "an answer too long to be kept"


def test_of_many_at_once_one_is_told_to_do_it(access: Access) -> None:
    told: list[str] = []
    start = threading.Barrier(6)

    def ask() -> None:
        start.wait()
        try:
            told.append("do it" if access.answers.claim(ASKED, NOW) is None else "again")
        except Conflict:
            told.append("busy")

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["busy"] * 5 + ["do it"]
