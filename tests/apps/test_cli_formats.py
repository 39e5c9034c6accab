"""Forms of the output and options of the commands for REST routes."""

from __future__ import annotations

import csv
import json

import pytest
import yaml

from tests.support.fake_collector import FELL


def test_list_is_a_table_json_yaml_or_csv(adon, world):
    name = world.submit()
    found = json.loads(adon("flow", "list", "--json").stdout)
    assert [one["id"] for one in found] == [name]
    assert json.loads(adon("flow", "list", "--format", "json").stdout) == found
    assert yaml.safe_load(adon("flow", "list", "--format", "yaml").stdout)[0]["state"] == found[0]["state"]
    (row,) = csv.DictReader(adon("flow", "list", "--format", "csv").stdout.splitlines())
    assert (row["id"], json.loads(row["connections"])) == (name, found[0]["connections"])


def test_wide_table_has_all_fields(adon, world):
    world.submit()
    narrow, wide = (
        adon("flow", "list", *words).stdout.splitlines()[0] for words in ((), ("--format", "wide"))
    )
    assert "Submitted at" not in narrow
    assert "Submitted at" in wide


def test_csv_of_an_object_is_refused(adon):
    found = adon("version", "--format", "csv")
    assert (found.exit_code, found.stdout, found.stderr.partition(":")[0]) == (2, "", "--format")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("flow", "list", "--state", "asleep"), "--state"),
        (("flow", "list", "--limit", "0"), "--limit"),
        (("flow", "list", "--since", "yesterday"), "--since"),
        (("measure", "list", "--metric", "beauty"), "--metric"),
        (("maintenance", "add", "planet", "al2s", "--from", "x", "--until", "y"), "SCOPE"),
        (("reserve", "path", "al2s", "mu", "osu", "--bandwidth", "1", "--until", "2 h"), "--bandwidth"),
    ],
)
def test_wrong_field_is_named_by_its_option(adon, arguments, option):
    found = adon(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert option in {line.partition(":")[0] for line in found.stderr.splitlines()}


def test_span_before_now_is_a_time(adon, world):
    world.submit()
    assert json.loads(adon("decision", "list", "--since", "100000 h", "--json").stdout)
    assert json.loads(adon("decision", "list", "--since", "1 s", "--json").stdout) == []


def test_long_id_can_be_shortened(adon):
    assert json.loads(adon("alarm", "show", FELL.id[:8], "--json").stdout)["id"] == FELL.id
    assert adon("alarm", "show", "ffffffff").exit_code == 2


def test_created_object_is_its_id_with_quiet(adon):
    window = ("--from", "2099-11-21T02:00:00Z", "--until", "2099-11-21T04:00:00Z")
    assert adon("maintenance", "add", "path", "al2s", *window, "--quiet").stdout == "m-1\n"
