"""``/archivers``: where this point can send results."""

from __future__ import annotations

from flask import Blueprint, Response

from measurement.point import views
from measurement.point.api.asking import Refusal, argument, as_json, base, listed
from measurement.point.archives import ARCHIVERS, parse_data


def routes() -> Blueprint:
    """The resources."""
    found = Blueprint("archivers", __name__)

    @found.get("/archivers")
    def archivers() -> Response:
        return as_json(listed([views.archiver_view(name, base()) for name in ARCHIVERS]))

    @found.get("/archivers/<name>")
    def archiver(name: str) -> Response:
        _check_known(name)
        return as_json(views.archiver_view(name, base()))

    @found.get("/archivers/<name>/data-is-valid")
    def is_valid(name: str) -> Response:
        _check_known(name)
        try:
            parse_data(name, argument("data"))
        except ValueError as error:
            return as_json({"valid": False, "error": str(error)})
        return as_json({"valid": True})

    return found


def _check_known(name: str) -> None:
    if name not in ARCHIVERS:
        raise Refusal(404, f'No archiver "{name[:40]}" is available.')
