"""The npm package oidc-provider, a certified OpenID provider, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from joserfc.jwk import ECKey, RSAKey

from tests.apps.identity.browser import Browser
from tests.apps.identity.processes import answers, running
from tests.ports import free_port

HERE = Path(__file__).parent / "oidc"
PACKAGE = Path(__file__).parents[3] / ".node-oidc" / "node_modules" / "oidc-provider" / "lib" / "index.js"
SECRET = "a secret of the client, known to the test"  # noqa: S105


def signing_key(kid: str, kind: type[RSAKey] | type[ECKey] = RSAKey) -> dict[str, Any]:
    """A private key as a JWK."""
    parameters = {"kid": kid, "use": "sig", "alg": "RS256" if kind is RSAKey else "ES256"}
    made = (
        RSAKey.generate_key(2048, parameters) if kind is RSAKey else ECKey.generate_key("P-256", parameters)
    )
    return dict(made.as_dict(private=True))


@dataclass(frozen=True, slots=True)
class OpenIdProvider:
    """A running provider."""

    port: int

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def openid_provider(
    folder: Path,
    clients: Sequence[Mapping[str, Any]],
    people: Mapping[str, Mapping[str, Any]],
    keys: Sequence[Mapping[str, Any]],
    port: int | None = None,
) -> Iterator[OpenIdProvider]:
    """One that knows these people, by their claims; every password is right."""
    assert PACKAGE.exists(), f"{PACKAGE} is not there: run scripts/setup.sh test"
    port = port or free_port()
    settings = {"port": port, "clients": list(clients), "people": dict(people), "keys": list(keys)}
    told = folder / f"openid-{port}.json"
    told.write_text(json.dumps(settings) + "\n")
    command = ["node", str(HERE / "provider.js"), str(PACKAGE)]
    ready = answers(f"http://127.0.0.1:{port}/.well-known/openid-configuration")
    with running(command, folder / f"openid-{port}.log", ready, said=told):
        yield OpenIdProvider(port)


def client(client_id: str, public_url: str, **more: Any) -> dict[str, Any]:
    """A client as the provider registers it."""
    return {
        "client_id": client_id,
        "client_secret": SECRET,
        "redirect_uris": [f"{public_url}/sign-in/campus/callback"],
        "post_logout_redirect_uris": [f"{public_url}/sign-in"],
        "response_types": ["code"],
        "grant_types": ["authorization_code"],
        "scope": "openid profile groups",
        **more,
    }


def log_in(browser: Browser, page: requests.Response, who: str) -> requests.Response:
    """Through the provider's pages: who one is, then consent; the last redirect is not followed."""
    page = browser.submit(page, login=who, password="any")  # noqa: S106
    return browser.submit(page, allow_redirects=False)
