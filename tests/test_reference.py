"""The generated reference pages are those of the routes and commands that there are."""

from __future__ import annotations

import pytest

from docs._generate import FOLDER, pages


@pytest.mark.parametrize(("name", "text"), pages().items(), ids=lambda value: value[:8])
def test_reference_page_is_current(name: str, text: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == text, "run: python -m docs._generate"
