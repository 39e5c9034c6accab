"""What differs between two configurations, by value: what is only written differently is no difference (R11).

Comments, white space, the order of keys, units (``0.7 Gbps`` or ``700 Mbps``) and defaults that are written
out do not count.  The order of ``switches`` and ``paths`` does: a position is a number in the cookies of
rules (:mod:`adon.flowvisor.cookie`), and of two equal paths the first is taken.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from adon.config.configuration import Configuration

ORDERED = ("switches", "paths")
"""The sections in which the order of names means something."""
NONE = object()
"""What a section without this key has there."""


def fingerprint(configuration: Configuration) -> str:
    """The content as 16 hex digits: equal for equal configurations, whoever wrote them, in every process."""
    text = json.dumps(_values(configuration), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def changed(before: Configuration, after: Configuration) -> tuple[str, ...]:
    """What differs, in the order of the file's sections: ``policy.drain``, ``paths.al2s``, ``network``.

    Only the section itself if it is no mapping, or if just the order of its names differs.
    """
    old, new = _values(before), _values(after)
    names: list[str] = []
    for section in new:
        if old[section] != new[section]:
            names += _keys(section, old[section], new[section])
    return tuple(names)


def _keys(section: str, old: Any, new: Any) -> list[str]:
    if section in ORDERED:
        old, new = dict(old), dict(new)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [section]
    keys = dict.fromkeys((*old, *new))
    return [f"{section}.{key}" for key in keys if old.get(key, NONE) != new.get(key, NONE)] or [section]


def _values(configuration: Configuration) -> dict[str, Any]:
    """A configuration as JSON values, those of :data:`ORDERED` as pairs."""
    values = configuration.model_dump(mode="json")
    return {**values, **{name: [list(pair) for pair in values[name].items()] for name in ORDERED}}
