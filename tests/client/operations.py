"""The operations of the API's description, and those that each method of the client asks for."""

from __future__ import annotations

from typing import Any

from apps.rest.web_app import create_app

PREFIX = "/api/v1"
METHODS = ("get", "post", "put", "patch", "delete")


def description() -> dict[str, Any]:
    return create_app(None).api_doc  # type: ignore[arg-type]  # describing itself, it needs no services


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """``GET /flows/{id}`` -> what the description says about it."""
    return {
        f"{method.upper()} {path.removeprefix(PREFIX)}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
