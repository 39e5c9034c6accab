"""What a provider may say, and what it may not: each lie ends on the sign-in page, without a session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Response
from flask.testing import FlaskClient
from joserfc.jwk import ECKey, RSAKey
from werkzeug.test import TestResponse

from tests.apps.identity import hostile as lies
from tests.apps.identity.hostile import Hostile, hostile_provider
from tests.apps.identity.openid_provider import SECRET
from tests.apps.identity.site import SECRET_VARIABLE, Clocks, give_ways
from tests.support.web_world import World

pytestmark = pytest.mark.integration

OTHER = RSAKey.generate_key(2048, {"kid": "k", "use": "sig"})
LEEWAY = 30


@pytest.fixture(scope="module")
def running() -> Iterator[Hostile]:
    with hostile_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Hostile) -> Hostile:
    """Honest again."""
    running.__dict__.update(Hostile(running.base, key=running.key).__dict__)
    return running


class Trying:
    """A browser at an ADON whose provider is the hostile one."""

    def __init__(self, world: World, provider: Hostile) -> None:
        self.world, self.provider = world, provider
        self.clocks = Clocks()
        settings = {
            "title": "Example University",
            "issuer": provider.base,
            "client_id": lies.CLIENT,
            "client_secret_variable": SECRET_VARIABLE,
            "leeway": f"{LEEWAY} s",
            "may_assert": ["example.edu"],
        }
        access = {
            "public_url": "http://localhost",
            "openid": {"campus": settings},
            "default_roles": ["researcher"],
        }
        give_ways(world, access, SECRET, self.clocks)
        self.browser: FlaskClient = world.app.test_client()

    def begin(self) -> TestResponse:
        return self.browser.get("/sign-in/campus?next=/templates")

    def sign_in(self, **answer: str) -> TestResponse:
        begun = self.begin()
        assert begun.status_code == 303, begun.text
        asked = parse_qs(urlsplit(begun.headers["Location"]).query)
        self.provider.nonce = asked["nonce"][0]
        return self.browser.get(
            "/sign-in/campus/callback", query_string={"code": "c", "state": asked["state"][0], **answer}
        )

    @property
    def signed_in(self) -> bool:
        return self.browser.get_cookie("adon_session") is not None


@pytest.fixture
def trying(world: World, provider: Hostile) -> Trying:
    return Trying(world, provider)


def refused(answer: TestResponse, status: int, says: str) -> None:
    assert answer.status_code == status, answer.text
    assert says in answer.text
    assert 'role="alert"' in answer.text
    assert "Access token" in answer.text  # the other way in
    assert "Traceback" not in answer.text


def test_an_honest_provider(trying: Trying) -> None:
    answer = trying.sign_in()
    assert (answer.status_code, answer.headers["Location"]) == (303, "/templates")
    assert trying.signed_in
    (_, form, proof) = next(each for each in trying.provider.seen if each[0] == "token")
    assert form["grant_type"] == "authorization_code"
    assert len(form["code_verifier"]) >= 43
    assert proof.startswith("Basic ")
    assert "client_secret" not in form


def test_a_provider_that_wants_the_secret_in_the_body(trying: Trying) -> None:
    trying.provider.more_metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert trying.sign_in().status_code == 303
    (_, form, proof) = next(each for each in trying.provider.seen if each[0] == "token")
    assert (form["client_secret"], proof) == (SECRET, "")


now = int(time.time())


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"aud": "another client"}, "not for this sign-in (aud)"),
        ({"aud": ["another client"]}, "not for this sign-in (aud)"),
        ({"aud": None}, "not for this sign-in (aud)"),
        ({"aud": [lies.CLIENT, "another"]}, "not for this sign-in (azp)"),
        ({"azp": "another"}, "not for this sign-in (azp)"),
        ({"iss": "https://other.edu"}, "not for this sign-in (iss)"),
        ({"iss": None}, "not for this sign-in (iss)"),
        ({"nonce": "of another sign-in"}, "not for this sign-in (nonce)"),
        ({"nonce": None}, "not for this sign-in (nonce)"),
        ({"exp": now - LEEWAY - 600}, "has expired"),
        ({"exp": None}, "not for this sign-in (exp)"),
        ({"exp": "tomorrow"}, "not for this sign-in (exp)"),
        ({"iat": now + 3600}, "not for this sign-in (iat)"),
        ({"nbf": now + 3600}, "not for this sign-in (nbf)"),
        ({"at_hash": "of another token"}, "not for this sign-in (at_hash)"),
        ({"sub": None}, "not for this sign-in (sub)"),
        ({"sub": 7}, "not for this sign-in (sub)"),
        ({"sub": ""}, "names no user"),
    ],
)
def test_a_token_that_is_not_for_this_sign_in(trying: Trying, claims: dict[str, Any], says: str) -> None:
    trying.provider.claims = claims
    refused(trying.sign_in(), 401, says)
    assert not trying.signed_in


def test_clocks_may_differ_a_little(trying: Trying) -> None:
    trying.provider.claims = {"exp": int(time.time()) - LEEWAY // 2, "iat": int(time.time()) + LEEWAY // 2}
    assert trying.sign_in().status_code == 303


LIES: dict[str, tuple[Callable[[Hostile], None], str]] = {
    "not signed": (lambda p: setattr(p, "signed", lies.unsigned), "not signed with RS256 or ES256"),
    "the public key as a secret": (
        lambda p: setattr(p, "signed", lies.by_public_key(p.key)),
        "not signed with RS256 or ES256",
    ),
    "the client secret": (
        lambda p: setattr(p, "signed", lies.by_client_secret),
        "not signed with RS256 or ES256",
    ),
    "another key under the same name": (
        lambda p: setattr(p, "published", [OTHER.as_dict(private=False)]),
        "has a wrong signature",
    ),
    "a key that is not published": (lambda p: setattr(p, "published", []), "a key that it does not publish"),
    "another name": (lambda p: p.header.update(kid="x"), "a key that it does not publish"),
    "RS512": (lambda p: p.header.update(alg="RS512"), "not signed with RS256 or ES256"),
    "a key for encryption": (
        lambda p: setattr(p, "published", [{**p.key.as_dict(private=False), "use": "enc"}]),
        "a key that it does not publish",
    ),
    "a key of another type": (
        lambda p: setattr(p, "published", [ECKey.generate_key("P-256", {"kid": "k"}).as_dict(private=False)]),
        "a key that it does not publish",
    ),
    "keys that are none": (
        lambda p: setattr(p, "published", [{"kty": "RSA"}, 3]),
        "that it does not publish",
    ),
    "a deep token": (
        lambda p: setattr(p, "signed", lambda _: f"{lies.encoded_text('[' * 100_000)}.e30.e30"),
        "cannot be read",
    ),
    "an access token that is none": (
        lambda p: p.answers.update(token=lambda: {**p.tokens(), "access_token": "Ω\n"}),
        "it sent no ID token",
    ),
    "no token": (lambda p: setattr(p, "signed", lambda _: "a.b"), "cannot be read"),
    "text": (lambda p: setattr(p, "signed", lambda _: "ä" * 50), "cannot be read"),
    "somebody else's userinfo": (lambda p: setattr(p, "userinfo", {"sub": "2"}), "of another user"),
    "no identity": (
        lambda p: p.answers.update(token=lambda: {"access_token": "a", "token_type": "Bearer"}),
        "it sent no ID token",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_provider_that_lies(trying: Trying, lie: str) -> None:
    tell, says = LIES[lie]
    tell(trying.provider)
    refused(trying.sign_in(), 401, says)
    assert not trying.signed_in


def test_what_is_signed_counts_before_what_is_not(trying: Trying) -> None:
    trying.provider.claims = {"eduperson_principal_name": "ann@example.edu"}
    trying.provider.userinfo = {"sub": "1", "eduperson_principal_name": "admin@example.edu", "iss": "x"}
    assert trying.sign_in().status_code == 303
    assert trying.world.access.users.get("ann@example.edu")


def test_an_answer_must_name_a_provider_that_says_it_does(trying: Trying) -> None:
    trying.provider.more_metadata = {"authorization_response_iss_parameter_supported": True}
    refused(trying.sign_in(), 401, "not from Example University")
    assert trying.sign_in(iss=trying.provider.base).status_code == 303


def test_an_error_is_told_without_the_providers_own_words(trying: Trying) -> None:
    more = {"error": "server_error", "error_description": "call 555 to win"}
    answer = trying.sign_in(**more)
    refused(answer, 401, "did not sign you in (server_error)")
    assert "555" not in answer.text
    answer = trying.sign_in(error="<b>call 555</b>")
    refused(answer, 401, "did not sign you in (error)")
    assert "555" not in answer.text


WRONG_METADATA = {
    "another issuer": {"issuer": "https://other.edu"},
    "no issuer": {"issuer": None},
    "an endpoint that others can listen to": {"token_endpoint": "http://login.example.edu/token"},
    "an endpoint that runs": {"authorization_endpoint": "javascript:alert(1)"},
    "no keys": {"jwks_uri": 7},
    "algorithms that we refuse": {"id_token_signing_alg_values_supported": ["HS256", "none"]},
}


@pytest.mark.parametrize("wrong", WRONG_METADATA)
def test_a_provider_that_cannot_be_worked_with(trying: Trying, wrong: str) -> None:
    trying.provider.more_metadata = WRONG_METADATA[wrong]
    refused(trying.begin(), 503, "Example University")


ANSWERS: dict[str, Callable[[], Any]] = {
    "an error": lambda: ("gone", 500),
    "a page": lambda: Response("<html>hello</html>"),
    "a list": lambda: Response("[]", mimetype="application/json"),
    "another place": lambda: Response("", 302, {"Location": "http://127.0.0.1:1/"}),
    "a flood": lambda: Response((b"[" * 100_000 for _ in range(100)), mimetype="application/json"),
    "deep JSON": lambda: Response("[" * 200_000, mimetype="application/json"),
}


@pytest.mark.parametrize("what", ANSWERS)
@pytest.mark.parametrize("path", [".well-known/openid-configuration", "token", "keys", "userinfo"])
def test_answers_that_are_none(trying: Trying, path: str, what: str) -> None:
    trying.provider.answers[path] = ANSWERS[what]
    answer = trying.begin() if path.startswith(".") else trying.sign_in()
    assert answer.status_code in (401, 503), answer.text
    assert "Example University" in answer.text
    assert "Traceback" not in answer.text
    assert not trying.signed_in


def test_a_provider_that_is_slow_does_not_hold_us(trying: Trying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.rest.identity.openid.provider.SECONDS", 0.4)

    def drip() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.05)
            yield b" " * 16_384

    trying.provider.answers[".well-known/openid-configuration"] = lambda: Response(drip())
    refused(trying.begin(), 503, "Example University does not answer")


def test_keys_are_not_fetched_for_every_token_that_names_an_unknown_one(trying: Trying) -> None:
    trying.provider.header["kid"] = "x"
    for _ in range(3):
        refused(trying.sign_in(), 401, "does not publish")
    assert len([path for path, _, _ in trying.provider.seen if path == "keys"]) == 1
    trying.clocks.ahead = 11
    refused(trying.sign_in(), 401, "does not publish")
    assert len([path for path, _, _ in trying.provider.seen if path == "keys"]) == 2


def test_somebody_who_was_disabled_here_stays_outside(trying: Trying) -> None:
    trying.provider.claims = {"eduperson_principal_name": "ann@example.edu"}
    assert trying.sign_in().status_code == 303
    trying.world.access.users.change("ann@example.edu", time.time(), disabled=True)
    refused(trying.sign_in(), 403, "disabled")
