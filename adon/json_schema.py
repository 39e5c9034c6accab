"""What a file may hold, as a JSON schema for editors."""

from __future__ import annotations

import warnings
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import PydanticJsonSchemaWarning

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    """The JSON schema (2020-12) of a file that is read as this model.

    It knows each key, its type and its bounds; what keys mean together, and whether names are there, is told
    only by who reads the file.
    """
    with warnings.catch_warnings():
        # A default that is an empty mapping has no place in a schema; its key is optional all the same.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        found = model.model_json_schema()
    return {"$schema": DIALECT, **found, "title": title}
