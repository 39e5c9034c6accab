"""Who may come in and do what: users, roles, tokens, sessions; and the audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from adon.access.audit import COLUMNS, Values, Verified, verify
from adon.api import routes
from adon.api.access import (
    AuditLine,
    EndedView,
    NewTokenView,
    RoleList,
    SessionView,
    TokenView,
    UserView,
)
from adon.client.calling import Caller, body_of


class AccessCalls(Caller):
    """Users, tokens, the audit log."""

    def myself(self) -> UserView:
        """Who asks."""
        return self.call(routes.GET_MYSELF)

    def users(self) -> list[UserView]:
        """Everybody whom one may see, by name."""
        return self._all(routes.LIST_USERS)

    def user(self, name: str) -> UserView:
        """One user."""
        return self.call(routes.GET_USER, name=name)

    def add_user(
        self, name: str, roles: Sequence[str] = (), identity: Mapping[str, str] | None = None
    ) -> UserView:
        """Name somebody who has not been here yet.

        :param identity: who they are elsewhere: whoever signs in as that is this user.  Without it they
            come with a token only.
        """
        known: dict[str, Any] = {"name": name, "granted": list(roles)}
        return self.call(routes.ADD_USER, body=known if identity is None else {**known, "identity": identity})

    def change_user(self, name: str, change: Mapping[str, Any]) -> UserView:
        """Set what an administrator decides: ``granted``, ``removed``, ``disabled``."""
        return self.call(routes.CHANGE_USER, body=change, name=name)

    def change_roles(self, name: str, give: Collection[str] = (), take: Collection[str] = ()) -> UserView:
        """Give a user roles, or take some away.

        :raises Conflict: if somebody else changed the user meanwhile.
        """
        answer = self._send(routes.GET_USER, name=name)
        user = UserView.model_validate(body_of(answer, self._transport.base))
        granted = {*user.granted, *give} - {*take}
        removed = {*user.removed, *take} - {*give}
        change = {"granted": sorted(granted), "removed": sorted(removed)}
        seen = {"If-Match": answer.headers.get("etag", "*")}
        return self.call(routes.CHANGE_USER, body=change, headers=seen, name=name)

    def roles(self) -> RoleList:
        """The roles with what each may do, and the ready-made scopes of tokens."""
        return self.call(routes.LIST_ROLES)

    def tokens(self, owner: str | None = None) -> list[TokenView]:
        """Tokens that one may see, the newest first."""
        return self._all(routes.LIST_TOKENS, {"owner": owner})

    def token(self, token: str) -> TokenView:
        """One token, by its id; never its secret."""
        return self.call(routes.GET_TOKEN, id=token)

    def add_token(self, wish: Mapping[str, Any]) -> NewTokenView:
        """Make a token; its ``secret`` is in this answer and nowhere else."""
        return self.call(routes.ADD_TOKEN, body=wish)

    def revoke_token(self, token: str) -> TokenView:
        """Make a token worthless; the token as it is then."""
        return self.call(routes.REVOKE_TOKEN, id=token)

    def sessions(self, owner: str | None = None) -> list[SessionView]:
        """The browsers at which somebody is signed in, as far as one may see them, the newest first."""
        return self._all(routes.LIST_SESSIONS, {"owner": owner})

    def session(self, session: str) -> SessionView:
        """One session, by its id."""
        return self.call(routes.GET_SESSION, id=session)

    def end_session(self, session: str) -> EndedView:
        """Sign somebody out at one browser."""
        return self.call(routes.END_SESSION, id=session)

    def end_sessions(self, owner: str | None = None) -> EndedView:
        """Sign somebody, oneself without a name, out at every browser but the one that asks."""
        return self.call(routes.END_SESSIONS, query={"owner": owner})

    def audit(self, query: Mapping[str, Any], limit: int = 100) -> list[AuditLine]:
        """The newest lines of the audit log, at most ``limit``."""
        return list(self.each(routes.LIST_AUDIT, query, limit))

    def audit_values(self, query: Mapping[str, Any]) -> Iterator[Values]:
        """The values of lines of the audit log, the oldest first, as the log keeps them."""
        for line in self.each(routes.LIST_AUDIT, {**query, "after": 0}):
            yield [getattr(line, name) for name in COLUMNS]

    def verify_audit(self, expected: Mapping[int, str] | None = None) -> Verified:
        """Whether the audit log is whole (:func:`adon.access.audit.verify`), as it is at one moment.

        :param expected: digests by number that were noted elsewhere.
        """
        told = self.call(routes.LIST_AUDIT, query={"limit": 1}).head
        number, _, digest = (told or "").partition(":")
        lines: Iterator[Values] = self.audit_values({})
        if told is not None:
            lines = takewhile(lambda line: line[0] <= int(number), lines)
        return verify(lines, None if told is None else (int(number), digest), expected)
