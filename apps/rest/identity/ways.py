"""Configured methods of sign-in, the user of an assertion, and the page after a sign-in."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from flask import current_app

from adon.access.admission import AdmittedUser, admit
from adon.access.assertion import Assertion
from adon.config.access import SHIBBOLETH, Access
from apps.rest.identity.openid.pending import PendingSignIns
from apps.rest.identity.openid.relying_party import RelyingParty, client_secret, read_secret
from apps.rest.identity.shibboleth import Attempts, TrustedProxy

HOME = "/"
LONGEST = 2000
_NOT_AGAIN = ("/sign-in", "/sign-out")


def local_path(wanted: str | None) -> str:
    r"""The path with its query, if it is one that can only lead here; else the first page.

    Browsers take ``//host``, ``/\host`` and what hides behind tabs and line ends for other sites.
    """
    if wanted is None or len(wanted) > LONGEST or not wanted.startswith("/") or wanted.startswith("//"):
        return HOME
    if "\\" in wanted or not all("!" <= character <= "~" for character in wanted):
        return HOME
    try:
        url = urlsplit(wanted)
    except ValueError:
        return HOME
    again = any(url.path == path or url.path.startswith(f"{path}/") for path in _NOT_AGAIN)
    return HOME if url.scheme or url.netloc or again else wanted


NAME = "adon_sign_in"
"""Where a Flask application keeps its :class:`Ways`."""
How = Literal["oidc", "shibboleth"]


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to sign in beside a token.

    :param openid: by name, in the order of the configuration.
    :param clock: seconds since the epoch.
    """

    settings: Access
    openid: Mapping[str, RelyingParty]
    shibboleth: TrustedProxy | None
    attempts: Attempts
    clock: Callable[[], float]
    pending: PendingSignIns = field(default_factory=PendingSignIns)

    @property
    def titles(self) -> list[tuple[str, str]]:
        """Name and title of each, as the sign-in page lists them."""
        found = [(name, provider.title) for name, provider in self.settings.openid.items()]
        shibboleth = self.settings.shibboleth
        return [*found, (SHIBBOLETH, shibboleth.title)] if shibboleth is not None else found

    def admit(self, name: str, assertion: Assertion) -> AdmittedUser:
        """Return the user of a sign-in by the method of this name.

        :raises Forbidden: for a user without a role.
        """
        settings = self.settings
        party = settings.shibboleth if name == SHIBBOLETH else settings.openid[name]
        may_assert = party.may_assert if party is not None else ()
        issuers = {provider.issuer for provider in settings.openid.values()}
        return admit(assertion, may_assert, settings.rules, settings.default_roles, issuers)


def open_ways(
    settings: Access,
    clock: Callable[[], float],
    environment: Mapping[str, str] = os.environ,
    steady: Callable[[], float] = time.monotonic,
) -> Ways:
    """Return the methods of sign-in; no provider is asked yet.

    :param clock: seconds since the epoch; ``steady``: seconds that never go back.
    :raises InvalidInput: if a secret is not where the configuration says.
    """
    parties = {
        name: RelyingParty(
            provider,
            client_secret(name, provider, environment),
            f"{public_url(settings)}/sign-in/{name}/callback",
            clock,
            steady,
        )
        for name, provider in settings.openid.items()
    }
    proxy = None
    if settings.shibboleth is not None:
        secret = read_secret(Path(settings.shibboleth.secret_file), "access.shibboleth.secret_file")
        proxy = TrustedProxy(settings.shibboleth, secret)
    return Ways(settings, parties, proxy, Attempts(proxy), clock)


def ways() -> Ways:
    """The ways to sign in at the application that handles this request."""
    return cast(Ways, current_app.extensions[NAME])


def public_url(settings: Access) -> str:
    """Under which browsers reach us, without a closing slash."""
    return (settings.public_url or "").rstrip("/")
