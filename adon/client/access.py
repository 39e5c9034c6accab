"""Users, roles, tokens, sessions and the audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from adon.access.audit import COLUMNS, Values, Verification, verify_chain
from adon.api import routes
from adon.api.access import (
    AuditLine,
    NewTokenView,
    RoleList,
    SessionEndView,
    SessionView,
    TokenView,
    UserView,
)
from adon.client.calling import Caller, body_of


class AccessCalls(Caller):
    """Methods for users, roles, tokens, sessions and the audit log."""

    def myself(self) -> UserView:
        """Return the user of the client's token."""
        return self.call(routes.GET_MYSELF)

    def users(self) -> list[UserView]:
        """Return the users that this user may see, by name."""
        return self._all(routes.LIST_USERS)

    def user(self, name: str) -> UserView:
        """Return one user."""
        return self.call(routes.GET_USER, name=name)

    def add_user(
        self, name: str, roles: Sequence[str] = (), identity: Mapping[str, str] | None = None
    ) -> UserView:
        """Create a user.

        :param identity: issuer and subject of the user at an identity provider.  Without it, the user has
            tokens only.
        """
        known: dict[str, Any] = {"name": name, "granted": list(roles)}
        return self.call(routes.ADD_USER, body=known if identity is None else {**known, "identity": identity})

    def change_user(self, name: str, change: Mapping[str, Any]) -> UserView:
        """Set ``granted``, ``removed`` and ``disabled`` of a user."""
        return self.call(routes.CHANGE_USER, body=change, name=name)

    def change_roles(self, name: str, give: Collection[str] = (), take: Collection[str] = ()) -> UserView:
        """Grant roles to a user, or remove roles.

        :raises Conflict: if the user has changed in the meantime.
        """
        answer = self._send(routes.GET_USER, name=name)
        user = UserView.model_validate(body_of(answer, self._transport.base))
        granted = {*user.granted, *give} - {*take}
        removed = {*user.removed, *take} - {*give}
        change = {"granted": sorted(granted), "removed": sorted(removed)}
        seen = {"If-Match": answer.headers.get("etag", "*")}
        return self.call(routes.CHANGE_USER, body=change, headers=seen, name=name)

    def roles(self) -> RoleList:
        """Return the roles with their permissions, and the predefined scopes of tokens."""
        return self.call(routes.LIST_ROLES)

    def tokens(self, owner: str | None = None) -> list[TokenView]:
        """Return the tokens that this user may see, the newest first."""
        return self._all(routes.LIST_TOKENS, {"owner": owner})

    def token(self, token: str) -> TokenView:
        """Return one token by its id, without its secret."""
        return self.call(routes.GET_TOKEN, id=token)

    def add_token(self, wish: Mapping[str, Any]) -> NewTokenView:
        """Create a token; only this answer contains its ``secret``."""
        return self.call(routes.ADD_TOKEN, body=wish)

    def revoke_token(self, token: str) -> TokenView:
        """Revoke a token; return it."""
        return self.call(routes.REVOKE_TOKEN, id=token)

    def sessions(self, owner: str | None = None) -> list[SessionView]:
        """Return the browser sessions that this user may see, the newest first."""
        return self._all(routes.LIST_SESSIONS, {"owner": owner})

    def session(self, session: str) -> SessionView:
        """Return one session by its id."""
        return self.call(routes.GET_SESSION, id=session)

    def end_session(self, session: str) -> SessionEndView:
        """End one browser session."""
        return self.call(routes.END_SESSION, id=session)

    def end_sessions(self, owner: str | None = None) -> SessionEndView:
        """End all browser sessions of a user, except the one that asks; one's own by default."""
        return self.call(routes.END_SESSIONS, query={"owner": owner})

    def audit(self, query: Mapping[str, Any], limit: int = 100) -> list[AuditLine]:
        """Return the newest lines of the audit log, at most ``limit``."""
        return list(self.each(routes.LIST_AUDIT, query, limit))

    def audit_values(self, query: Mapping[str, Any]) -> Iterator[Values]:
        """Yield the values of the audit log's lines, the oldest first."""
        for line in self.each(routes.LIST_AUDIT, {**query, "after": 0}):
            yield [getattr(line, name) for name in COLUMNS]

    def verify_audit(self, expected: Mapping[int, str] | None = None) -> Verification:
        """Verify the hash chain of the audit log (:func:`adon.access.audit.verify_chain`).

        :param expected: digests by number that were recorded elsewhere.
        """
        told = self.call(routes.LIST_AUDIT, query={"limit": 1}).head
        number, _, digest = (told or "").partition(":")
        lines: Iterator[Values] = self.audit_values({})
        if told is not None:
            lines = takewhile(lambda line: line[0] <= int(number), lines)
        return verify_chain(lines, None if told is None else (int(number), digest), expected)
