"""A draft as the file that ``adon template add`` takes, its reasons as comments above the values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from adon import yamlfile
from adon.templates_catalog.questionnaire.drafting import Draft

WIDTH = 100
HEAD = "Drafted from a survey.  Look through it, then: adon template add FILE"


def as_yaml(draft: Draft) -> str:
    """The draft as YAML text; it reads back as the draft's own template."""
    reasons: dict[str, list[str]] = {}
    for reason in draft.reasons:
        reasons.setdefault(reason.field, []).append(reason.because)
    return "\n".join([*_comment(HEAD, ""), *_lines(draft.document, "", reasons, "")]) + "\n"


def _lines(
    document: Mapping[str, Any], above: str, reasons: Mapping[str, list[str]], margin: str
) -> Iterator[str]:
    for key, value in document.items():
        here = f"{above}{key}"
        for because in reasons.get(here, ()):
            yield from _comment(because, margin)
        if isinstance(value, Mapping) and any(field.startswith(f"{here}.") for field in reasons):
            yield f"{margin}{key}:"
            yield from _lines(value, f"{here}.", reasons, f"{margin}  ")
        else:
            yield from (f"{margin}{line}" for line in yamlfile.dump_data({key: value}).splitlines())


def _comment(text: str, margin: str) -> Iterator[str]:
    # No line break and no control character gets out of a comment: answers are a stranger's words.
    plain = "".join(c if c.isprintable() else " " for c in text)
    yield from (f"{margin}# {line}" for line in textwrap.wrap(plain, WIDTH, break_on_hyphens=False))
