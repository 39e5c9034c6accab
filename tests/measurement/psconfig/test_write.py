from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.pscheduler.iso8601 import parse_duration
from measurement.psconfig.expand import expand
from measurement.psconfig.template import read
from measurement.psconfig.write import End, Planned, write
from tests.support.refusals import refused

HOSTS = {
    name: End(name, f"192.0.2.{number}", f"{name}.example.net") for number, name in enumerate("abcd", start=1)
}


def rtt(source: End, destination: End, count: int = 10, repeat: float = 300.0) -> Planned:
    spec = {
        "schema": 1, "source": source.address, "dest": destination.address,
        "source-node": source.pscheduler, "count": count, "hostnames": False,
    }  # fmt: skip
    return Planned(source, destination, "rtt", spec, repeat, 60.0, ("ping",))


def again(planned: list[Planned], **archives: Any) -> list[tuple[Any, ...]]:
    """What an agent makes of the template that is written, in a form that can be compared."""
    template = read(json.dumps(write(planned, archives)).encode())
    found = []
    for each in expand(template).tasks:
        assert each.schedule is not None
        assert each.schedule.repeat is not None
        assert each.schedule.slip is not None
        times = (parse_duration(each.schedule.repeat), parse_duration(each.schedule.slip))
        found.append((each.test, json.dumps(each.spec, sort_keys=True), *times, each.tools))
    return sorted(found)


def meant(planned: list[Planned]) -> list[tuple[Any, ...]]:
    return sorted(
        (each.test, json.dumps(each.spec, sort_keys=True), each.repeat, each.slip, each.tools)
        for each in planned
    )


PAIRS = st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")).filter(lambda pair: pair[0] != pair[1])


@given(
    st.lists(
        st.tuples(PAIRS, st.sampled_from([5, 10]), st.sampled_from([60.0, 300.0])), max_size=12, unique=True
    )
)
def test_an_agent_runs_what_was_planned_and_nothing_else(tests: list[Any]) -> None:
    planned = [rtt(HOSTS[a], HOSTS[b], count, repeat) for (a, b), count, repeat in tests]
    assert again(planned) == meant(planned)


@pytest.mark.parametrize(
    ("pairs", "kinds"),
    [
        (["ab", "ba", "ac", "ca", "bc", "cb"], ["mesh"]),
        (["ab", "ac"], ["disjoint"]),
        (["ab", "bc"], ["disjoint", "disjoint"]),
    ],
)
def test_pairs_become_few_groups(pairs: list[str], kinds: list[str]) -> None:
    planned = [rtt(HOSTS[a], HOSTS[b]) for a, b in pairs]
    document = write(planned)
    assert [group["type"] for group in document["groups"].values()] == kinds
    assert len(document["tests"]) == 1
    assert again(planned) == meant(planned)


def test_several_addresses_of_one_host_do_not_measure_each_other() -> None:
    """Each path has its own measurement address."""
    left = [End("mu", "10.1.0.1", "mu.example.net"), End("mu", "10.2.0.1", "mu.example.net")]
    right = [End("osu", "10.1.0.2", "osu.example.net"), End("osu", "10.2.0.2", "osu.example.net")]
    planned = [rtt(a, b) for a, b in zip(left, right, strict=True)]
    assert again(planned) == meant(planned)


def test_results_go_to_every_archive() -> None:
    archive = {"archiver": "http", "data": {"_url": "https://collector.example.net/results"}}
    document = write([rtt(HOSTS["a"], HOSTS["b"])], {"our collector": archive})
    template = read(json.dumps(document).encode())
    assert [template.archives[name].data for name in template.tasks["rtt-1"].archives] == [archive["data"]]


@pytest.mark.parametrize(
    ("tests", "field"),
    [
        ([rtt(HOSTS["a"], HOSTS["b"], repeat=0.0)], "rtt"),
        ([rtt(HOSTS["a"], HOSTS["b"]), rtt(End("x", "192.0.2.1"), HOSTS["b"])], "192.0.2.1"),
    ],
)
def test_what_cannot_be_written_is_named(tests: list[Planned], field: str) -> None:
    with refused(ValueError, field):
        write(tests)


def test_nothing_planned_is_an_empty_template() -> None:
    assert again([]) == []
