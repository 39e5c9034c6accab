"""A template as the text that a person edits: without what is empty, amounts as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from apps.dashboard.policy.words import Document, readable

WIDTH = 76
START: Document = {
    "name": "my-application",
    "title": "What a colleague would call it",
    "description": "What is moved, and who waits for what.",
    "match": {"applications": ["my-application"]},
    "qspec": {"throughput": {"min": "700 Mbps"}, "loss": {"max": "0.1 %"}},
    "rspec": {"bandwidth_ceiling": "10 Gbps"},
    "weights": {"throughput": 0.8, "loss": 0.2},
    "tables": {"throughput": {"points": [["700 Mbps", 1], ["10 Gbps", 10]]}},
    "priority": 500,
}
"""What a new template begins as."""


def as_text(template: Document) -> str:
    """The template as YAML; it reads back as the same template but for its version, which saving gives."""
    plain = _bare(readable(dict(template)))
    plain.pop("version", None)
    # Text beyond ASCII is escaped, as in adon.yamlfile: PyYAML writes a lone U+0085 as it is.
    return yaml.dump(plain, Dumper=yaml.SafeDumper, default_flow_style=None, sort_keys=False, width=WIDTH)


def ordered(template: Document) -> dict[str, Any]:
    """A template's parts in the order in which one reads them."""
    first = ("name", "version", "title", "description", "match", "qspec", "rspec", "weights", "tables")
    known = [name for name in first if name in template]
    return {name: template[name] for name in (*known, *(one for one in template if one not in known))}


def _bare(value: Any) -> Any:
    """Without what is not set: a left-out part means the same."""
    if not isinstance(value, Mapping):
        return value
    kept = {name: _bare(part) for name, part in ordered(value).items() if part is not False}
    return {name: part for name, part in kept.items() if part not in (None, "", [], {})}
