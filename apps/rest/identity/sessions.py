"""The cookie of a session: how it is set, read and taken back.

The name says where it may go: ``__Host-`` makes a browser refuse one that another host of the domain has
set, and needs HTTPS.  SameSite=Lax and not Strict: an identity provider sends people back here by a link,
and they must then be known; whatever changes something needs the session's ``csrf`` as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import request
from werkzeug.wrappers import Response

from adon.access.audit import clean_text
from adon.access.identity import Actor
from adon.store.access.sessions import Session
from apps.rest import request_audit
from apps.rest.services import services

NAME = "adon_session"
SECURE_NAME = f"__Host-{NAME}"


def begin(response: Response, actor: Actor, how: str, extra: Mapping[str, str] | None = None) -> None:
    """Sign somebody in at this browser; whoever was signed in there before is not any more.

    :param how: the way of signing in (``token``, ``oidc``, ``shibboleth``).
    :param extra: see :meth:`adon.store.access.sessions.Sessions.start`.
    :raises NotFound: for an actor who is no user.
    """
    parts = services()
    kept = parts.access.sessions
    kept.end(_presented())
    cookie = kept.start(actor, how, parts.clock(), {**_where(), **(extra or {})})
    request_audit.note("session.begin", actor, detail=f"by {how}")
    response.set_cookie(
        _name(),
        cookie,
        max_age=int(kept.lifetime),
        path="/",
        httponly=True,
        samesite="Lax",
        secure=over_https(),
    )


def current() -> Session | None:
    """The session of this request's cookie; None if there is none that is good."""
    parts = services()
    return parts.access.sessions.get(_presented(), parts.clock())


def end(response: Response) -> None:
    """Sign out at this browser."""
    session = current()
    if session is not None:
        request_audit.note("session.end", session.actor)
    services().access.sessions.end(_presented())
    response.delete_cookie(_name(), path="/", httponly=True, samesite="Lax", secure=over_https())


def over_https() -> bool:
    """Whether the browser speaks HTTPS, to us or to the web server in front that has our name."""
    public = urlsplit(services().configuration.access.public_url or "")
    return request.is_secure or (public.scheme == "https" and request.host == public.netloc)


def _where() -> Mapping[str, str]:
    """What lets people know a session again among theirs."""
    browser = request.headers.get("User-Agent", "")
    return {"address": clean_text(request.remote_addr or "", 64), "browser": clean_text(browser, 200)}


def _name() -> str:
    return SECURE_NAME if over_https() else NAME


def _presented() -> str | None:
    # Over HTTPS the unprotected name is not looked at: another host of the domain could have set it.
    return request.cookies.get(_name())
