"""Who speaks for us at Globus: tokens are fetched when they are needed, and renewed before they expire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import globus_sdk
from globus_sdk.scopes import GCSCollectionScopes, Scope, TransferScopes
from globus_sdk.transport import RequestsTransport, RetryConfig

from adon.config.transfers import Globus

TRIES = 2
"""Beside the first, of one request: whoever asked asks again itself, so nobody waits here for long."""
LONGEST_PAUSE_S = 1.0


def login(configured: Globus, secret: str, timeout: float) -> Callable[[], globus_sdk.TransferClient]:
    """What gives the client: made when it is first asked for, for that asks for a token.  Any thread.

    :param secret: of the application, or the refresh token of who consented.
    :param timeout: of one request, in seconds.
    """
    made: list[globus_sdk.TransferClient] = []
    lock = threading.Lock()

    def client() -> globus_sdk.TransferClient:
        with lock:
            if not made:
                made.append(_client(configured, secret, timeout))
            return made[0]

    return client


def scopes_of(configured: Globus) -> Scope:
    """What we ask to be allowed: transfers, with access to the data of the collections that want consent."""
    wanted = TransferScopes.all
    return wanted.with_dependencies(_data_access(configured))


def _data_access(configured: Globus) -> Iterable[Scope]:
    found = sorted({place.collection for place in configured.remotes.values() if place.data_access})
    return [GCSCollectionScopes(one).data_access.with_optional(True) for one in found]


def _client(configured: Globus, secret: str, timeout: float) -> globus_sdk.TransferClient:
    authorizer: globus_sdk.RefreshTokenAuthorizer | globus_sdk.ClientCredentialsAuthorizer
    there, transport = configured.auth_url, _transport(timeout)
    if configured.refresh_token_file is not None or configured.refresh_token_env is not None:
        native = globus_sdk.NativeAppAuthClient(
            configured.client_id, base_url=there, transport=transport, retry_config=_retries()
        )
        authorizer = globus_sdk.RefreshTokenAuthorizer(secret, native)
    else:
        application = globus_sdk.ConfidentialAppAuthClient(
            configured.client_id,
            secret,
            base_url=there,
            transport=_transport(timeout),
            retry_config=_retries(),
        )
        authorizer = globus_sdk.ClientCredentialsAuthorizer(application, scopes_of(configured))
    return globus_sdk.TransferClient(
        authorizer=authorizer,
        base_url=configured.transfer_url,
        transport=_transport(timeout),
        retry_config=_retries(),
    )


def _transport(timeout: float) -> RequestsTransport:
    return RequestsTransport(http_timeout=timeout)


def _retries() -> RetryConfig:
    return RetryConfig(max_retries=TRIES, max_sleep=LONGEST_PAUSE_S)
