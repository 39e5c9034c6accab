from __future__ import annotations

import hashlib

import pytest

from adon.access.identity import Actor, Token, authenticate, create_token
from adon.errors import InvalidInput, NotAuthenticated

NOW = 1_000_000.0


def test_a_token_proves_who_it_was_made_for() -> None:
    text, token = create_token("ada", ["researcher", "auditor"], NOW)
    assert text.startswith("adon_")
    other = create_token("bob", ["admin"], NOW)[1]
    assert authenticate(text, [other, token], NOW) == Actor("ada", frozenset({"researcher", "auditor"}))


def test_only_the_hash_is_kept() -> None:
    text, token = create_token("ada", ["researcher"], NOW)
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text not in repr(token)
    assert text.removeprefix("adon_") not in repr(token)


def test_tokens_differ_and_are_long() -> None:
    texts = {create_token("ada", [], NOW)[0] for _ in range(50)}
    assert len(texts) == 50
    assert min(map(len, texts)) >= 40


@pytest.mark.parametrize("presented", ["", "adon_", "adon_x", "ADON_", "\ud800", "ä" * 1000])
def test_an_unknown_token(presented: str) -> None:
    _, token = create_token("ada", [], NOW)
    with pytest.raises(NotAuthenticated, match="not known"):
        authenticate(presented, [token], NOW)


@pytest.mark.parametrize(("later", "valid"), [(0.0, True), (59.9, True), (60.0, False), (1e9, False)])
def test_expiry(later: float, valid: bool) -> None:
    text, token = create_token("ada", [], NOW, lifetime=60.0)
    if valid:
        assert authenticate(text, [token], NOW + later).name == "ada"
    else:
        with pytest.raises(NotAuthenticated, match="expired"):
            authenticate(text, [token], NOW + later)


def test_a_revoked_token() -> None:
    text, token = create_token("ada", [], NOW)
    revoked = token.revoke(NOW + 1)
    assert revoked.revoke(NOW + 2) == revoked
    with pytest.raises(NotAuthenticated, match="revoked"):
        authenticate(text, [revoked], NOW)


@pytest.mark.parametrize("actor", ["", "  "])
def test_an_actor_needs_a_name(actor: str) -> None:
    with pytest.raises(InvalidInput, match="actor"):
        create_token(actor, [], NOW)


@pytest.mark.parametrize("lifetime", [0.0, -1.0, float("nan")])
def test_a_lifetime_that_is_over_at_once(lifetime: float) -> None:
    with pytest.raises(InvalidInput, match="lifetime"):
        create_token("ada", [], NOW, lifetime=lifetime)


def test_chance_is_an_argument() -> None:
    text, token = create_token("ada", ["admin"], NOW, secret=lambda size: "x" * size)
    assert text == "adon_" + "x" * 32
    assert token == Token(token.digest[:12], "ada", frozenset({"admin"}), token.digest, NOW)
