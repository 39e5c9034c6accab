from __future__ import annotations

import hashlib

import pytest

from adon.access.identity import Token, create_token, digest_of
from adon.errors import InvalidInput
from tests.support.refusals import refused

NOW = 1_000_000.0


def test_only_the_hash_is_kept() -> None:
    text, token = create_token("ada", NOW)
    assert text.startswith("adon_")
    assert token.digest == hashlib.sha256(text.encode()).hexdigest() == digest_of(text)
    assert text not in repr(token)
    assert text.removeprefix("adon_") not in repr(token)


def test_tokens_differ_and_are_long() -> None:
    texts = {create_token("ada", NOW)[0] for _ in range(50)}
    assert len(texts) == 50
    assert min(map(len, texts)) >= 40


@pytest.mark.parametrize("presented", ["", "adon_", "\ud800", "ä" * 1000])
def test_everything_has_a_digest(presented: str) -> None:
    assert len(digest_of(presented)) == 64


@pytest.mark.parametrize(("later", "valid"), [(0.0, True), (59.9, True), (60.0, False), (1e9, False)])
def test_expiry(later: float, valid: bool) -> None:
    _, token = create_token("ada", NOW, lifetime=60.0)
    if valid:
        token.check(NOW + later)
    else:
        with refused("expired"):
            token.check(NOW + later)


def test_a_revoked_token() -> None:
    _, token = create_token("ada", NOW)
    revoked = token.revoke(NOW + 1)
    assert revoked.revoke(NOW + 2) == revoked
    with refused("revoked"):
        revoked.check(NOW)


@pytest.mark.parametrize("owner", ["", "  "])
def test_an_owner_needs_a_name(owner: str) -> None:
    with refused(InvalidInput, "owner"):
        create_token(owner, NOW)


@pytest.mark.parametrize("lifetime", [0.0, -1.0, float("nan")])
def test_a_lifetime_that_is_over_at_once(lifetime: float) -> None:
    with refused(InvalidInput, "lifetime"):
        create_token("ada", NOW, lifetime=lifetime)


def test_token_has_the_scope_and_roles_that_were_asked_for() -> None:
    _, token = create_token("ada", NOW, scope=["read"], roles=["admin"])
    expected = Token(token.digest[:12], "ada", token.digest, NOW, scope=("read",), roles=frozenset({"admin"}))
    assert token == expected
