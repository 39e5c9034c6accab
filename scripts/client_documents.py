#!/usr/bin/env python3
"""Writes adon/client/documents.py, the types of what the REST API takes and answers, from its description.

``python scripts/client_documents.py`` writes the file; with ``--check`` it only says whether the file is what
would be written (exit status 1 if not).  Needs datamodel-code-generator and ruff (``pip install .[dev]``).
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

TARGET = ROOT / "adon" / "client" / "documents.py"
BIN = Path(sys.executable).parent

HEADER = '''"""What the REST API takes and answers, as types.  GENERATED: do not edit.

Written by ``python scripts/client_documents.py`` from the API's own description (OpenAPI).  A key that is
``NotRequired`` may be left out of what is sent.  Where something is impossible a time span is ``"inf"``;
moments are text (RFC 3339, UTC).
"""
'''

CONSTRAINTS = frozenset(
    {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "propertyNames",
        "title",
        "uniqueItems",
    }
)
"""What a type cannot say; left in, each would become a type of its own with no more in it than ``str``."""


class Unwritten(ModuleType):
    """Stands in for the file while it is written: the API is described without the types of its client."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return object


def described() -> dict[str, Any]:
    """The API's description, from the application itself."""
    sys.modules["adon.client.documents"] = Unwritten("adon.client.documents")
    from apps.rest.app import create_app
    from apps.rest.services import Services

    app = create_app(cast(Services, None))  # describing itself, it needs none of its services
    return cast(dict[str, Any], app.api_doc)


def schemas(document: dict[str, Any]) -> dict[str, Any]:
    """A description with the schemas of another only, without what types cannot say."""
    written = document["components"]["schemas"]
    needed = reachable(written, imported_names())
    kept = {name: plain(schema) for name, schema in written.items() if name in needed}
    info = {"title": "ADON", "version": "1"}
    return {"openapi": document["openapi"], "info": info, "paths": {}, "components": {"schemas": kept}}


def imported_names() -> set[str]:
    """The types that the client and its callers still import; the others are documents of adon/api."""
    found: set[str] = set()
    for folder in ("adon/client", "apps/cli", "apps/dashboard"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module == "adon.client.documents":
                    found.update(alias.name for alias in node.names)
    return found


def reachable(written: dict[str, Any], names: set[str]) -> set[str]:
    """Names of schemas, and of all that they refer to."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in written and name not in found:
            found.add(name)
            left += re.findall(r'"#/components/schemas/(\w+)"', json.dumps(written[name]))
    return found


def plain(schema: Any) -> Any:
    """A schema without constraints."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: plain(one) for key, one in value.items()} if name == "properties" else plain(value)
        for name, value in schema.items()
        if name not in CONSTRAINTS
    }


def generated(document: dict[str, Any]) -> str:
    """The module's text."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "api.json", Path(folder) / "documents.py"
        source.write_text(json.dumps(schemas(document)))
        command = [
            str(BIN / "datamodel-codegen"),
            *("--input", str(source), "--input-file-type", "openapi", "--openapi-scopes", "schemas"),
            *("--output", str(result), "--output-model-type", "typing.TypedDict"),
            *("--target-python-version", "3.11", "--enum-field-as-literal", "all"),
            *("--no-use-closed-typed-dict", "--use-schema-description", "--use-field-description"),
            *("--use-union-operator", "--use-standard-collections", "--disable-timestamp"),
            *("--formatters", "ruff-format"),
        ]
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
        text = result.read_text()
    body = text[text.index("from __future__") :]
    laid_out = ruff("format", HEADER + "\n" + body)
    return ruff("check", laid_out, "--select", "I,F401", "--fix")


def ruff(command: str, text: str, *options: str) -> str:
    """A module's text after one of ruff's commands."""
    done = subprocess.run(
        [str(BIN / "ruff"), command, *options, "--stdin-filename", str(TARGET), "-"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def same(text: str, other: str) -> bool:
    """Whether two modules say the same; how they are laid out does not matter."""
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(other))


def main() -> int:
    """Write the file, or check it; the exit status."""
    wanted = generated(described())
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(wanted)
        return 0
    if TARGET.exists() and same(TARGET.read_text(), wanted):
        return 0
    sys.stderr.write(f"{TARGET}: is not what the API says now; run: python scripts/{Path(__file__).name}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
