"""Every ``adon`` command in the documentation exists, with its options."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.apps.commands import commands, options
from tests.support.documents import DOCUMENTS, ROOT

GLOBAL = {"--url", "--utc", "--help", "--json", "--version"}
CALL = re.compile(r"(?:^|[\s;$(])(?:\S*/bin/)?(?<!exec )adon ((?:--url \S+ )?[a-z][a-z-]*(?: [^|;)>]*)?)")
OPTION = re.compile(r"(?<![\w'\"-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def calls(text: str) -> Iterator[str]:
    """Yield the arguments of ``adon`` in code spans, fenced lines and indented lines."""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        code = [line] if fenced or line.startswith("    ") else re.findall(r"`([^`]+)`", line)
        for part in code:
            for found in CALL.findall(QUOTED.sub("X", part.split(" #")[0])):
                yield found.partition(" -- ")[0].removeprefix("--url X ").strip()


def problem(call: str) -> str | None:
    """Return what is wrong with a call; a group of commands alone, such as ``adon template``, is none."""
    words = re.sub(r"^--url \S+ ", "", call).split()
    names = {" ".join(words[:count]) for count in (1, 2)} & commands().keys()
    if not names:
        known = any(name.startswith(f"{words[0]} ") for name in commands())
        return None if known and len(words) == 1 else f"no command: {call}"
    command = commands()[max(names, key=len)]
    allowed = GLOBAL | options(command) | {one for each in command.params for one in each.secondary_opts}
    unknown = set(OPTION.findall(" ".join(words))) - allowed
    return f"no option {', '.join(sorted(unknown))}: {call}" if unknown else None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_the_documentation_exist(document) -> None:
    found = [problem(call) for call in calls(document.read_text())]
    assert [one for one in found if one is not None] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`adon flow submit --from a --to b`, `adon template`", 0),
        ("    adon flow send f-1", 1),
        ("    adon --url https://x flow list --everything", 1),
        ("`adon testbed exec h1 -- iperf3 -c 10.0.0.2`", 0),
    ],
)
def test_wrong_commands_are_found(text: str, wrong: int) -> None:
    assert sum(problem(call) is not None for call in calls(text)) == wrong
