"""Tables: they fit the window, lose nothing, and nothing in them moves the cursor."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.cli.tables import columns_of, laid_out

COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7])(?:;[0-9]+)*m")
"""SGR codes of colours (ECMA-48 8.3.117); bold and dim are none."""

words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs", "Cc")), max_size=30)
tables = st.integers(1, 8).flatmap(
    lambda size: st.tuples(
        st.lists(st.text("abc xyz", min_size=1, max_size=12), min_size=size, max_size=size),
        st.lists(st.lists(words, min_size=size, max_size=size), max_size=4),
    )
)


@given(table=tables, width=st.integers(40, 120))
def test_no_line_is_wider_than_the_window(table, width):
    columns, rows = table
    assert all(columns_of(line) <= width for line in laid_out(columns, rows, width))


@given(table=tables, width=st.one_of(st.none(), st.integers(40, 120)))
def test_nothing_is_lost_and_nothing_moves_the_cursor(table, width):
    columns, rows = table
    lines = laid_out(columns, rows, width)
    assert all(line.isprintable() for line in lines)
    shown = "".join(lines).replace("─", "")
    for row in rows:
        for cell in row:
            if cell == "-":
                continue  # says that there is nothing
            for one in cell:
                assert not one.isprintable() or one.isspace() or one in shown


def on_a_terminal(*arguments: str, environment: dict[str, str]) -> str:
    """What a command writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "apps.cli", *arguments],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env={**clean, "COLUMNS": "80", "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    text = b""
    try:
        while part := _read(ours):
            text += part
    finally:
        os.close(ours)
        process.wait(30)
    return text.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # the other side is closed
        return b""


@pytest.mark.integration
def test_colour_only_on_a_terminal_and_where_it_is_wanted():
    quiet = {"ADON_URL": "http://127.0.0.1:9"}
    assert COLOUR.search(on_a_terminal("flow", "--help", environment=quiet))
    assert not COLOUR.search(on_a_terminal("flow", "--help", environment={**quiet, "NO_COLOR": "1"}))
    plain = subprocess.run(
        [sys.executable, "-m", "apps.cli", "flow", "--help"], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in plain.stdout
