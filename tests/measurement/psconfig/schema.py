"""The rules of perfSONAR's JSON schema for pSConfig templates (versions 4 and 5), restated for tests.

As there, an entry of a section is checked only if its name has no other characters than those of ``NAME``,
and formats (host names, addresses) are not checked.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft4Validator

NAME = r"^[a-zA-Z0-9:._\-]+$"
DURATION = r"^P(\d+(\.\d+)?W)?(\d+(\.\d+)?D)?(T(\d+(\.\d+)?H)?(\d+(\.\d+)?M)?(\d+(\.\d+)?S)?)?$"
TIMESTAMP = r"^[+-]?\d{4}(-?(\d\d(-?\d\d)?|W\d\d(-?[1-7])?|\d{3})([T ][0-9:.,]+([zZ]|[+-]\d\d:?\d\d)?)?)?$"
HOST_PORT = (
    r"^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*"
    r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$"
)
Schema = dict[str, Any]
ANY: Schema = {}
TEXT, FLAG, WHOLE = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
CARDINAL = {**WHOLE, "minimum": 1}


def pattern(expression: str) -> Schema:
    return {**TEXT, "pattern": expression}


def one_of(*values: object) -> Schema:
    return {"enum": list(values)}


def many(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def exact(required: str = "", /, **properties: Schema) -> Schema:
    """An object without other properties; a trailing underscore is for words of Python."""
    named = {name.rstrip("_").replace("_", "-"): rule for name, rule in properties.items()}
    found = {"type": "object", "properties": {**named, "_meta": ANY}, "additionalProperties": False}
    return {**found, "required": required.split()} if required else found


def section(entry: Schema, **more: Any) -> Schema:
    return {"type": "object", "patternProperties": {NAME: entry}, **more}


def either(*rules: Schema) -> Schema:
    return {"anyOf": list(rules)}


NAMES = many(pattern(NAME))
PLACE = {
    "agent_bind_address": TEXT,
    "lead_bind_address": TEXT,
    "pscheduler_address": pattern(HOST_PORT),
    "contexts": NAMES,
    "disabled": FLAG,
    "no_agent": FLAG,
}
SCRIPT = exact("script", script=either(TEXT, many(TEXT)), output_raw=FLAG, args=ANY)
LABELS = section(exact("address", address=TEXT, **PLACE), additionalProperties=False)
REMOTES = section(exact(address=TEXT, labels=LABELS, **PLACE), additionalProperties=False)
ADDRESS = exact(
    "address", address=TEXT, host=pattern(NAME), labels=LABELS, remote_addresses=REMOTES, tags=many(TEXT),
    **PLACE,
)  # fmt: skip
FILTER = {"$ref": "#/definitions/filter"}
FILTERS = either(
    exact("type class", type=one_of("address-class"), class_=pattern(NAME)),
    exact("type", type=one_of("host"), site=TEXT, no_agent=FLAG, tag=TEXT, jq=SCRIPT),
    exact("type jq", type=one_of("jq"), jq=SCRIPT),
    exact("type ip-version", type=one_of("ip-version"), ip_version=one_of(4, 6)),
    exact("type netmask", type=one_of("netmask"), netmask=pattern("^[0-9A-Fa-f:.]+/[0-9]+$")),
    exact("type filters", type=one_of("and", "or"), filters=many(FILTER)),
    exact("type filter", type=one_of("not"), filter=FILTER),
    exact("type tag", type=one_of("tag"), tag=TEXT),
)
CLASS = exact(
    "data-source",
    data_source=exact("type", type=one_of("current-config", "requesting-agent")),
    match_filter=FILTER,
    exclude_filter=FILTER,
    archives=NAMES,
)
SELECTOR = either(
    exact("class", class_=pattern(NAME), disabled=FLAG),
    exact("name", name=pattern(NAME), label=pattern(NAME), disabled=FLAG),
)
PAIRS = {
    "default_address_label": TEXT,
    "flip": FLAG,
    "excludes_self": one_of("host", "address", "disabled"),
    "excludes": many(
        exact("local-address target-addresses", local_address=SELECTOR, target_addresses=many(SELECTOR))
    ),
}
GROUP = either(
    exact("type addresses", type=one_of("mesh"), addresses=many(SELECTOR), **PAIRS),
    exact("type addresses", type=one_of("list"), addresses=many(SELECTOR), default_address_label=TEXT),
    exact(
        "type a-addresses b-addresses", type=one_of("disjoint"), unidirectional=FLAG,
        a_addresses=many(SELECTOR), b_addresses=many(SELECTOR), **PAIRS,
    ),
)  # fmt: skip
MOMENT = either(pattern(TIMESTAMP), pattern(DURATION), pattern(r"^@(R\d*/)?P[0-9.YMWDTHS]*$"))
SCHEDULE = exact(
    start=MOMENT, slip=pattern(DURATION), sliprand=FLAG, repeat=pattern(DURATION), until=MOMENT,
    max_runs=CARDINAL,
)  # fmt: skip
ARCHIVE = exact(
    "archiver data", archiver=TEXT, data=ANY, transform=SCRIPT, ttl=pattern(DURATION), label=TEXT, runs=TEXT,
    schema=CARDINAL,
)  # fmt: skip
RUN = {"disabled": FLAG, "archives": NAMES, "tools": many(TEXT), "reference": ANY}
OFFSET = exact(type=one_of("start", "end"), relation=one_of("before", "after"), offset=pattern(DURATION))
TASK = exact(
    "group test", group=pattern(NAME), test=pattern(NAME), schedule=pattern(NAME), subtasks=NAMES,
    scheduled_by={**WHOLE, "minimum": 0}, priority=WHOLE, **RUN,
)  # fmt: skip
TEMPLATE = {
    **exact(
        "addresses groups tests tasks",
        addresses=section(ADDRESS),
        address_classes=section(CLASS),
        archives=section(ARCHIVE),
        contexts=section(exact("context data", context=TEXT, data=ANY)),
        groups=section(GROUP),
        hosts=section(exact(site=TEXT, archives=NAMES, tags=many(TEXT), no_agent=FLAG, disabled=FLAG)),
        includes=many(TEXT),
        schedules=section(SCHEDULE),
        subtasks=section(exact("test", test=pattern(NAME), schedule_offset=OFFSET, **RUN)),
        tasks=section(TASK),
        tests=section(exact("type spec", type=TEXT, spec=ANY)),
    ),
    "definitions": {"filter": FILTERS},
}
_VALIDATOR = Draft4Validator(TEMPLATE)


def violations(template: object) -> list[str]:
    """What the schema refuses, one line for each problem."""
    return [
        f"{list(error.path)}: {error.message}" for error in _VALIDATOR.iter_errors(without_comments(template))
    ]


def without_comments(value: object) -> object:
    """Without the keys that perfSONAR drops before it validates."""
    if isinstance(value, dict):
        return {name: without_comments(item) for name, item in value.items() if not name.startswith("#")}
    return [without_comments(item) for item in value] if isinstance(value, list) else value
