"""The page about the point: its trust file, its cloud-init snippet, its options."""

from __future__ import annotations

import argparse
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from measurement.point import options, trust_file

PAGE = (Path(__file__).parents[3] / "docs" / "perfsonar-and-measurement-point.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_option_is_on_the_page():
    parser = options.parser()
    there = {word for action in parser._actions for word in action.option_strings if word.startswith("--")}
    told = set(re.findall(r"(?<![\w-])--[a-z-]+", PAGE))
    assert there - {"--help"} <= told


def test_the_trust_file_is_one(tmp_path):
    (text,) = blocks("toml")
    parties = tomllib.loads(text)["known"]
    assert {"controller", "student", "point-b"} == {party["name"] for party in parties}
    digests = iter("abc")
    whole = re.sub("…", lambda _: next(digests) * 64, text)
    (tmp_path / "trust.toml").write_text(whole)
    (tmp_path / "point-b.token").write_text("EXAMPLE\n")
    trust = trust_file.read(tmp_path / "trust.toml")
    assert [len(known.tokens) for known in trust.known] == [1, 1, 1]
    assert trust.token_for("ps.site-b.example.org:4443") == "EXAMPLE"


def test_the_cloud_init_snippet_starts_a_point_with_options_that_exist():
    (text,) = (block for block in blocks("yaml") if block.startswith("#cloud-config\n"))
    document = yaml.safe_load(text)
    # Keys and types as in cloud-init's schema of these modules.
    assert set(document) == {"packages", "write_files", "runcmd"}
    files = {entry["path"]: entry for entry in document["write_files"]}
    assert all(set(entry) <= {"path", "content", "permissions"} for entry in files.values())
    assert all(isinstance(word, str) for command in document["runcmd"] for word in command)
    (unit,) = (entry["content"] for path, entry in files.items() if path.endswith(".service"))
    command = re.sub(r"\\\n\s*", " ", unit)
    (start,) = re.findall(r"^ExecStart=(.*)$", command, re.MULTILINE)
    argv = shlex.split(start)
    try:
        given = options.parser().parse_args(argv[1:])
    except (SystemExit, argparse.ArgumentError):
        pytest.fail("the unit starts the point with options that it does not have")
    assert str(given.trust) in files
    trust = tomllib.loads(files[str(given.trust)]["content"])
    assert trust["known"][0]["token_sha256"]
