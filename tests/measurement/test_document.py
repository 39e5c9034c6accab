"""Documents with a kind and a version: what is refused before a field is looked at, and how it is written."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from measurement import document
from measurement.document import Document, read, written


class Sheet(Document):
    kind: Literal["sheet"]
    version: Literal[1]
    rows: list[list[int]]


WHOLE = {"kind": "sheet", "version": 1, "rows": [[1, 2], [3, 4]]}


def test_a_row_per_line_and_back() -> None:
    text = written(WHOLE)
    assert "    [1, 2],\n    [3, 4]\n" in text
    assert read(text, Sheet, "sheet", 1).rows == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "document: is no JSON object"),
        ("{", "document: is no JSON"),
        ('{"kind": "sheet", "version": 1, "rows": NaN}', "document: is no JSON"),
        (json.dumps({**WHOLE, "kind": "song"}), "kind: 'song' is not 'sheet'"),
        (json.dumps({**WHOLE, "version": 2}), "version: '2' is not 1"),
        (json.dumps({**WHOLE, "more": 1}), "more: Extra inputs"),
        (json.dumps({**WHOLE, "rows": [[1, "2"]]}), "rows.0.1: Input should be a valid integer"),
        (json.dumps({**WHOLE, "rows": [["x"] * 7]}), "; and 2 more"),
    ],
)
def test_what_is_none_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as found:
        read(text, Sheet, "sheet", 1)
    assert told in str(found.value)


def test_too_large_a_document_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(WHOLE)
    monkeypatch.setattr(document, "LARGEST", len(text))
    assert read(text, Sheet, "sheet", 1)
    monkeypatch.setattr(document, "LARGEST", len(text) - 1)
    with pytest.raises(ValueError, match="document: more than"):
        read(text, Sheet, "sheet", 1)
