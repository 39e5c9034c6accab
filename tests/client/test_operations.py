"""The client and the API's description do not differ: types, operations, parameters."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

import apps.rest
from tests.client.operations import (
    answered,
    asked_by,
    description,
    document_of,
    methods,
    name_of,
    operations,
)

ROOT = Path(__file__).parents[2]
DOCUMENT = description()
OPERATIONS = operations(DOCUMENT)
ASKED = {
    name: [(name_of(method, path, OPERATIONS), told) for method, path, told in asked_by(member)]
    for name, member in methods().items()
}


def test_the_types_are_those_that_the_description_yields():
    done = subprocess.run(
        [sys.executable, "scripts/client_documents.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_type_that_differs_is_found(tmp_path):
    """The check compares what the modules say, not how they are laid out."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from client_documents import same
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    text = (ROOT / "adon/client/documents.py").read_text()
    assert same(text, text.replace("\n\n\nclass", "\n\nclass"))
    assert not same(
        text, text.replace("class FlowView(TypedDict):", "class FlowView(TypedDict, total=False):")
    )


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_has_a_method(operation):
    found = [name for name, asked in ASKED.items() if operation in [one for one, _ in asked]]
    assert found, f"no method of adon.client.Client asks for {operation}"


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_method_asks_for_what_there_is_and_says_what_it_gets(name):
    unknown = [one for one, _ in ASKED[name] if one.startswith("unknown")]
    assert ASKED[name], "it asks for nothing"
    assert not unknown
    told = document_of(methods()[name])
    for operation, request in ASKED[name]:
        known = {one["name"] for one in OPERATIONS[operation].get("parameters", []) if one["in"] == "query"}
        assert set(request["query"]) <= known
        schema = answered(OPERATIONS[operation])
        if told is not None and schema is not None and "$ref" in schema:
            assert told[0] in documents_of(schema["$ref"].rpartition("/")[2], many=told[1])


def documents_of(schema: str, *, many: bool) -> set[str]:
    """The documents that an answer of this schema is, or is a list of."""
    if not many:
        return {schema}
    items = DOCUMENT["components"]["schemas"][schema]["properties"]["items"]["items"]
    return {items.get("$ref", "").rpartition("/")[2]}


def test_no_two_models_have_one_name():
    """The description has one place for all: of two models with one name it would show the last one only."""
    for module in pkgutil.walk_packages(apps.rest.__path__, "apps.rest."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds: list[type[BaseModel]] = [BaseModel]
    found: dict[str, set[str]] = {}
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if kind.__module__.startswith("apps.rest") and kind.__name__ in DOCUMENT["components"]["schemas"]:
            found.setdefault(kind.__name__, set()).add(kind.__module__)
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}


def test_what_makes_something_new_carries_a_key():
    for name in ("submit", "submit_job", "reserve"):
        keys = [request["headers"]["Idempotency-Key"] for _, request in ASKED[name]]
        assert len(set(keys)) == len(keys) == 2, name
