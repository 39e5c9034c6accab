"""An OpenID provider that can lie: what it says, signs and answers is a test's to choose."""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flask import Flask, Response, request
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from werkzeug.serving import make_server

from tests.apps.identity.openid_provider import SECRET

CLIENT = "adon"
Answer = Response | dict[str, Any] | tuple[str, int]


@dataclass
class Hostile:
    """What the provider says; honest until a test changes it."""

    base: str
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k", "use": "sig"}))
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "k"})
    claims: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""
    signed: Callable[[dict[str, Any]], str] | None = None
    published: list[dict[str, Any]] | None = None
    more_metadata: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=lambda: {"sub": "1"})
    answers: dict[str, Callable[[], Answer]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    def id_token(self) -> str:
        now = int(time.time())
        honest = {
            "iss": self.base,
            "aud": CLIENT,
            "sub": "1",
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonce,
        }
        claims = {name: value for name, value in {**honest, **self.claims}.items() if value is not None}
        if self.signed is not None:
            return self.signed(claims)
        return jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]])

    def metadata(self) -> dict[str, Any]:
        paths = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        named = {f"{name}_endpoint": f"{self.base}/{path}" for name, path in paths.items()}
        return {"issuer": self.base, "jwks_uri": f"{self.base}/keys", **named, **self.more_metadata}

    def keys(self) -> dict[str, Any]:
        return {"keys": [dict(self.key.as_dict(private=False))] if self.published is None else self.published}

    def tokens(self) -> dict[str, Any]:
        return {"access_token": "a", "token_type": "Bearer", "id_token": self.id_token()}


def unsigned(claims: dict[str, Any]) -> str:
    """A token that says of itself that nobody signed it."""
    return ".".join((_encoded({"alg": "none"}), _encoded(claims), ""))


def by_public_key(key: RSAKey) -> Callable[[dict[str, Any]], str]:
    """Signs with HMAC, taking the public key, which everybody has, for the secret."""

    def sign(claims: dict[str, Any]) -> str:
        signed = f"{_encoded({'alg': 'HS256', 'kid': 'k'})}.{_encoded(claims)}"
        mark = hmac.digest(key.as_pem(private=False), signed.encode(), "sha256")
        return f"{signed}.{urlsafe_b64encode(mark).rstrip(b'=').decode()}"

    return sign


def by_client_secret(claims: dict[str, Any]) -> str:
    """Signs with HMAC and the client secret, which is more than this provider knows."""
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET), algorithms=["HS256"])


@contextmanager
def hostile_provider() -> Iterator[Hostile]:
    app = Flask("hostile")
    server = make_server("127.0.0.1", 0, app, threaded=True)
    provider = Hostile(f"http://127.0.0.1:{server.port}")

    @app.route("/<path:path>", methods=["GET", "POST"])
    def answer(path: str) -> Answer:
        provider.seen.append((path, request.form.to_dict(), request.headers.get("Authorization", "")))
        usual: dict[str, Callable[[], Answer]] = {
            ".well-known/openid-configuration": provider.metadata,
            "keys": provider.keys,
            "token": provider.tokens,
            "userinfo": lambda: provider.userinfo,
        }
        return {**usual, **provider.answers}[path]()

    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def encoded_text(text: str) -> str:
    """A text as a part of a token."""
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _encoded(part: dict[str, Any]) -> str:
    return encoded_text(json.dumps(part))
