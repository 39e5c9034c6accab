"""YAML as people write it: what it means, what is refused, and where the complaint points."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, model_validator

from adon import yamlfile
from adon.errors import InvalidInput
from adon.units import Rate
from adon.values import Frozen
from tests.support.refusals import refused


class Inner(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate
    from_: str = Field(default="here", alias="from")


class Outer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = 0
    ports: tuple[Annotated[int, Field(ge=1)] | str, ...] = ()
    parts: Frozen[str, Inner]

    @model_validator(mode="after")
    def _both(self) -> Outer:
        if self.count == 13:
            raise ValueError("count: is unlucky\nparts.a.rate: and so is this\nthe whole is wrong: really")
        return self


@pytest.fixture(params=["installed", "pure Python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: libyaml's is not built in everywhere."""
    if request.param == "pure Python":
        monkeypatch.setattr(yamlfile, "_Loader", yaml.SafeLoader)


def problems_of(text: str, model: type[BaseModel] = Outer) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        yamlfile.parse_model(text, model, "f.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("# only a comment", None),
        ("a: 1\nb: [x, 2.5, -3e2, null, ~, true]", {"a": 1, "b": ["x", 2.5, -300.0, None, None, True]}),
        ("mac: 02:00:00:00:00:01", {"mac": "02:00:00:00:00:01"}),
        ("mac: 10:20:30:40:50:59", {"mac": "10:20:30:40:50:59"}),
        ("dpid: 0000000000000101", {"dpid": "0000000000000101"}),
        ("on: yes\noff: no\n1701: x\nnull: y", {"on": "yes", "off": "no", "1701": "x", "null": "y"}),
        ("day: 2024-01-01", {"day": "2024-01-01"}),
        ("cookie: 0xAD", {"cookie": 173}),
        ("t: '7'\nu: \"true\"\nv: |\n  7\n", {"t": "7", "u": "true", "v": "7\n"}),
        ("x: .inf\ny: .nan\nz: 1_000", {"x": ".inf", "y": ".nan", "z": "1_000"}),
        ("x:", {"x": None}),
    ],
)
@pytest.mark.usefixtures("parser")
def test_values(text: str, data: Any) -> None:
    assert yamlfile.read_yaml(text)[0] == data


def _laughs() -> str:
    rows = ["a0: &a0 [lol, lol, lol]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("text", "code", "field", "line"),
    [
        ("x: &a [*a]", "unsupported-yaml", "x", 1),
        ("x: *a", "unsupported-yaml", "x", 1),
        (_laughs(), "unsupported-yaml", "a0", 1),
        ("a: 1\nb:\n  c: 1\n  c: 2", "duplicate", "b.c", 4),
        ("a: !!python/object/apply:os.system [ls]", "unsupported-yaml", "a", 1),
        ("a: !x 3", "unsupported-yaml", "a", 1),
        ("!t a: 3", "unsupported-yaml", "", 1),
        ("a: 1\n---\nb: 1", "unsupported-yaml", "", 2),
        ("? [a]\n: 1", "unsupported-yaml", "", 1),
        ("a: @x", "not-yaml", "", 1),
        ("a: [1, 2", "not-yaml", "", None),
        ("a: 1\n b: 2", "not-yaml", "", 2),
        ("a: \x00", "not-yaml", "", None),
        ("a: " + "9" * 5000, "out-of-range", "a", 1),
        ("a: 1e999", "out-of-range", "a", 1),
        ("[" * 200 + "]" * 200, "too-large", "0.0.0", 1),
        ("a: " + "x" * 10_000_000, "too-large", "", None),
        ("a: " + "é" * 600_000, "too-large", "", None),
    ],
)
@pytest.mark.usefixtures("parser")
def test_refused(text: str, code: str, field: str, line: int | None) -> None:
    with refused(code, field, line):
        yamlfile.read_yaml(text, "f.yaml")


@pytest.mark.usefixtures("parser")
def test_text_nested_without_end_is_refused() -> None:
    """libyaml refuses more than 1000 levels itself since 0.2.6; other parsers leave that to ADON."""
    with pytest.raises(InvalidInput) as caught:
        yamlfile.read_yaml("[" * 500_000, "f.yaml")
    assert caught.value.problems[0].code in {"too-large", "not-yaml"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["f.yaml: is empty; known are count, parts, ports"]),
        ("[1]", ["f.yaml:1: must be a mapping; known are count, parts, ports"]),
        ("parts:\n  a: {}", ["f.yaml:2: parts.a.rate: is required; for example 700 Mbps"]),
        (
            "parts:\n  a:\n    rate: 7\n    form: x\ncount: '3'",
            [
                "f.yaml:5: count: must be a valid integer; for example 0",
                "f.yaml:3: parts.a.rate: '7' has no unit; write for example '700 Mbps'",
                "f.yaml:4: parts.a.form: is not a known key here; did you mean from?",
            ],
        ),
        (
            "parts:\n  a:\n    rate: 1 bps\n    from: [1]\ncount: true",
            [
                "f.yaml:5: count: must be a valid integer; for example 0",
                "f.yaml:4: parts.a.from: must be a valid string; for example here",
            ],
        ),
        (
            "count: 13\nparts:\n  a: {rate: 1 bps}",
            [
                "f.yaml:1: count: is unlucky",
                "f.yaml:3: parts.a.rate: and so is this",
                "f.yaml:1: the whole is wrong: really",
            ],
        ),
    ],
)
def test_every_problem_has_its_line_and_field(text: str, expected: list[str]) -> None:
    assert problems_of(text) == expected


def test_a_union_member_is_no_part_of_the_field() -> None:
    fields = {problem.split(": ")[1] for problem in problems_of("parts: {}\nports: [5, 0]")}
    assert fields == {"ports.1"}


def test_an_alias_is_read_and_the_mapping_cannot_be_changed() -> None:
    model = yamlfile.parse_model("parts: {a: {rate: 1 kbps, from: there}}", Outer)
    assert model.parts["a"].from_ == "there"
    with pytest.raises(TypeError):
        model.parts["b"] = model.parts["a"]  # type: ignore[index]
    assert hash(model) == hash(yamlfile.parse_model("parts: {a: {from: there, rate: 1000 bps}}", Outer))


@pytest.mark.parametrize("kind", ["missing", "folder", "bytes", "large"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "net.yaml"
    codes = {"missing": "unreadable", "folder": "unreadable", "bytes": "malformed", "large": "too-large"}
    if kind == "folder":
        path.mkdir()
    elif kind == "bytes":
        path.write_bytes(b"a: 1\nb: \xff\n")
    elif kind == "large":
        path.write_bytes(b"a" * 10_000_000)
    with pytest.raises(InvalidInput) as caught:
        yamlfile.load_model(path, Outer)
    line = 2 if kind == "bytes" else None
    found = [(one.code, one.file, one.line) for one in caught.value.problems]
    assert found == [(codes[kind], str(path), line)]


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfparts: {a: {rate: 1 bps}}")
    assert yamlfile.load_model(path, Outer).parts["a"].rate == 1.0


class Text(BaseModel):
    text: str
    number: float
    whole: int
    flag: bool


@given(
    text=st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=60),
        st.sampled_from(
            ["1e5", "0x1F", "on", "null", "~", "", "true", "1:20", "=", "<<", "- a", "#", "0123"]
        ),
    ),
    number=st.floats(allow_nan=False, allow_infinity=False),
    whole=st.integers(min_value=-(10**30), max_value=10**30),
    flag=st.booleans(),
)
def test_what_is_dumped_is_read_back_equal(text: str, number: float, whole: int, flag: bool) -> None:
    model = Text(text=text, number=number, whole=whole, flag=flag)
    assert yamlfile.parse_model(yamlfile.dump(model), Text) == model


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    flag: bool = False
    share: float = Field(default=0.5, ge=0, le=1)
    rows: tuple[int, ...] = ()
    part: dict[str, int] = {}
    word: str = Field(default="here", pattern="^[a-z]+$", max_length=5)
    choice: Literal["start", "stop"] = "start"


@pytest.mark.parametrize(
    ("text", "field", "code"),
    [
        ("flag: yes", "flag", "wrong-type"),
        ("flag:", "flag", "wrong-type"),
        ("share: 60 %", "share", "wrong-type"),
        ("share: 1.5", "share", "out-of-range"),
        ("share: -1", "share", "out-of-range"),
        ("rows: 1/2", "rows", "wrong-type"),
        ("rows: {a: 1}", "rows", "wrong-type"),
        ("rows: [1.5]", "rows.0", "wrong-type"),
        ("part: [a]", "part", "wrong-type"),
        ("part:", "part", "wrong-type"),
        ("word: My Name", "word", "wrong-length"),
        ("word: ABC", "word", "malformed"),
        ("word: 7", "word", "wrong-type"),
        ("choice: Start", "choice", "unknown-value"),
        ("choice: 1", "choice", "unknown-value"),
        ("chioce: start", "chioce", "unknown-key"),
    ],
)
def test_wrong_value_names_field_cause_and_valid_values(text: str, field: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        yamlfile.parse_model(text, Row)
    (problem,) = caught.value.problems
    assert (problem.field, problem.code, problem.line) == (field, code, 1)
    assert "Input" not in problem.cause
    assert re.search("for example|known are|did you mean", problem.cause)
