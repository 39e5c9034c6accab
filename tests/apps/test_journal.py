"""What was sent to switches, kept for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adon.broker.effects import AdmitConnections, DropConnections, SendBatch
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Change, Op, Rule, rule_text
from adon.flowvisor.rules.rule_compiler import RuleInputs, flow_rules
from adon.flowvisor.topology.path import FiveTuple
from apps.journal import NAME, Journal, read
from tests.flowvisor.network import AL2S, MU, PATHS, SOURCE, TARGET

RULES = flow_rules(RuleInputs(17, SOURCE, TARGET, AL2S, PATHS), (FiveTuple(6, 5001),), 500, 60)


def batch(name: str, cause: str, *operations: Op) -> SendBatch:
    changes = tuple(Change(op, rule) for op, rule in zip(operations, RULES, strict=False))
    return SendBatch(cause, MU, name, changes)


def test_every_change_has_a_line_with_its_cause_the_newest_first(tmp_path: Path) -> None:
    times = iter((10.0, 20.0))
    journal = Journal(tmp_path, lambda: next(times))
    journal.record_sent(batch("f-17/1", "e-1", Op.ADD, Op.ADD))
    journal.record_sent(batch("f-17/2", "e-2", Op.DELETE))
    journal.close()
    found = read(tmp_path / NAME, 10)
    assert [(line["at"], line["op"], line["cause"]) for line in found] == [
        (20.0, "delete", "e-2"),
        (10.0, "add", "e-1"),
        (10.0, "add", "e-1"),
    ]
    assert found[0]["text"] == rule_text(RULES[0])
    assert (found[0]["owner"], found[0]["dpid"], found[0]["batch"]) == ("f-17", f"{MU:016x}", "f-17/2")


def test_it_is_searched_by_owner_switch_and_cause(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.record_sent(batch("f-17/1", "e-1", Op.ADD))
    journal.close()
    file = tmp_path / NAME
    assert len(read(file, 10, owner="f-17", dpid=f"{MU:016x}", cause="e-1")) == 1
    assert read(file, 10, owner="f-18") == read(file, 10, cause="e-9") == []
    assert read(tmp_path / "nothing", 10) == []


def test_a_full_file_is_put_aside_and_still_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("apps.journal.LARGEST_BYTES", 10)
    for number in (1, 2):
        journal = Journal(tmp_path)
        journal.record_sent(batch(f"f-17/{number}", f"e-{number}", Op.ADD))
        journal.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [NAME, NAME + ".1"]
    assert [line["cause"] for line in read(tmp_path / NAME, 10)] == ["e-2", "e-1"]


def test_a_line_that_is_cut_off_costs_only_itself(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.record_sent(batch("f-17/1", "e-1", Op.ADD))
    journal.close()
    with (tmp_path / NAME).open("a") as file:
        file.write('{"at": 1, "dp')
    assert len(read(tmp_path / NAME, 10)) == 1


def test_a_folder_that_is_gone_is_said_and_stops_nothing(tmp_path: Path, caplog) -> None:
    journal = Journal(tmp_path / "nowhere")
    journal.record_sent(batch("f-17/1", "e-1", Op.ADD))
    journal.record_sent(batch("f-17/2", "e-2", Op.ADD))
    journal.close()
    assert "event=journal.unwritable" in caplog.text


def test_each_new_connection_has_a_line_and_a_packet_that_follows_has_none(tmp_path: Path) -> None:
    rule = Rule(
        0xA01,
        15_002,
        Match(in_port=1, eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", ip_dst="10.2.0.10", tp_dst=5001),
        (Output(2),),
        cookie(Kind.FLOW_CONNECTION, 7),
    )
    journal = Journal(tmp_path, lambda: 12.5)
    packets = ((40_001, b"", True), (40_001, b"", False), (40_002, b"", True))
    journal.record_sent(AdmitConnections("e-1", 0xA01, rule, 1, packets))
    journal.record_sent(DropConnections("e-2", rule, 3))
    journal.close()
    lines = list(reversed(read(tmp_path / NAME, 10)))
    assert [(line["at"], line["owner"], line["op"], line["cause"]) for line in lines] == [
        (12.5, "f-7", "add", "e-1"),
        (12.5, "f-7", "add", "e-1"),
        (12.5, "f-7", "add", "e-2"),
    ]
    assert ["tp_src=40001,tp_dst=5001" in lines[0]["text"], "tp_src=40002" in lines[1]["text"]] == [True] * 2


@pytest.mark.parametrize("piece", [1, 7, 50, 100_000])
def test_it_is_read_from_its_end_in_pieces_of_any_size(tmp_path: Path, monkeypatch, piece: int) -> None:
    monkeypatch.setattr("apps.journal._PIECE", piece)
    lines = [{"at": float(n), "owner": f"f-{n % 3}", "dpid": "", "cause": f"é{n}"} for n in range(40)]
    texts = [json.dumps(line) for line in lines]
    (tmp_path / (NAME + ".1")).write_text("\n".join(texts[:25]) + "\n")
    (tmp_path / NAME).write_text("\n".join(texts[25:]) + "\n")
    newest = lines[::-1]
    assert read(tmp_path / NAME, 100) == newest
    assert read(tmp_path / NAME, 7, before=30.0) == newest[10:17]
    assert read(tmp_path / NAME, 100, cause="é3") == [lines[3]]
    assert read(tmp_path / NAME, 9, owner="f-1") == [one for one in newest if one["owner"] == "f-1"][:9]
