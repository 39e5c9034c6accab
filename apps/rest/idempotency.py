"""A POST with an Idempotency-Key is carried out once, however often it is sent.

What was answered is kept for a day (:mod:`adon.store.access.answers`), over restarts of every process, and
given again with ``Idempotency-Replayed: true``.  The same key with something else is refused with 422, one
that comes while the first is being carried out with 409.  What failed is not kept and may be tried again.

Some commands carry the key on to the controller, which keeps it too: if this process dies between the
controller's answer and ours, the repeated request still finds what it made.
"""

from __future__ import annotations

from flask import Response, g, request

from adon import problems
from adon.errors import Conflict, InvalidInput
from adon.store.access.answers import FIELD, Answer, Request
from apps.rest.authentication import current_route, requester
from apps.rest.responses import content_of
from apps.rest.services import services

REPLAYED = "Idempotency-Replayed"
MAX_KEY = 200
_HEADERS = ("Content-Type", "ETag", "Location", "Cache-Control")


def idempotency_key(key: str) -> str:
    """The value of an Idempotency-Key header, if it can be one.

    :raises InvalidInput: if not.
    """
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable() or key != key.strip():
        raise InvalidInput.of(FIELD, f"must be 1 to {MAX_KEY} printable ASCII characters")
    return key


def controller_key() -> dict[str, str]:
    """Return the key of this request as a part of a command to the controller, which keeps it, too.

    :raises InvalidInput: if the header can be no key.
    """
    key = request.headers.get(FIELD)
    return {} if key is None else {"idempotency_key": idempotency_key(key)}


def begin() -> Response | None:
    """Before a request is carried out: what was answered to it already, if it was.

    :raises InvalidInput: if the key was used with another request.
    :raises Conflict: if the same request is being carried out.
    """
    key = request.headers.get(FIELD)
    if request.method != "POST" or key is None:
        return None
    asked = Request(
        "POST",
        request.full_path,
        idempotency_key(key),
        requester().name,
        content_of(request.get_json() if request.is_json else {}),
    )
    parts = services()
    kept = parts.access.answers.claim(asked, parts.clock())
    if kept is None:
        g.repeatable = asked
        return None
    response = Response(kept.body, status=kept.status, headers=dict(kept.headers))
    response.headers[REPLAYED] = "true"
    return response


def finish(response: Response) -> Response:
    """After a request was carried out: keep what was answered, if anything came of it."""
    asked: Request | None = g.pop("repeatable", None)
    if asked is None:
        return response
    parts = services()
    if response.status_code >= 400:
        parts.access.answers.forget(asked)
        return response
    parts.access.answers.keep(asked, _kept(response), parts.clock())
    return response


def _kept(response: Response) -> Answer:
    route = current_route()
    if route is not None and route.secret:
        done = Conflict(FIELD, "this was carried out already; its answer is told once and kept nowhere")
        body = content_of(problems.to_document(done))
        return Answer(done.status, body, {"Content-Type": problems.MEDIA_TYPE})
    held = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    return Answer(response.status_code, response.get_data(), held)
