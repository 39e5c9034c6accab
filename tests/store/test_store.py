from __future__ import annotations

import contextlib
import threading
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from adon.broker.decision import Outcome
from adon.broker.effects import RuleState
from adon.broker.flow import FlowState
from adon.broker.maintenance import Scope, Window
from adon.broker.recompute.encoded import Encoded, digest
from adon.broker.resources.amounts import Amounts, Place
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import JobState
from adon.errors import Conflict, DatabaseUnavailable, InvalidInput, NotFound, Unavailable
from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from adon.store import tables
from adon.store.decision_rows import DecisionFilter, SavedSnapshot
from adon.store.engine import open_engine, parse_url
from adon.store.entry_codec import slot_text
from adon.store.flow_rows import FlowFilter
from adon.store.network_rows import WANTED
from adon.store.store import Store
from measurement.model import PathKey
from tests.broker.sites.values import job
from tests.store.values import a_rule, an_outcome
from tests.support.factories import make_decision, make_flow, make_request, make_template
from tests.support.refusals import refused


class TestFlows:
    def test_a_flow_is_read_back_as_it_was_last_saved(self, store: Store) -> None:
        flow = make_flow(number=7)
        store.save_flow(flow, "e-1")
        queued = flow.step(FlowState.QUEUED, 1001.5, "unqualified")
        store.save_flow(queued, "e-2")
        assert store.flow(7) == queued
        assert store.last_flow_number() == 7

    def test_history_grows_by_what_changed(self, store: Store) -> None:
        flow = make_flow()
        store.save_flow(flow, "e-1")
        queued = flow.step(FlowState.QUEUED, 1001.5, "unqualified")
        store.save_flow(queued, "e-2")
        store.save_flow(replace(queued, bytes_sent=5), "e-3")
        store.save_flow(replace(queued, reason="full"), "e-4", at=1005.0)
        assert [(h.at, h.state, h.reason, h.cause) for h in store.history(1)] == [
            (1000.0, FlowState.REQUESTED, "", "e-1"),
            (1001.5, FlowState.QUEUED, "unqualified", "e-2"),
            (1005.0, FlowState.QUEUED, "full", "e-4"),
        ]
        assert [h.cause for h in store.history(1, last=2)] == ["e-2", "e-4"]
        assert store.history(1, last=9) == store.history(1)
        assert store.flow(1).reason == "full"

    def test_the_latest_time_is_that_of_any_saved_event(self, store: Store) -> None:
        assert store.latest_time() == 0.0
        store.save_template(make_template(), "ann", 900.0)
        assert store.latest_time() == 900.0
        store.save_flow(make_flow(), "e-1", at=1000.0)
        store.save_rules([a_rule()], RuleState.PENDING, "", 950.0)
        assert store.latest_time() == 1000.0
        store.save_rules([a_rule()], RuleState.INSTALLED, "", 1003.0)
        assert store.latest_time() == 1003.0
        store.save_decision(make_decision(at=1004.0))
        assert store.latest_time() == 1004.0

    def test_a_move_is_history(self, store: Store) -> None:
        flow = make_flow(state=FlowState.ACTIVE, path="al2s", path_since=1001.0)
        store.save_flow(flow, "e-1")
        store.save_flow(replace(flow, path="internet", path_since=1009.0), "e-2")
        assert [(h.at, h.path) for h in store.history(1)] == [(1001.0, "al2s"), (1009.0, "internet")]

    def test_listing_filters_and_pages(self, store: Store) -> None:
        for number in range(1, 6):
            state = FlowState.QUEUED if number % 2 else FlowState.FINISHED
            store.save_flow(
                make_flow(number=number, state=state, requester="ada" if number < 4 else "bob"), "e"
            )
        assert [f.number for f in store.flows()] == [5, 4, 3, 2, 1]
        assert [f.number for f in store.flows(limit=2)] == [5, 4]
        assert [f.number for f in store.flows(limit=2, before=4)] == [3, 2]
        assert [f.number for f in store.flows(FlowFilter(state=FlowState.QUEUED))] == [5, 3, 1]
        assert [f.number for f in store.flows(FlowFilter(requester="bob"))] == [5, 4]
        assert [f.number for f in store.unfinished_flows()] == [1, 3, 5]

    def test_a_search_looks_through_what_people_read_in_any_case(self, store: Store) -> None:
        store.save_flow(
            make_flow(request=make_request(label="Ångström run"), reason="waits: 100% taken"), "e"
        )
        store.save_flow(make_flow(number=2, requester="Åsa"), "e")
        for text, found in (("ÅNGSTRÖM", [1]), ("åSA", [2]), ("100%", [1]), ("100_", []), ("soykb", [2, 1])):
            assert [one.number for one in store.flows(FlowFilter(text=text))] == found, text
        store.save_flow(make_flow(request=make_request(label="Ångström run"), reason="it runs"), "e")
        assert store.flows(FlowFilter(text="taken")) == ()

    def test_a_search_in_sqlite_reads_no_bodies(self, made_once: Path) -> None:
        # A table of which one flow in a thousand is meant would be read whole.
        engine = open_engine(parse_url(f"sqlite:///{made_once}"), read_only=True)
        said: list[tuple[str, Any]] = []

        def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
            said.append((statement, values))

        sqlalchemy.event.listen(engine, "before_cursor_execute", note)
        with Store(engine, read_only=True) as store, engine.connect() as connection:
            store.flows(FlowFilter(text="soykb"), 50)
            statement, values = said[-1]
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
        assert "COVERING INDEX ix_flows_search_text" in str(plan)

    def test_states_are_counted(self, store: Store) -> None:
        for number, state in ((1, FlowState.QUEUED), (2, FlowState.QUEUED), (3, FlowState.FINISHED)):
            store.save_flow(make_flow(number=number, state=state), "e")
        assert store.flow_states() == {"queued": 2}

    def test_an_unknown_flow(self, store: Store) -> None:
        with pytest.raises(NotFound, match="f-9"):
            store.flow(9)
        assert store.history(9) == ()
        assert store.last_flow_number() == 0


class TestDecisions:
    def test_in_short_a_decision_says_what_the_whole_says(self, store: Store) -> None:
        seen = tuple(
            CandidateRecord(path, "l2", Verdict.QUALIFIED, "bounds-kept", "", 9.0)
            for path in ("al2s", "internet")
        )
        decision = make_decision(candidates=seen, compute_site="osu-hpc")
        store.save_decision(decision)
        (short,) = store.decisions_in_short(DecisionFilter())
        assert len(short.candidates) == 2
        names = {one.name for one in fields(short)} - {"candidates"}
        assert {name: getattr(short, name) for name in names} == {n: getattr(decision, n) for n in names}

    def test_decisions_of_a_flow_in_order(self, store: Store) -> None:
        later = make_decision(id="d-2", at=1005.0, outcome=Outcome.MOVE)
        first, other = make_decision(), make_decision(id="d-3", flow="f-2")
        for decision in (later, first, other):
            store.save_decision(decision)
        assert store.decisions(1) == (first, later)
        assert store.decision("d-3") == other
        with pytest.raises(NotFound, match="d-4"):
            store.decision("d-4")


class TestTemplates:
    def test_versions(self, store: Store) -> None:
        for version in (1, 2):
            store.save_template(make_template(version=version, priority=version), "eve", 1000.0 + version)
        assert store.template("soykb").template == make_template(version=2, priority=2)
        assert store.template("soykb", 1).template == make_template(version=1, priority=1)
        assert [(t.template.version, t.author, t.saved_at) for t in store.templates()] == [
            (1, "eve", 1001.0),
            (2, "eve", 1002.0),
        ]

    def test_a_saved_version_never_changes(self, store: Store) -> None:
        store.save_template(make_template(), "eve", 1000.0)
        store.save_template(make_template(), "bob", 2000.0)
        with pytest.raises(Conflict, match="soykb@1"):
            store.save_template(make_template(priority=1), "eve", 1001.0)
        assert store.template("soykb").author == "eve"

    @pytest.mark.parametrize("statement", ["UPDATE templates SET author = 'x'", "DELETE FROM templates"])
    def test_not_even_behind_the_stores_back(self, store: Store, url: str, statement: str) -> None:
        store.save_template(make_template(), "eve", 1000.0)
        engine = open_engine(parse_url(url), read_only=False)
        with pytest.raises(DBAPIError), engine.begin() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()
        assert store.template("soykb").author == "eve"

    @pytest.mark.parametrize(("name", "version"), [("soykb", 2), ("rivvir", None)])
    def test_an_unknown_one(self, store: Store, name: str, version: int | None) -> None:
        store.save_template(make_template(), "eve", 1000.0)
        with pytest.raises(NotFound, match=name):
            store.template(name, version)


class TestRules:
    def test_the_life_of_a_rule(self, store: Store) -> None:
        rule = a_rule()
        for at, state in ((1.0, RuleState.PENDING), (2.0, RuleState.INSTALLED), (3.0, RuleState.REMOVED)):
            store.save_rules([rule], state, "", at)
            (saved,) = store.rules()
            assert (saved.rule, saved.owner, saved.state, saved.updated_at) == (rule, "f-1", state, at)
        assert store.rules(states=WANTED) == ()

    def test_a_refusal_keeps_the_switchs_words(self, store: Store) -> None:
        store.save_rules([a_rule()], RuleState.FAILED, "OFPET_FLOW_MOD_FAILED/TABLE_FULL", 1.0)
        assert store.rules(states=WANTED)[0].error == "OFPET_FLOW_MOD_FAILED/TABLE_FULL"

    def test_filters(self, store: Store) -> None:
        here, there = a_rule(1, dpid=0xA01), a_rule(2, dpid=(1 << 64) - 1)
        store.save_rules([here, there], RuleState.PENDING, "", 1.0)
        assert [r.rule for r in store.rules(dpid=(1 << 64) - 1)] == [there]
        assert [r.rule for r in store.rules(owner="f-1")] == [here]
        assert len(store.rules()) == 2

    def test_counts_and_pages(self, store: Store) -> None:
        store.save_rules([a_rule(1), a_rule(2, port=5002)], RuleState.PENDING, "", 1.0)
        store.save_rules([a_rule(3, port=5003)], RuleState.INSTALLED, "", 1.0)
        assert store.rule_states() == {"pending": 2, "installed": 1}
        whole = store.rules()
        assert store.rules(limit=2) == whole[:2]
        assert store.rules(first=slot_text(whole[1].rule.slot)) == whole[1:]

    def test_a_rule_replaces_the_one_in_its_slot(self, store: Store) -> None:
        store.save_rules([a_rule(1)], RuleState.INSTALLED, "", 1.0)
        store.save_rules([a_rule(2)], RuleState.PENDING, "", 2.0)
        store.save_rules([a_rule(1)], RuleState.REMOVED, "", 3.0)
        (saved,) = store.rules()
        assert (saved.rule, saved.state) == (a_rule(2), RuleState.PENDING)

    def test_no_rules_is_no_work(self, store: Store) -> None:
        store.save_rules([], RuleState.PENDING, "", 1.0)
        store.save_rules([], RuleState.REMOVED, "", 1.0)
        assert store.rules() == ()


class TestAccess:
    def test_answers_to_repeated_requests(self, store: Store) -> None:
        store.save_answer("ada", "k", "hash", {"id": "f-1"}, 1000.0)
        store.save_answer("ada", "k", "hash", {"id": "f-2"}, 1001.0)
        kept = store.answer("ada", "k")
        assert kept is not None
        assert (kept.request_hash, kept.answer, kept.at) == ("hash", {"id": "f-1"}, 1000.0)
        assert store.answer("bob", "k") is None
        with refused(Conflict, field="Idempotency-Key"):
            store.save_answer("ada", "k", "other", {}, 1002.0)
        assert store.forget_answers(1000.0) == 0
        assert store.forget_answers(1000.5) == 1
        assert store.answer("ada", "k") is None


class TestTransactions:
    def test_all_or_nothing(self, store: Store) -> None:
        with contextlib.suppress(RuntimeError), store.transaction():
            store.save_flow(make_flow(), "e-1")
            store.save_rules([a_rule()], RuleState.PENDING, "", 1.0)
            raise RuntimeError
        assert store.last_flow_number() == 0
        assert store.rules() == ()
        store.save_flow(make_flow(), "e-1")
        assert store.last_flow_number() == 1

    def test_what_is_saved_is_seen_inside_and_not_yet_outside(self, store: Store, url: str) -> None:
        with Store.open(url, read_only=True) as reader:
            with store.transaction():
                store.save_flow(make_flow(), "e-1")
                assert store.last_flow_number() == 1
                assert reader.last_flow_number() == 0
            assert reader.last_flow_number() == 1

    def test_an_inner_transaction_is_part_of_the_outer(self, store: Store) -> None:
        with contextlib.suppress(RuntimeError), store.transaction():
            with store.transaction():
                store.save_flow(make_flow(), "e-1")
            raise RuntimeError
        assert store.last_flow_number() == 0

    def test_another_threads_reading_is_not_inside(self, store: Store) -> None:
        seen: list[int] = []
        with store.transaction():
            store.save_flow(make_flow(), "e-1")
            thread = threading.Thread(target=lambda: seen.append(store.last_flow_number()))
            thread.start()
            thread.join()
        assert seen == [0]

    def test_threads_that_write_take_turns(self, store: Store) -> None:
        def write(first: int) -> None:
            for number in range(first, first + 10):
                store.save_flow(make_flow(number=number), "e")

        threads = [threading.Thread(target=write, args=(first,)) for first in (100, 200, 300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.flows()) == 30

    def test_a_reader_cannot_write(self, url: str) -> None:
        with (
            Store.open(url, read_only=True) as reader,
            refused("read-only"),
        ):
            reader.save_flow(make_flow(), "e-1")

    def test_a_reader_cannot_write_behind_the_stores_back(self, url: str) -> None:
        engine = open_engine(parse_url(url), read_only=True)
        with pytest.raises(DBAPIError, match=r"read-?only"), engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM flows")
        engine.dispose()


class TestErrors:
    def test_a_foreign_error_is_translated_with_its_cause(self, store: Store) -> None:
        store.save_decision(make_decision())
        with pytest.raises(Unavailable) as caught:
            store.save_decision(make_decision())
        assert isinstance(caught.value.__cause__, sqlalchemy.exc.IntegrityError)

    def test_infinity_that_slipped_through_is_refused_everywhere(self, store: Store) -> None:
        # SQLAlchemy wraps what fails while a value is bound, psycopg binds later and does not.
        with pytest.raises((Unavailable, ValueError), match="JSON"):
            store.save_answer("ada", "k", "hash", {"cost": float("inf")}, 1.0)

    def test_a_body_of_another_version_is_named(self, store: Store, url: str) -> None:
        store.save_flow(make_flow(), "e-1")
        engine = sqlalchemy.create_engine(url)
        with engine.begin() as connection:
            connection.execute(tables.flows.update().values(body={"number": 1}))
        engine.dispose()
        with pytest.raises(Unavailable):
            store.flow(1)

    @pytest.mark.parametrize("url", ["", "adon.db", "oracle9://x/y", "sqlite://", "sqlite:///:memory:"])
    def test_what_is_no_url(self, url: str) -> None:
        with pytest.raises(InvalidInput, match="store"):
            Store.open(url)

    def test_nothing_there(self, tmp_path: object) -> None:
        with pytest.raises(Unavailable):
            Store.open(f"sqlite:///{tmp_path}/none.db")

    def test_a_file_that_is_no_database(self, tmp_path: object) -> None:
        path = f"{tmp_path}/text.db"
        with open(path, "w") as file:  # noqa: PTH123
            file.write("not a database, only text " * 100)
        with pytest.raises(Unavailable) as refused:
            Store.open(f"sqlite:///{path}")
        assert refused.value.code == "unavailable"

    @pytest.mark.integration
    def test_no_server_and_no_password_in_the_message(self) -> None:
        pytest.importorskip("psycopg")
        with pytest.raises(Unavailable) as caught:
            Store.open("postgresql+psycopg://adon:hunter2@127.0.0.1:1/adon")
        assert caught.value.code == DatabaseUnavailable.code
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("durable", [True, False])
def test_what_the_database_is_told_about_the_disk(store: Store, durable: bool) -> None:
    with store.transaction(durable=not durable):
        store.save_flow(make_flow(), "e-1")
    with store.transaction(durable=durable):
        store.save_flow(make_flow(number=2), "e-2")
        connection = store._thread.connection
        query = "PRAGMA synchronous" if connection.dialect.name == "sqlite" else "SHOW synchronous_commit"
        told = connection.exec_driver_sql(query).scalar_one()
    assert told in ((2, "on") if durable else (1, "off"))
    assert store.last_flow_number() == 2


class TestMaintenance:
    WINDOW = Window(3, Scope.LINK, "fibre-7", 1000.0, 2000.0, 60.0, "splicing", "pat")

    def test_a_window_is_read_back_as_it_was_last_saved(self, store: Store) -> None:
        other = replace(self.WINDOW, number=4, ends=5000.0)
        store.save_window(other)
        store.save_window(self.WINDOW)
        assert store.windows() == (self.WINDOW, other)
        cancelled = replace(self.WINDOW, cancelled_at=1500.0)
        store.save_window(cancelled)
        assert store.windows() == (cancelled, other)

    def test_those_that_are_over_can_be_left_out(self, store: Store) -> None:
        store.save_window(self.WINDOW)
        assert store.windows(since=1999.0) == (self.WINDOW,)
        assert store.windows(since=2000.0) == ()


class TestJobs:
    def test_a_job_is_read_back_as_it_was_last_saved(self, store: Store) -> None:
        store.save_job(job(1))
        later = job(1, state=JobState.RUNNING, site_job="77", started_at=5.0)
        store.save_job(later)
        assert store.job(1) == later
        assert store.last_job_number() == 1
        with pytest.raises(NotFound):
            store.job(2)

    def test_they_are_listed_newest_first_and_filtered(self, store: Store) -> None:
        one, two, three = job(1), job(2, site="mu-hpc"), job(3, requester="bob")
        for each in (one, two, three):
            store.save_job(each)
        assert store.jobs() == (three, two, one)
        assert store.jobs(site="mu-hpc") == (two,)
        assert store.jobs(requester="bob") == (three,)
        assert store.jobs(limit=1, before=3) == (two,)
        for newest in (1, 2, 10):
            assert store.job_states(newest) == Counter(job.state.value for job in store.jobs(limit=newest))

    def test_what_is_remembered_ends_with_all_that_is_open(self, store: Store) -> None:
        jobs = [job(n, state=JobState.FAILED if n % 2 else JobState.WAITING) for n in range(1, 8)]
        for each in jobs:
            store.save_job(each)
        assert [each.number for each in store.remembered_jobs(2)] == [5, 7, 2, 4, 6]
        assert [each.number for each in store.remembered_jobs(0)] == [2, 4, 6]


class TestOutcomes:
    def test_what_a_flow_left_behind(self, store: Store) -> None:
        left = an_outcome(7)
        with store.transaction():
            store.save_flow(make_flow(number=7, state=FlowState.FINISHED), "e-1")
            store.save_outcome(left)
        assert store.outcome(7) == left
        assert store.outcomes() == (left,)

    def test_one_that_has_not_ended(self, store: Store) -> None:
        store.save_flow(make_flow(number=7), "e-1")
        with pytest.raises(NotFound, match="f-7"):
            store.outcome(7)
        assert store.outcomes() == ()

    def test_those_that_ended_last_come_first(self, store: Store) -> None:
        for number, ended_at in ((1, 1300.0), (2, 1100.0), (3, 1200.0)):
            store.save_flow(make_flow(number=number, requester="ada" if number < 3 else "bob"), "e-1")
            store.save_outcome(an_outcome(number, ended_at=ended_at))
        assert [one.flow for one in store.outcomes()] == [1, 3, 2]
        assert [one.flow for one in store.outcomes(limit=2)] == [1, 3]
        assert [one.flow for one in store.outcomes(since=1200.0)] == [1, 3]
        assert [one.flow for one in store.outcomes(requester="ada")] == [1, 2]

    @pytest.mark.parametrize(
        ("template", "found"),
        [
            ("soykb", [3, 2, 1]),
            ("soykb@2", [3]),
            ("soy", []),
            ("soykb_x", [4]),
            ("soykb@", []),
            ("soykb@99999999999999999999", []),
            ("soykb@1@1", []),
        ],
    )
    def test_by_template_or_one_version_of_it(self, store: Store, template: str, found: list[int]) -> None:
        for number, of in ((1, "soykb@1"), (2, "soykb@1"), (3, "soykb@2"), (4, "soykb_x@1")):
            store.save_flow(make_flow(number=number), "e-1")
            store.save_outcome(an_outcome(number, template=of))
        assert [one.flow for one in store.outcomes(template)] == found

    def test_an_outcome_never_changes(self, store: Store) -> None:
        store.save_flow(make_flow(), "e-1")
        store.save_outcome(an_outcome())
        with pytest.raises(Unavailable):
            store.save_outcome(an_outcome(state="failed"))
        assert store.outcome(1).state == "finished"


class TestSnapshots:
    ONE, OTHER = '{"a":1}', '{"b":2.5}'

    def parts(self, *texts: str) -> dict[str, str]:
        return {digest(text): text for text in texts}

    def test_what_a_decision_saw(self, store: Store) -> None:
        encoded = Encoded("d-1", '{"decision":"d-1"}', self.parts(self.ONE, self.OTHER))
        store.save_snapshots([encoded], "0.1.0+abc")
        assert store.snapshot("d-1") == SavedSnapshot("d-1", encoded.digest, "0.1.0+abc", encoded.text)
        assert store.snapshot_part(digest(self.ONE)) == self.ONE

    def test_a_part_that_is_there_is_not_kept_again(self, store: Store, url: str) -> None:
        store.save_snapshots([Encoded("d-1", "{}", self.parts(self.ONE))], "1")
        store.save_snapshots([Encoded("d-2", "{}", self.parts(self.ONE, self.OTHER))], "1")
        store.save_snapshots([Encoded("d-3", "{}", {}), Encoded("d-4", "{}", self.parts(self.ONE))], "1")
        store.save_snapshots([], "1")
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            assert len(connection.execute(sqlalchemy.select(tables.snapshot_parts)).all()) == 2
            assert len(connection.execute(sqlalchemy.select(tables.snapshots)).all()) == 4
        engine.dispose()

    def test_what_was_not_kept(self, store: Store) -> None:
        store.save_decision(make_decision())
        with pytest.raises(NotFound):
            store.snapshot("d-1")
        with pytest.raises(NotFound, match="part"):
            store.snapshot_part("0" * 64)


class TestReservations:
    def test_one_is_read_back_as_it_was_last_saved(self, store: Store) -> None:
        along = Place.along(PathKey("al2s", "mu", "osu"))
        made = Reservation(1, along, Amounts(bandwidth=5 * 10**9), 100.0, 200.0, "ann", 17, "tonight", 50.0)
        store.save_reservation(made)
        assert store.reservation(1) == made
        released = replace(made, released_at=120.0)
        store.save_reservation(released)
        assert store.reservations() == (released,)
        with pytest.raises(NotFound, match="r-2"):
            store.reservation(2)

    def test_those_that_are_over_and_those_of_others_can_be_left_out(self, store: Store) -> None:
        for number, (ends, owner) in enumerate(((100.0, "ann"), (300.0, "ann"), (200.0, "bob")), 1):
            site = Place.at("osu-hpc")
            store.save_reservation(Reservation(number, site, Amounts(nodes=number), 1.0, ends, owner))
        assert [one.number for one in store.reservations()] == [1, 2, 3]
        assert [one.number for one in store.reservations(since=100.0)] == [2, 3]
        assert [one.number for one in store.reservations(owner="ann")] == [1, 2]
