"""Wrong templates: exit status 2, and a line with file, line, field, cause and an example that is valid."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from tests.templates_catalog.strategies import GOOD

MORE = """\
priority: 500
selection: {max_age: 5 min, idle_timeout: 60 s}
cost: {function: weighted, time_weight: 1, money_weight: 0}
protocol: tcp
pausable: false
triggers: [{name: slow, when: {metric: rtt, above: 90 ms}, do: {action: priority, by: 5}}]
"""

WRONG = [
    ("qspec.throughput.min", 3, "min: 700 Mbps", "min: {}", "700", "700 Mbps", "no-unit"),
    ("qspec.throughput.min", 3, "min: 700 Mbps", "min: {}", "700 ms", "700 Mbps", "wrong-unit"),
    ("qspec.throughput.min", 3, "min: 700 Mbps", "min: {}", "700 mbps", "700 Mbps", "ambiguous-unit"),
    ("qspec.throughput.min", 3, "min: 700 Mbps", "min: {}", "0 bps", "700 Mbps", "out-of-range"),
    ("qspec.throughput.target", 3, "target: 5 Gbps", "target: {}", "1 Mbps", "700 Mbps", "invalid"),
    ("qspec.throughput.target", 3, "target: 5 Gbps", "target: {}", "20 Gbps", "10 Gbps", "invalid"),
    ("qspec.rtt.target", 4, "target: 20 ms", "target: {}", "200 ms", "100 ms", "invalid"),
    ("qspec.rtt.max", 4, "max: 100 ms, target", "max: {}, target", "0 s", "20 ms", "out-of-range"),
    ("qspec.loss.max", 5, "max: 0.1 %", "max: {}", "101 %", "0.01 %", "out-of-range"),
    ("qspec.speed", 5, "  loss: {max", "  {}: {{max", "speed", "loss", "unknown-key"),
    ("selection.max_age", 12, "max_age: 5 min", "max_age: {}", "10 apples", "20 ms", "unknown-unit"),
    ("weights.latency", 7, "throughput: 3", "{}: 3", "latency", "throughput", "invalid"),
    ("weights.throughput", 7, "throughput: 3", "throughput: {}", "-3", "1", "out-of-range"),
    ("weights.throughput", 7, "throughput: 3", "throughput: {}", "'3'", "1", "wrong-type"),
    ("weights", 7, "{throughput: 3, loss: 1}", "{}", "{loss: 0}", "{throughput: 1}", "invalid"),
    ("weights", 7, "{throughput: 3, loss: 1}", "{}", "{}", "{throughput: 1}", "missing"),
    ("tables.speed", 9, "  throughput: {points", "  {}: {{points", "speed", "throughput", "invalid"),
    ("tables.throughput.points.0", 9, "[700 Mbps, 1]", "[{}, 1]", "700", "700 Mbps", "no-unit"),
    ("tables.throughput.points.0", 9, "[700 Mbps, 1]", "{}", "[700 Mbps]", "[1000 Mbps, 1]", "invalid"),
    ("tables.throughput.points.0.1", 9, "[700 Mbps, 1]", "[700 Mbps, {}]", "high", "1", "wrong-type"),
    ("tables.throughput.points.1", 9, "[10 Gbps, 10]", "[10 Gbps, {}]", "0", "1", "invalid"),
    ("match.ports.0", 10, "ports: [1247,", "ports: [{},", "70000", "20000-20199", "invalid"),
    ("match.dscp.0", 10, "dscp: [10]", "dscp: [{}]", "64", "1", "out-of-range"),
    ("name", 1, "name: soykb", "name: {}", "Soy KB", "soykb", "malformed"),
    ("name", 1, "name: soykb", "{}", "title: x", "name: soykb", "missing"),
    ("priority", 11, "priority: 500", "priority: {}", "1000", "500", "out-of-range"),
    ("selection.max_age", 12, "max_age: 5 min", "max_age: {}", "0 s", "5 min", "out-of-range"),
    ("selection.idle_timeout", 12, "timeout: 60 s", "timeout: {}", "1500 ms", "60 s", "invalid"),
    ("cost.function", 13, "function: weighted", "function: {}", "cheap", "total_time", "unknown-value"),
    ("cost.time_weight", 13, "time_weight: 1", "time_weight: {}", "0", "1", "invalid"),
    ("protocol", 14, "protocol: tcp", "protocol: {}", "icmp", "tcp", "unknown-value"),
    ("pausable", 15, "pausable: false", "pausable: {}", "maybe", "false", "wrong-type"),
    ("colour", 15, "pausable: false", "{}: false", "colour", "pausable", "unknown-key"),
    ("triggers.0.when.above", 16, "above: 90 ms", "{}", "clear: 1 ms", "above: 20 ms", "invalid"),
    (
        "triggers.0.do",
        16,
        "{action: priority, by: 5}",
        "{}",
        "{action: x}",
        '{"action": "reexamine"}',
        "unknown-value",
    ),
]


@pytest.mark.parametrize(("field", "line", "old", "form", "wrong", "example", "code"), WRONG)
def test_a_wrong_template_is_named_with_an_example_that_is_valid(
    tmp_path, field, line, old, form, wrong, example, code
):
    def validate(text: str, *options: str):
        file.write_text((GOOD + MORE).replace(old, form.format(text), 1))
        return CliRunner().invoke(app, ["template", "validate", str(file), *options])

    file = tmp_path / "template.yaml"
    assert (GOOD + MORE).count(old) == 1
    found = validate(wrong)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1), found.output
    place, _, cause = found.stderr.strip().partition(f": {field}: ")
    assert place == f"{file}:{line}"
    shown = re.escape(example.removeprefix(f"{field}: "))
    assert re.search(rf"(for example|such as|known are|did you mean) .*{shown}", cause), cause
    (problem,) = json.loads(validate(wrong, "--json").output)["problems"]
    assert (problem["field"], problem["code"], problem["line"]) == (field, code, line)
    assert validate(example).exit_code == 0
