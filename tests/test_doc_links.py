"""Every link between our documents leads somewhere, and every file they name is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.documents import DOCUMENTS, ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]*)`")
FILE = re.compile(
    r"(?:adon|apps|benchmarks|docs|measurement|mininet_topos|scripts|tests)/[\w./-]+\.(?:py|md|sh|txt)"
)
HEADING = re.compile(r"#{1,6}\s+(.*)")
NOWHERE = re.compile(r"\bspec,? (?:section )?\d|\bissue \d")
"""What these cite is no document that a reader has."""


def prose(text: str) -> Iterator[str]:
    """The lines outside fenced code."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield line


def anchor(heading: str) -> str:
    """A heading's anchor as GitHub makes it: in lower case, without punctuation, joined by dashes."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Where one can link to in a document; a heading that comes again is numbered."""
    found: list[str] = []
    for line in prose(text):
        if (heading := HEADING.match(line)) is not None:
            found.append(anchor(heading[1]))
    return {name if not nth else f"{name}-{nth}" for name in found for nth in range(found.count(name))}


def leads_somewhere(target: str, document: Path, text: str) -> bool:
    """Whether a link of a document, which has this text, finds its file and the heading in it."""
    name, _, heading = target.partition("#")
    file = document.parent / name
    if name and not file.exists():
        return False
    return not heading or heading in anchors(file.read_text() if name else text)


def broken(document: Path, text: str) -> list[str]:
    """The links of a document that lead nowhere, and the files it names that are not there."""
    found = []
    for line in prose(text):
        for target in LINK.findall(CODE.sub("", line)):
            if re.match("[a-z]+:", target) is None and not leads_somewhere(target, document, text):
                found.append(target)
        for span in CODE.findall(line):
            found += [name for name in FILE.findall(span) if not (ROOT / name).exists()]
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    assert broken(document, document.read_text()) == []


@pytest.mark.parametrize(
    "file",
    [*DOCUMENTS, *sorted((ROOT / "mininet_topos" / "experiments" / "builtin").glob("*.yaml"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_nothing_is_cited_that_nobody_can_read(file: Path) -> None:
    assert NOWHERE.findall(file.read_text()) == []


def test_code_names_only_pages_that_exist() -> None:
    page = re.compile(r"docs/[\w/-]+\.md")
    tops = [ROOT / name for name in ("adon", "apps", "measurement", "mininet_topos")]
    kinds = {".py", ".yaml", ".conf", ".service"}
    texts = [file.read_text("utf-8") for top in tops for file in top.rglob("*") if file.suffix in kinds]
    named = {name for text in texts for name in page.findall(text)}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_what_leads_nowhere_is_found() -> None:
    links = "[a](#two-words) [b](#three) [c](none.md) [d](cost-model.md#none) [e](https://x.y/z) `apps/x.py`"
    text = f"# Two `words`!\n{links}\n"
    assert broken(ROOT / "docs" / "x.md", text) == ["#three", "none.md", "cost-model.md#none", "apps/x.py"]
    assert anchors("# A\n# A\n```\n# no heading\n```\n") == {"a", "a-1"}
