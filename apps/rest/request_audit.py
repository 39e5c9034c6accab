"""What goes into the audit log: every change with its result, every refusal, who signs in and out."""

from __future__ import annotations

from flask import Flask, Response, g, has_request_context, request

from adon.access.audit import AuditEntry, Outcome
from adon.access.identity import PREFIX, Actor, digest_of
from adon.api.base import PREFIX as API_PREFIX
from adon.api.route import RouteKind
from adon.errors import AdonError, InvalidInput
from apps.rest.authentication import current_route
from apps.rest.services import services

CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TOKEN_LENGTH = len(PREFIX) + 43
_PAGES = {
    "identity.enter": "session.begin",
    "identity.begin": "session.begin",
    "identity.finish": "session.begin",
    "identity.leave": "session.end",
}


def install(app: Flask) -> None:
    """Have every change and refusal of this application audited."""
    app.after_request(_note_answer)


def note(action: str, actor: Actor | None, obj: str = "", detail: str = "") -> None:
    """Audit something that was done and is no ordinary change: somebody signed in, or out.

    The request's own answer is then not noted again.
    """
    g.audited = True
    services().audit.record(_entry(action, actor, obj or _object(), Outcome.DONE, 0, detail))


def attempt(action: str, detail: str, actor: Actor | None = None) -> None:
    """Audit something that somebody tried beside what they asked for, which has its own line.

    :param actor: in whose name.
    """
    services().audit.record(_entry(action, actor, _object(), Outcome.REFUSED, 0, detail))


def explain(detail: str) -> None:
    """Say what exactly this request changes; it goes into its line."""
    g.audit_detail = detail


def problem(error: AdonError) -> None:
    """Say why this request fails; it goes into its line.

    Of wrong input only the fields' names: what was written there may be a secret in the wrong place.
    """
    if has_request_context():
        fields = (
            ", ".join(dict.fromkeys(p.field for p in error.problems))
            if isinstance(error, InvalidInput)
            else ""
        )
        g.audit_detail = f"invalid: {fields}" if isinstance(error, InvalidInput) else str(error)


def _note_answer(response: Response) -> Response:
    status = response.status_code
    hidden = status == 404 and "hidden" in g  # it is there, and not theirs to know (apps.rest.authorisation)
    refused = hidden or status == 403 or (status == 401 and _presented())
    if not g.get("audited", False) and (_changes() or refused):
        kept_out = hidden or status in (401, 403)
        outcome = Outcome.DONE if status < 400 else Outcome.REFUSED if kept_out else Outcome.FAILED
        obj = _object(response.headers.get("Location") if status in (201, 202) else None)
        detail = str(g.hidden if hidden else g.get("audit_detail", ""))
        services().audit.record(_entry(_action(), g.get("actor"), obj, outcome, status, detail))
    return response


def _changes() -> bool:
    route = current_route()
    return request.method in CHANGES and (route is None or route.kind is RouteKind.CHANGE)


def _entry(
    action: str, actor: Actor | None, obj: str, outcome: Outcome, status: int, detail: str
) -> AuditEntry:
    via = _via(actor)
    return AuditEntry(
        at=services().clock(),
        actor="" if actor is None else actor.name,
        via=via,
        address=request.remote_addr or "",
        action=action,
        method=request.method,
        object=obj,
        outcome=outcome,
        status=status,
        detail=detail,
    )


def _via(actor: Actor | None) -> str:
    if actor is not None:
        return f"{actor.via}:{actor.proof}" if actor.proof else actor.via
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token.strip()
    if not scheme:
        return ""
    # Of what has the form of our tokens the id, which does not tell them; of anything else nothing.
    shaped = token.startswith(PREFIX) and len(token) == _TOKEN_LENGTH
    return f"token:{digest_of(token)[:12]}" if shaped else "token"


def _presented() -> bool:
    asked = "Authorization" in request.headers or request.endpoint in _PAGES
    return asked or g.get("actor") is not None or request.method in CHANGES


def _action() -> str:
    endpoint = request.endpoint
    if endpoint is None:
        return "unknown"
    route = current_route()
    return _PAGES.get(endpoint, endpoint) if route is None else route.action.value


def _object(location: str | None = None) -> str:
    path = location if location is not None and location.startswith("/") else request.path
    return path.removeprefix(API_PREFIX)
