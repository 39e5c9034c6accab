"""The configuration's JSON schema, for editors."""

from __future__ import annotations

import warnings
from typing import Any

from pydantic.json_schema import PydanticJsonSchemaWarning

from adon.config import Configuration

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of the configuration file.

    It knows each key, its type and its bounds; what keys mean together is told by ``adon config check`` only.
    """
    with warnings.catch_warnings():
        # A default that is an empty mapping has no place in a schema; its key is optional all the same.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        found = Configuration.model_json_schema()
    return {"$schema": DIALECT, "title": "ADON configuration", **found}
