"""How long ago something was, as people say it: one whole number and a unit."""

from __future__ import annotations

_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def age(seconds: float | None) -> str:
    """``42 s ago``, ``5 min ago``; below two of a unit in the smaller one.  Empty where it is not known."""
    if seconds is None:
        return ""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit} ago"
    return f"{round(seconds)} s ago"
