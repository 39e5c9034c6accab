"""Conventions of the tests themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.conventions import find_prose, find_test_imports

TESTS = Path(__file__).parent
SOURCES = {file.relative_to(TESTS): file.read_text("utf-8") for file in sorted(TESTS.rglob("*.py"))}
INTERNALS = re.compile(r"\bbroker\.(world|_\w+)|\._world\b")


def test_only_support_reads_the_internals_of_a_broker() -> None:
    found = [
        f"{file}:{number}"
        for file, source in SOURCES.items()
        if file.parts[0] != "support" and file.name != Path(__file__).name
        for number, line in enumerate(source.splitlines(), 1)
        if INTERNALS.search(line)
    ]
    assert found == []


def test_no_test_compares_the_text_of_an_error() -> None:
    assert [f"{file}:{line}" for file, source in SOURCES.items() for line in find_prose(source)] == []


@pytest.mark.parametrize(
    "source",
    [
        "with pytest.raises(ValueError, match='two words'): ...",
        "with raises(ValueError, match=f'two {words}'): ...",
        "pytest.warns(UserWarning, match='two' + ' words')",
        "with pytest.raises(ValueError, match=re.escape('two words')): ...",
        "TEXT: str = 'two words'\ndef test(): pytest.raises(ValueError, match=f'{TEXT}!')",
        "def test():\n for _, text in ((1, 'two words'),): pytest.raises(ValueError, match=text)",
        "@mark.parametrize('text', ['two words'])\ndef test(text): pytest.raises(E, match=text)",
        "@mark.parametrize('n, text', [(1, 'two words')])\ndef test(n, text): raises(E, match=text)",
        "@mark.parametrize(['n', 'text'], [param(1, 'two words')])\ndef test(n, text): raises(E, match=text)",
        "ROWS = [(1, 'two words')]\n@mark.parametrize('n, t', [*ROWS])\ndef test(n, t): raises(E, match=t)",
        "R = {1: 'two words'}\n@mark.parametrize('n, t', R.items())\ndef test(n, t): raises(E, match=t)",
        "@mark.parametrize('t', ['two words'])\nclass TestIt:\n def test(self, t): raises(E, match=t)",
    ],
)
def test_prose_in_a_match_is_found(source: str) -> None:
    assert find_prose(source)


def test_a_word_or_the_column_of_another_test_is_no_prose() -> None:
    other = "@mark.parametrize('text', ['two words'])\ndef test_one(text): ...\n"
    assert find_prose(other + "def test_two(text): raises(ValueError, match=f'word.*{text}')") == []


def test_no_test_file_is_imported() -> None:
    assert [f"{file}:{line}" for file, source in SOURCES.items() for line in find_test_imports(source)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from tests.broker.test_flow import FLOW", [1]),
        ("def test():\n from tests.broker import test_flow as flows", [2]),
        ("import os, tests.broker.test_flow", [1]),
        ("from .test_flow import FLOW", [1]),
        ("from . import test_flow", [1]),
        ("from tests.support.stage import Stage\nfrom measurement import test_plan", []),
    ],
)
def test_an_import_of_a_test_file_is_found(source: str, found: list[int]) -> None:
    assert find_test_imports(source) == found
