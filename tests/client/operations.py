"""The operations of the API's description, and those that each method of the client asks for."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from adon.client import documents
from adon.client.calling import Caller
from adon.client.client import Client
from adon.client.transport import Answer
from apps.rest.app import create_app

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


def answered(operation: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of an operation's success, if that is JSON."""
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            found: dict[str, Any] | None = answer.get("content", {}).get("application/json", {}).get("schema")
            return found
    return None


class Recorder:
    """A transport that keeps what it was asked and answers something that every method takes."""

    base = "http://recorder"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    def send(self, method: str, path: str, body=None, query=None, headers=None) -> Answer:
        self.asked.append((method, path, {"body": body, "query": dict(query or {}), "headers": headers}))
        lists: dict[str, list[str]] = {name: [] for name in ("items", "switches", "granted", "removed")}
        return Answer(200, json.dumps({**lists, "next": None, "head": None}).encode())

    def lines(self, path, query, headers) -> Iterator[bytes]:
        self.asked.append(("GET", path, {"body": None, "query": dict(query), "headers": headers}))
        return iter(())


def methods() -> dict[str, Any]:
    """The client's questions and commands, by name."""
    return {
        name: member
        for name, member in inspect.getmembers(Client, inspect.isfunction)
        if not name.startswith("_") and name not in vars(Caller)
    }


def arguments(method: Any, *, whole: bool) -> tuple[list[Any], dict[str, Any]]:
    """Values for a method's parameters; with ``whole`` also for those that may be left out."""
    hints = typing.get_type_hints(method)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is not parameter.empty and not whole:
            continue
        value = value_of(hints[name], whole)
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return positional, named


def value_of(hint: Any, truth: bool) -> Any:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kind = next(one for one in typing.get_args(hint) if one is not type(None)) if union else hint
    plain: dict[Any, Any] = {str: "x", int: 1, float: 1.0, bool: truth}
    return plain.get(kind, {})


def asked_by(method: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """The requests that a method makes, called with as little and with as much as it takes."""
    recorder = Recorder()
    for whole in (False, True):
        positional, named = arguments(method, whole=whole)
        found = method(Client(recorder), *positional, **named)
        if inspect.isgenerator(found):
            list(found)
    return recorder.asked


def name_of(method: str, path: str, known: dict[str, dict[str, Any]]) -> str:
    """The operation that a request is."""
    exact = f"{method} {path}"
    if exact in known:
        return exact
    for name in known:
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(name))
        if re.fullmatch(pattern, exact):
            return name
    return f"unknown: {exact}"


def document_of(method: Any) -> tuple[str, bool] | None:
    """The name of the document that a method says it returns, and whether it is a list of them."""
    hint = typing.get_type_hints(method).get("return")
    inner = typing.get_args(hint)
    many = bool(inner)
    kind = inner[0] if many else hint
    name = getattr(kind, "__name__", "")
    return (name, many) if hasattr(documents, name) else None
