"""Sign-in at one provider: the browser goes there and comes back with a code, which ADON redeems."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session

from adon.access.assertion import Assertion, from_claims, is_incomplete
from adon.config.access import OpenIdProvider
from adon.errors import InvalidInput, NotAuthenticated, Unavailable
from apps.rest.identity.openid.id_token import Expected, UnknownKey, verified
from apps.rest.identity.openid.pending import Pending
from apps.rest.identity.openid.provider import Metadata, Provider, wants_secret_in_body

_CODE = re.compile(r"[a-z_]{1,60}")


def client_secret(
    name: str, settings: OpenIdProvider, environment: Mapping[str, str] = os.environ
) -> str | None:
    """The secret, from where the configuration says it is; None for a public client.

    :raises InvalidInput: if it is not there.
    """
    if settings.client_secret_variable is not None:
        field, found = "client_secret_variable", environment.get(settings.client_secret_variable, "").strip()
    elif settings.client_secret_file is not None:
        field, found = (
            "client_secret_file",
            read_secret(Path(settings.client_secret_file), f"access.openid.{name}.client_secret_file"),
        )
    else:
        return None
    if not found:
        raise InvalidInput.of(f"access.openid.{name}.{field}", "holds no secret")
    return found


def read_secret(file: Path, field: str) -> str:
    """A secret in a file, without the line's end.

    :raises InvalidInput: if the file cannot be read, or is empty.
    """
    try:
        found = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.of(field, f"{file} cannot be read") from error
    if not found:
        raise InvalidInput.of(field, f"{file} is empty")
    return found


class RelyingParty:
    """We, as one provider knows us.

    :param redirect_uri: where it sends browsers back to.
    :param clock: seconds since the epoch.
    :param steady: seconds that never go back.
    """

    def __init__(
        self,
        settings: OpenIdProvider,
        secret: str | None,
        redirect_uri: str,
        clock: Callable[[], float],
        steady: Callable[[], float],
    ) -> None:
        self.settings = settings
        self._secret = secret
        self._redirect_uri = redirect_uri
        self._clock = clock
        self._provider = Provider(settings.issuer, settings.title, settings.verify, steady)

    def address(self, pending: Pending) -> str:
        """Where the browser goes to sign in.

        :raises Unavailable: if the provider does not answer.
        """
        endpoint = self._provider.metadata()["authorization_endpoint"]
        with self._session() as session:
            url, _ = session.create_authorization_url(
                endpoint, state=pending.state, nonce=pending.nonce, code_verifier=pending.verifier
            )
        return str(url)

    def assertion(self, pending: Pending, answer: Mapping[str, str]) -> Assertion:
        """Who signed in, by the parameters that the browser came back with.

        :raises NotAuthenticated: without a sign-in, or without a valid proof.
        :raises Unavailable: if the provider does not answer.
        """
        known = self._provider.metadata()
        told = answer.get("iss")
        names_issuer = known.get("authorization_response_iss_parameter_supported") is True
        if (told is None and names_issuer) or told not in (None, self.settings.issuer):
            raise NotAuthenticated(f"this answer is not from {self.settings.title}; start again")
        if "error" in answer:
            code = answer["error"] if _CODE.fullmatch(answer["error"]) else "error"
            raise NotAuthenticated(f"{self.settings.title} did not sign you in ({code})")
        if not answer.get("code"):
            raise NotAuthenticated(f"{self.settings.title} sent no code; start again")
        tokens = self._redeem(known, answer["code"], pending)
        try:
            return from_claims(self._claims(known, tokens, pending))
        except NotAuthenticated as error:
            raise NotAuthenticated(f"{self.settings.title}: {error}") from error

    def sign_out_address(self, back: str) -> str | None:
        """Where the browser goes to sign out there too (RP-Initiated Logout 1.0); None for nowhere.

        The ID token is not sent as a hint: it would stand in logs and histories.

        :param back: where to come back to afterwards.
        """
        try:
            endpoint = self._provider.metadata().get("end_session_endpoint")
        except Unavailable:
            return None
        if endpoint is None:
            return None
        asked = urlencode({"client_id": self.settings.client_id, "post_logout_redirect_uri": back})
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{asked}"

    def _session(self, *, secret_in_body: bool = False) -> OAuth2Session:
        made = OAuth2Session(
            self.settings.client_id,
            self._secret,
            token_endpoint_auth_method="client_secret_post" if secret_in_body and self._secret else None,
            scope=" ".join(dict.fromkeys(("openid", *self.settings.scopes))),
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
        )
        self._provider.prepare(made)
        return made

    def _redeem(self, known: Metadata, code: str, pending: Pending) -> Mapping[str, Any]:
        title = self.settings.title
        in_body = wants_secret_in_body(known)
        with self._provider.connection(), self._session(secret_in_body=in_body) as session:
            try:
                tokens = session.fetch_token(
                    known["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=pending.verifier,
                    allow_redirects=False,
                )
            except AuthlibBaseError as error:
                told = str(error.error or "")
                what = told if _CODE.fullmatch(told) else "error"
                raise NotAuthenticated(
                    f"{title} does not accept its own code ({what}); start again"
                ) from error
            except (ValueError, TypeError, RecursionError) as error:
                raise Unavailable(f"{title} sent no tokens") from error
        return dict(tokens)

    def _claims(self, known: Metadata, tokens: Mapping[str, Any], pending: Pending) -> dict[str, Any]:
        token, access = tokens.get("id_token"), str(tokens.get("access_token", ""))
        if not isinstance(token, str) or not access.isascii() or not access.isprintable():
            raise NotAuthenticated("it sent no ID token")
        settings = self.settings
        expected = Expected(settings.issuer, settings.client_id, pending.nonce, access, settings.leeway)
        try:
            claims = verified(token, self._provider.keys(), expected, self._clock())
        except UnknownKey:
            claims = verified(token, self._provider.keys(unknown=True), expected, self._clock())
        userinfo = known.get("userinfo_endpoint")
        if userinfo is None or not is_incomplete(claims):
            return claims
        more = self._provider.get(userinfo, {"Authorization": f"Bearer {access}"})
        if more.get("sub") != claims["sub"]:
            raise NotAuthenticated("its userinfo is of another user than the ID token")
        # What is signed counts before what is not.
        return {**more, **claims}
