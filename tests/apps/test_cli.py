from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner

from adon import yamlfile
from adon.client.client import Client
from adon.client.repeating import IMPATIENT
from adon.errors import AdonError, Forbidden, InvalidInput, NotAuthenticated, NotFound, Unavailable
from adon.templates_catalog.model import Template
from apps.cli.main import app
from tests.support.fake_collector import FELL
from tests.support.stage import MU_EDGE, OSU_EDGE
from tests.support.web_world import COMPUTED, DECISION, SOYKB

NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"


@pytest.fixture
def soykb_file(tmp_path):
    file = tmp_path / "soykb.yaml"
    file.write_text(yamlfile.dump(Template.model_validate(SOYKB)))
    return file


def alone(*arguments):
    """Run a command that needs no server."""
    return CliRunner().invoke(app, list(arguments), env={"ADON_URL": "http://127.0.0.1:9", "ADON_TOKEN": ""})


# -- what needs no server ------------------------------------------------------------------------------


def test_a_good_template_is_valid(soykb_file):
    found = alone("template", "validate", str(soykb_file))
    assert (found.exit_code, found.stdout.split(": ")[0]) == (0, str(soykb_file))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: x\nweights: {beauty: 1}\n", "FILE:2: weights"),
        ("name: x\nweights: {throughput: 0}\n", "FILE:2: weights"),
        (
            "name: x\nweights: {throughput: 1}\nqspec:\n  throughput:\n    min: 700\n",
            "FILE:5: qspec.throughput.min",
        ),
        ("a: &a [*a]\n", "FILE:1: a"),
        ("name: [\n", "FILE:2:"),
        ("", "FILE:"),
    ],
)
def test_a_bad_template_is_told_by_file_line_and_field(tmp_path, text, told):
    file = tmp_path / "t.yaml"
    file.write_text(text)
    found = alone("template", "validate", str(file))
    assert found.exit_code == 2
    assert found.stdout == ""
    assert told.replace("FILE", str(file)) in found.stderr
    assert all(line.startswith(str(file)) for line in found.stderr.splitlines())


def test_all_files_are_checked_and_all_problems_told(tmp_path, soykb_file):
    (tmp_path / "a.yaml").write_text("name: A\nweights: {}\n")
    (tmp_path / "b.yaml").write_text("x" * 1_100_000)
    found = alone("template", "validate", str(tmp_path / "a.yaml"), str(soykb_file), str(tmp_path / "b.yaml"))
    assert found.exit_code == 2
    assert [line.split(":")[0] for line in found.stdout.splitlines()] == [str(soykb_file)]
    assert [Path(line.split(":")[0]).name for line in found.stderr.splitlines()] == [
        "a.yaml",
        "a.yaml",
        "b.yaml",
    ]


def test_a_configuration_is_checked(tmp_path):
    found = alone("config", "check", str(NETWORK), "--offline")
    assert found.exit_code == 0
    assert {"mu-osu:", "36", "12"} <= {*found.stdout.split()}
    bad = tmp_path / "n.yaml"
    bad.write_text(NETWORK.read_text().replace("edge: osu-edge", "edge: nowhere"))
    found = alone("config", "check", str(bad))
    assert found.exit_code == 2
    assert "sites.osu.edge: " in found.stderr
    assert alone("config", "check", str(tmp_path / "none")).exit_code == 2


def test_tests_that_fit_no_schedule_are_told_by_name(tmp_path):
    file = tmp_path / "n.yaml"
    file.write_text(NETWORK.read_text().replace("throughput_period: 240 s", "throughput_period: 20 s"))
    found = alone("config", "check", str(file))
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1)
    assert "measurements.tests" in found.stderr
    assert "/throughput" in found.stderr


def test_a_wrong_use_is_an_input_error():
    assert alone("flow", "submit").exit_code == 2
    assert alone("nothing").exit_code == 2


@pytest.mark.integration
def test_an_input_error_is_one_line_and_no_trace(tmp_path):
    command = [sys.executable, "-m", "apps.cli.main", "config", "check", str(tmp_path / "none.yaml")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"{tmp_path / 'none.yaml'}: ")
    assert len(found.stderr.splitlines()) == 1


# -- flows ---------------------------------------------------------------------------------------------

SUBMIT = ("flow", "submit", "--from", "mu-dtn", "--to", "osu-dtn", "--template", "soykb")


def test_a_flow_is_submitted_and_returns_at_once(adon, world):
    found = adon(
        *SUBMIT, "--size", "25 GB", "--weight", "throughput=3", "--weight", "rtt=0", "--port", "5001"
    )
    assert (found.exit_code, found.stdout.split()[0]) == (0, "f-1")
    request = world.store.flow(1).request
    assert (request.size, request.ports, dict(request.weights)) == (
        25 * 10**9,
        (5001,),
        {"throughput": 3, "rtt": 0},
    )


def test_a_bound_of_ones_own_goes_with_the_request(adon, world):
    assert adon(*SUBMIT, "--size", "1 GB", "--at-least", "6 Mbps").exit_code == 0
    bound = world.store.flow(1).request.qspec.throughput
    assert (bound.min, bound.streams) == (6e6, 1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--size", "1 GB", "--at-least", "6"), "--at-least: "),
        (("--size", "25"), "--size: "),
        (("--size", "0 B"), "--size: "),
        (("--size", f"{10**30} B"), "--size: "),
        (("--size", "1 GB", "--weight", "throughput=0"), "--weight: "),
        (("--size", "1 GB", "--weight", "throughput"), "--weight: "),
        (("--size", "1 GB", "--weight", "throughput=nan"), "--weight: "),
        (("--size", "1 GB", "--weight", "beauty=1"), "--weight: "),
        (("--size", "1 GB", "--priority", "1000"), "--priority: "),
        (("--size", "1 GB", "--patience", "soon"), "--patience: "),
        (("--size", "1 GB", "--from", "elsewhere"), "--from: "),
    ],
)
def test_a_bad_flow_is_one_line_and_exit_status_2(adon, world, arguments, field):
    found = adon(*SUBMIT, *arguments)
    assert found.exit_code == 2
    assert len(found.stderr.splitlines()) == 1
    assert found.stderr.startswith(field)
    assert world.store.flows() == ()


def test_flows_are_listed_shown_and_cancelled(adon, world):
    assert "f-1" not in adon("flow", "list").stdout
    world.report_sites()
    world.ask("POST", "/templates", json=COMPUTED)
    name = world.submit(label="[red]not markup[/red]", template="computed")
    assert {name, "mu-dtn", "osu-dtn"} <= {*adon("flow", "list").stdout.split()}
    shown = adon("flow", "show", name).stdout
    for text in ("active", "al2s *", "10.00", "BOUND MISSED", "osu-hpc *", "impossible"):
        assert text in shown
    (found,) = world.stage.alarm(FELL)
    assert FELL.id in adon("decision", "show", found.id).stdout
    assert adon("flow", "cancel", name).stdout.startswith("f-1 cancelled")
    again = adon("flow", "cancel", name)
    assert (again.exit_code, again.stderr.partition(":")[0]) == (1, "state")


def test_a_flow_is_watched_until_it_ends(adon, world):
    done, stopped = world.submit(), world.submit()
    report = adon("flow", "report", done, "finished", "--bytes", "25 GB")
    assert report.exit_code == 0
    assert world.store.flow(1).bytes_reported == 25 * 10**9
    found = adon("flow", "watch", done)
    assert (found.exit_code, found.stdout.startswith("f-1 finished")) == (0, True)
    adon("flow", "cancel", stopped)
    assert adon("flow", "watch", stopped).exit_code == 1


def test_list_has_as_many_flows_as_asked_for(adon, world):
    for _ in range(3):
        world.submit()
    found = json.loads(adon("flow", "list", "--limit", "2", "--json").stdout)
    assert [flow["id"] for flow in found] == ["f-3", "f-2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("flow", "list"),
        ("flow", "show", "f-1"),
        ("template", "list"),
        ("template", "show", "soykb"),
        ("template", "show", "soykb@1"),
        ("path", "list"),
        ("decision", "show", DECISION),
        ("decision", "show", "f-1"),
        ("rules", "show"),
        ("rules", "show", "--flow", "f-1"),
        ("rules", "diff"),
        ("rules", "explain", "f-1"),
        ("rules", "sent"),
        ("controllers",),
        ("measure", "schedule"),
        ("measure", "history", "al2s", "mu", "osu", "--since", "20000 h"),
        ("measure", "points"),
        ("alarm", "list"),
        ("alarm", "list", "--all"),
        ("alarm", "show", FELL.id),
        ("alarm", "subscriptions"),
    ],
)
def test_every_read_is_for_people_and_as_json(adon, world, arguments):
    world.submit()
    plain, parsed = adon(*arguments), adon(*arguments, "--json")
    assert (plain.exit_code, parsed.exit_code) == (0, 0), plain.output
    json.loads(parsed.stdout)
    assert plain.stdout.strip()
    with pytest.raises(ValueError):  # noqa: PT011 - it is any text but JSON
        json.loads(plain.stdout)


def test_a_template_goes_out_as_an_rspec_and_comes_back_as_a_draft(adon, world, tmp_path):
    document = tmp_path / "soykb.xml"
    document.write_text(adon("template", "show", "soykb", "--rspec", "mu", "osu").stdout)
    drafted = adon("template", "from-rspec", str(document), "--name", "draft")
    assert (
        yamlfile.parse_model(drafted.stdout, Template).qspec == world.store.template("soykb").template.qspec
    )
    document.write_text("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rspec>&x;</rspec>")
    refused = adon("template", "from-rspec", str(document), "--name", "draft")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)


def test_a_difference_is_told_and_repaired_on_request(adon, world):
    world.submit()
    world.stage.refuse(MU_EDGE, "OFPFMFC_TABLE_FULL")
    world.stage.delete_by_hand(next(rule for rule in world.stage.rules_in(MU_EDGE) if rule.priority > 30_000))
    world.stage.disconnect(OSU_EDGE)
    text = adon("rules", "diff").stdout
    found = dict(line.split(": ", 1) for line in text.splitlines() if line.count(" 0000000000000a") == 1)
    assert found["mu-edge 0000000000000a01"].split()[0] == "1"
    assert "missing: cookie=" in text
    assert found["osu-edge 0000000000000a02"].startswith("not connected")  # it was not asked
    assert "mu-edge" in adon("rules", "sync").stdout
    assert "rules.sync" in [kind for kind, _ in world.controller.seen]


# -- failures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("as_", "arguments", "told"),
    [
        ("adon_wrong", ("flow", "list"), "not known"),
        ("auditor", (*SUBMIT, "--size", "1 GB"), "may not"),
        ("admin", ("flow", "show", "f-9"), "f-9"),
        ("admin", ("decision", "show", "../.."), "is no"),
        ("admin", ("template", "show", ".."), "is no"),
    ],
)
def test_what_is_refused_is_one_line_and_exit_status_1(adon, as_, arguments, told):
    found = adon(*arguments, as_=as_)
    assert found.exit_code == 1
    assert told in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert "adon_wrong" not in found.output


def test_nobody_answers():
    found = CliRunner().invoke(app, ["--url", "http://127.0.0.1:9", "flow", "list"], env={"ADON_TOKEN": "x"})
    assert (found.exit_code, len(found.stderr.splitlines())) == (1, 1)
    assert "adon serve" in found.stderr


def test_the_token_comes_from_the_environment_only(served, world, tmp_path):
    def run(**environment):
        clean = {"ADON_TOKEN": None, "ADON_TOKEN_FILE": None, "ADON_URL": served}
        return CliRunner().invoke(app, ["flow", "list"], env={**clean, **environment})

    assert "ADON_TOKEN" in run().stderr
    file = tmp_path / "token"
    file.write_text(world.tokens["admin"] + "\n")
    assert run(ADON_TOKEN_FILE=str(file)).exit_code == 0
    assert run(ADON_TOKEN_FILE=str(tmp_path / "none")).exit_code == 2
    assert "ADON_TOKEN;" in run(ADON_TOKEN="adon_old").stderr  # noqa: S106
    file.write_text("adon_old\n")
    assert "ADON_TOKEN_FILE;" in run(ADON_TOKEN_FILE=str(file)).stderr


def test_the_client_raises_what_the_api_answered(served, world):
    def client(who):
        return Client.at(served, world.tokens.get(who, who), bounds=IMPATIENT)

    for who, act, kind in (
        ("admin", lambda c: c.flow("f-9"), NotFound),
        ("x", lambda c: c.flows(), NotAuthenticated),
        ("auditor", lambda c: c.add_template(SOYKB), Forbidden),
        ("admin", lambda c: c.submit({"size": "0 B"}), InvalidInput),
    ):
        with pytest.raises(kind):
            act(client(who))
    assert client("admin").ready()
    assert len(client("admin").measurements(path="al2s", limit="2")) == 2
    world.stop_controller()
    assert not client("admin").ready()
    with pytest.raises(Unavailable):
        client("admin").submit({"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB"})


def test_the_real_server_refuses_what_is_too_large(served, world):
    headers = {"Authorization": f"Bearer {world.tokens['admin']}", "Content-Type": "application/json"}
    answer = requests.post(f"{served}/api/v1/flows", data=b" " * 1_000_001, headers=headers, timeout=10)
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"
    chunks = (b" " * 100_000 for _ in range(11))
    answer = requests.post(f"{served}/api/v1/flows", data=chunks, headers=headers, timeout=10)
    assert answer.status_code == 413


def test_a_stranger_s_answer_is_no_answer_of_ours(served):
    with pytest.raises(AdonError):
        Client.at(served + "/static", "x").flows()
