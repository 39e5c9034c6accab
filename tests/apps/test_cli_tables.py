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
from typer.testing import CliRunner

from apps.cli.common import PANELS
from apps.cli.main import app
from apps.cli.tables import columns_of, folded, laid_out
from tests.apps.measured import FELL

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


@given(text=words, size=st.integers(2, 40))
def test_a_folded_text_fits(text, size):
    assert all(columns_of(line) <= size for line in folded(text, size))


def test_a_table_that_fits_is_a_table():
    assert laid_out(("Flow", "State"), [("f-1", "active"), ("f-22", "done")], 80) == [
        "Flow  State",
        "────  ──────",
        "f-1   active",
        "f-22  done",
    ]


def test_the_widest_column_gives_way_first():
    lines = laid_out(("Flow", "Reason"), [("f-1", "a reason of many words that goes on and on")], 30)
    assert lines == [
        "Flow  Reason",
        "────  ────────────────────────",
        "f-1   a reason of many words",
        "      that goes on and on",
    ]


def test_what_fits_no_table_is_a_block_per_row():
    columns = ("Flow", *(f"Column {number}" for number in range(6)))
    rows = [(f"f-{row}", *(f"value {row} {number}" for number in range(6))) for row in range(2)]
    lines = laid_out(columns, rows, 40)
    assert lines[:3] == ["f-0", "  Column 0  value 0 0", "  Column 1  value 0 1"]
    assert lines[7:9] == ["", "f-1"]


def test_without_a_window_each_row_is_a_line():
    assert len(laid_out(("A", "B"), [("x" * 300, "y" * 300)] * 3, None)) == 5


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
@pytest.mark.parametrize(
    "arguments",
    [
        ("flow", "list"),
        ("flow", "show", "f-1"),
        ("path", "list"),
        ("switch", "list"),
        ("circuit", "list"),
        ("site", "list"),
        ("outcome", "list"),
        ("alarm", "show", FELL.id),
        ("measure", "list"),
        ("what-if", "--all"),
        ("template", "list"),
    ],
)
def test_on_a_terminal_of_80_columns_nothing_is_wider(world, served, arguments):
    world.fill(world.submit(label="\x1b[31mred\x07"))
    shown = on_a_terminal(*arguments, environment={"ADON_URL": served, "ADON_TOKEN": world.tokens["admin"]})
    lines = shown.replace("\r\n", "\n").splitlines()
    assert lines
    assert "\x1b" not in shown
    tabular = [line for line in lines if "─" in line or line.startswith("  ")]
    assert all(columns_of(line) <= 80 for line in tabular), tabular


@pytest.mark.integration
def test_colour_only_on_a_terminal_and_where_it_is_wanted():
    quiet = {"ADON_URL": "http://127.0.0.1:9"}
    assert COLOUR.search(on_a_terminal("flow", "--help", environment=quiet))
    assert not COLOUR.search(on_a_terminal("flow", "--help", environment={**quiet, "NO_COLOR": "1"}))
    plain = subprocess.run(
        [sys.executable, "-m", "apps.cli", "flow", "--help"], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in plain.stdout


def test_help_goes_from_many_users_to_few():
    shown = CliRunner().invoke(app, ["--help"]).stdout
    places = [shown.index(panel) for panel in PANELS]
    assert places == sorted(places)
