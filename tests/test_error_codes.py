"""The codes of errors and reasons: every one is documented, and documents carry those of errors both ways."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel, Field, model_validator

from adon import problems, yamlfile
from adon.config.types import raise_all
from adon.errors import (
    AdonError,
    Conflict,
    Forbidden,
    InvalidFields,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    Problem,
    TooManyRequests,
    Unavailable,
    problems_of,
)
from adon.reasons import AnnouncementCode, DecisionCode
from adon.units import Rate
from measurement.errors import InvalidValue, MeasurementError, PointRefused, RunFailed
from measurement.probes.findings import FailureCause
from tests.support.refusals import refused

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
ROW = re.compile(r"\| `([a-z-]+)` \| .+ \|")
POSITION = {"InvalidValue": 1, "of": 2, "at": 2, "Problem": 5, "Aborted": 1, "refuse": 2, "Refusal": 2}
"""The place of the code among the arguments, of what takes it without keyword."""
CALLS = {*POSITION, "_problem", "_wrong"}
"""What makes a problem or an error, in addition to the classes of errors."""


def codes_in(tree: ast.AST, raised: Set[str]) -> Iterator[str]:
    """Codes as the source has them: of classes, default arguments, tables and calls.

    :param raised: the names of the classes of errors.
    """
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, body=body) if name in raised:
                targets = [one for one in body if isinstance(one, ast.Assign)]
                yield from (text(one.value) for one in targets if ast.unparse(one.targets[0]) == "code")
            case ast.Assign(targets=[ast.Name(id="CODES" | "HTTP_CODES")], value=ast.Dict(values=values)):
                yield from map(text, values)
            case ast.arguments(args=args, defaults=defaults) if defaults:
                pairs = zip(args[-len(defaults) :], defaults, strict=True)
                yield from (text(default) for one, default in pairs if one.arg == "code")
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in raised | CALLS:
                yield from map(text, node.args[POSITION.get(name, 9) :][:1])
                yield from (text(one.value) for one in node.keywords if one.arg == "code")


def text(node: ast.expr) -> str:
    """The text of a literal; empty for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def error_classes(trees: Sequence[ast.AST]) -> set[str]:
    """The names of the classes of errors that have codes."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {"AdonError", "MeasurementError", "InvalidValue"}
    while (
        more := {one.name for one in classes if any(ast.unparse(base) in found for base in one.bases)} - found
    ):
        found |= more
    return found


def test_documented_codes_are_those_of_the_code():
    tops = ("adon", "apps", "measurement", "mininet_topos")
    files = [file for top in tops for file in (ROOT / top).rglob("*.py")]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    raised = error_classes(trees)
    used = {code for tree in trees for code in codes_in(tree, raised)} - {""}
    used |= {failure.value for failure in FailureCause}
    assert [code for code in used if not CODE.fullmatch(code)] == []
    assert documented("Error codes") == sorted(used)


@pytest.mark.parametrize(
    ("heading", "codes"), [("Decision codes", DecisionCode), ("Announcement codes", AnnouncementCode)]
)
def test_documented_reasons_are_those_of_the_code(heading, codes):
    folders = [ROOT / "adon" / name for name in ("broker", "flowvisor")]
    trees = [ast.parse(file.read_text("utf-8")) for folder in folders for file in folder.rglob("*.py")]
    used = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert documented(heading) == sorted(get_args(codes))
    assert set(get_args(codes)) <= used


def documented(heading: str) -> list[str]:
    """The codes of a table of the page of codes."""
    page = (ROOT / "docs" / "reference" / "codes.md").read_text("utf-8")
    return ROW.findall(page.partition(f"## {heading}")[2].partition("\n## ")[0])


@pytest.mark.parametrize(
    "error",
    [
        AdonError("text", code="some-code"),
        InvalidInput([Problem("a.b", "is wrong", "f.yaml", 3, 7, "duplicate"), Problem("", "is odd")]),
        NotFound("flow", "f-7"),
        Conflict("flow", "has ended", code="flow-ended"),
        NotAuthenticated("no token"),
        Forbidden("not yours"),
        TooManyRequests("too often", 2.0),
        Unavailable("away", code="package-shadowed"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_document_keeps_class_codes_and_problems(error):
    document = problems.to_document(error)
    read = problems.from_document(document)
    assert (type(read), read.code) == (type(error), error.code)
    assert problems.to_document(read) == document


def test_conflict_gives_its_code_to_its_problem():
    document = problems.to_document(Conflict("flow", "has ended", code="flow-ended"))
    assert document["code"] == "flow-ended"
    assert [(one["field"], one["code"]) for one in document["problems"]] == [("flow", "flow-ended")]


def test_code_of_an_instance_does_not_change_its_class():
    with refused("flow-ended", "flow"):
        raise Conflict("flow", "has ended", code="flow-ended")
    with refused("conflict", "flow"):
        raise Conflict("flow", "has ended")


@pytest.mark.parametrize(
    ("status", "code"), [(405, "method-not-allowed"), (404, "not-found"), (500, "internal-error")]
)
def test_document_of_an_http_status_has_a_code(status, code):
    assert problems.http_document(status, "title", None)["code"] == code


def test_invalid_input_takes_the_code_of_another_familys_error():
    with refused("out-of-range", "size"):
        raise InvalidInput.of("size", InvalidValue("is negative", "out-of-range"))
    with refused("invalid", "size"):
        raise InvalidInput.of("size", ValueError("is negative"))


def test_measurement_errors_have_codes():
    with refused("point-refused"):
        raise PointRefused("ps-a:443", "connection refused")
    with refused("run-canceled"):
        raise RunFailed("ps-a:443", "canceled", code="run-canceled")
    with refused("measurement-error"):
        raise MeasurementError


def test_problems_of_a_plain_error_are_its_lines():
    found = problems_of(ValueError("a.b: is wrong\nis odd"), "qspec")
    assert [(one.field, one.cause, one.code) for one in found] == [
        ("qspec.a.b", "is wrong", "invalid"),
        ("qspec", "is odd", "invalid"),
    ]


class Part(BaseModel, extra="forbid"):
    """A section with what pydantic and a validator of its own can refuse."""

    rate: Rate
    count: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> Part:
        if self.count > 10:
            raise_all([Problem("count", "is above 10", code="too-many"), "rate: goes with few"])
        return self


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("count: 2", "missing", "rate"),
        ("{rate: 1 Mbps, cuont: 2}", "unknown-key", "cuont"),
        ("{rate: 1 Mbps, count: 0}", "out-of-range", "count"),
        ("{rate: 1 Mbps, count: two}", "wrong-type", "count"),
        ("{rate: 1 Mbps, count: 11}", "too-many", "count"),
        ("{rate: 1 Mbps, count: 11}", "invalid", "rate"),
        ("rate: 7", "no-unit", "rate"),
        ("rate: 7 furlong", "unknown-unit", "rate"),
        ("rate: 7 s", "wrong-unit", "rate"),
        ("rate: -7 Mbps", "out-of-range", "rate"),
        ("{rate: 1 Mbps, rate: 2 Mbps}", "duplicate", "rate"),
        ("rate: [", "not-yaml", ""),
        ("rate: &a 1 Mbps", "unsupported-yaml", "rate"),
        ("", "missing", ""),
    ],
)
def test_problems_of_a_file_have_codes(text, code, field):
    with refused(code, field):
        yamlfile.parse_model(text, Part)


def test_refused_reads_the_errors_of_a_model():
    with refused("out-of-range", "count"):
        Part.model_validate({"rate": "1 Mbps", "count": 0})
    with refused("too-many", "count"):
        Part.model_validate({"rate": "1 Mbps", "count": 11})


def test_refused_names_what_was_raised_instead():
    with pytest.raises(AssertionError, match=r"duplicate.*conflict"), refused("duplicate", "flow"):
        raise Conflict("flow", "has ended")
    with pytest.raises(AssertionError), refused("duplicate"):
        pass
    with pytest.raises(AssertionError), refused("duplicate", "b"):
        raise InvalidFields([Problem("a", "is there", code="duplicate")])
