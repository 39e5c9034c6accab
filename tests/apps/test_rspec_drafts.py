"""``adon template from-rspec`` on files and folders."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon import yamlfile
from adon.templates_catalog.model import Template
from apps.cli.main import app

DOCUMENTS = Path(__file__).parent.parent / "data" / "rspec"
SEVERAL = str(DOCUMENTS / "several-links.rspec")


def from_rspec(*words: object):
    return CliRunner().invoke(app, ["template", "from-rspec", *map(str, words)])


def test_a_folder_gives_a_draft_or_a_reason_for_each_document(tmp_path):
    found = from_rspec(DOCUMENTS, "-o", tmp_path / "drafts")
    assert found.exit_code == 0, found.output
    *lines, total = found.stdout.splitlines()
    names = {file.name for file in DOCUMENTS.iterdir()}
    assert {re.sub(r":\d+$", "", Path(line.partition(": ")[0]).name) for line in lines} == names
    drafts = [re.fullmatch(r".+: link\.(.+): draft (.+\.yaml)", line) for line in lines]
    files = [one[2] for one in drafts if one is not None]
    assert len(files) == 7
    assert total == f"{len(names)} documents: 6 with 7 drafts, {len(names) - 6} without"
    for file in files:
        template = yamlfile.load_model(Path(file), Template)
        assert template.name == Path(file).stem
        assert template.rspec.link in template.rspec.document
    again = from_rspec(DOCUMENTS, "-o", tmp_path / "drafts")
    assert (again.exit_code, len(again.stderr.splitlines())) == (2, 7)


def test_a_folder_as_json():
    found = json.loads(from_rspec(DOCUMENTS, "--json").stdout)
    assert {(one["link"], one["template"]["name"]) for one in found["drafts"]} >= {
        ("Raw Data", "several-links-raw-data"),
        ("two-ends", "lans-two-ends"),
    }
    assert {(Path(one["file"]).name, one["code"]) for one in found["problems"]} >= {
        ("advertisement.xml", "not-rspec"),
        ("lans.xml", "not-a-link"),
        ("several-links.rspec", "no-bound"),
        ("unknown-encoding.xml", "malformed"),
    }


def test_one_of_several_links_is_chosen():
    asked = from_rspec(SEVERAL)
    assert asked.exit_code == 2
    assert "--link" in asked.stderr
    chosen = from_rspec(SEVERAL, "--link", "Raw Data", "--name", "raw")
    assert yamlfile.parse_model(chosen.stdout, Template).rspec.link == "Raw Data"
    assert "# kept in the document: " in chosen.stdout


def test_drafts_of_equal_names_are_numbered(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lan.xml").write_bytes((DOCUMENTS / "manifest-prefixed.rspec").read_bytes())
    found = json.loads(from_rspec(tmp_path, "--json").stdout)
    assert [one["template"]["name"] for one in found["drafts"]] == ["lan", "lan-2"]


@pytest.mark.parametrize("name", ["faults.rspec", "entities.xml", "nothing.xml"])
def test_a_document_without_a_draft_is_refused(name):
    found = from_rspec(DOCUMENTS / name)
    assert found.exit_code == 2
    assert all(line.startswith(f"{DOCUMENTS / name}:") for line in found.stderr.splitlines())


@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0"?>\n'])
def test_problem_of_a_link_names_its_line(tmp_path, declaration):
    file = tmp_path / "faults.rspec"
    file.write_text(declaration + (DOCUMENTS / "faults.rspec").read_text("utf-8"))
    lines = file.read_text("utf-8").splitlines()
    problems = json.loads(from_rspec(tmp_path, "--json").output)["problems"]
    assert len(problems) == 7
    for one in problems:
        assert f'<link client_id="{one["field"].split(".")[1]}"' in lines[one["line"] - 1]


def test_a_folder_without_documents_is_refused(tmp_path):
    found = from_rspec(tmp_path)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1)


def test_a_huge_file_is_refused_unread(tmp_path):
    file = tmp_path / "huge.xml"
    with file.open("wb") as opened:
        opened.truncate(50_000_000)
    found = from_rspec(file)
    assert (found.exit_code, "too-large" in from_rspec(file, "--json").output) == (2, True)
