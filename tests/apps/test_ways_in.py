"""Results that others bring, on their real ways into a running collector, and alarms on their way out."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from adon.access.identity import Actor
from adon.access.policy import Policy
from adon.config.measurements import Notify
from adon.config.policy import MeasurementGrant
from adon.errors import InvalidInput
from apps.collector.alarm_notices import OUTBOX, telling
from apps.collector.readers import Readers, actor_of
from apps.collector.ways_in import reporters, resolver, ways_in
from measurement.archive import Archive
from measurement.model import Measurement, Metric, PathKey, to_json
from measurement.notify.subscription import Channel
from tests.apps.collecting import KEY, CollectorThread, run_collector, succeed, write_and_load
from tests.apps.edge import eventually
from tests.measurement.notify.alarming import alarm, subscription
from tests.measurement.notify.standin_smtp import running
from tests.measurement.sources.messages import message
from tests.measurement.standin_opensearch import OpenSearch, logged
from tests.measurement.standin_web import serving
from tests.support.refusals import refused
from tests.support.webhook_receiver import SECRET, WebhookReceiver, is_signed

MU, OSU = "10.1.0.11", "10.2.0.11"
TOKEN = "token-of-mu"  # noqa: S105 - of this test


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[CollectorThread]:
    with run_collector(tmp_path / "m.db", succeed) as known:
        eventually(lambda: known.collector.leads)
        yield known


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def known_points(folder: Path) -> dict[str, Any]:
    (folder / "points.toml").write_text(
        f'[[known]]\nname = "mu"\ntoken_sha256 = "{digest(TOKEN)}"\nmay = ["archive"]\n'
    )
    return {"port": 0, "trust": "points.toml"}


def kept(folder: Path) -> list[Measurement]:
    with Archive(folder / "m.db", readonly=True) as archive:
        return [each for each in archive.query() if "ps-a.example.net/pscheduler/tasks/1111" in each.source]


def rtt(**changes: Any) -> dict[str, Any]:
    now = float(int(time.time()))
    spec = {"source": MU, "dest": OSU, "count": 3}
    return message(spec=spec, ended=now - 1, participants=[MU], **changes)


def test_a_pushed_result_is_answered_when_it_is_in_the_archive(
    collector: CollectorThread, tmp_path: Path
) -> None:
    settings = write_and_load(tmp_path, ingest=known_points(tmp_path))
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with ways_in(settings, tmp_path, collector.inbox) as url:
        body = rtt()
        answer = requests.post(f"{url}/results", json=body, headers=bearer, timeout=60)
        assert answer.status_code == 200
        assert answer.json()["new"] == len(kept(tmp_path)) == 2
        again = requests.post(f"{url}/results", json=body, headers=bearer, timeout=60)
        assert (again.json()["new"], again.json()["duplicates"]) == (0, 2)
        nobody = requests.post(f"{url}/results", json=rtt(), timeout=60)
        assert nobody.status_code == 401
    assert {each.key for each in kept(tmp_path)} == {KEY}
    assert {each.metric for each in kept(tmp_path)} == {Metric.RTT, Metric.LOSS}


def test_changed_trust_file_replaces_tokens_and_one_with_an_error_does_not(
    collector: CollectorThread, tmp_path: Path
) -> None:
    settings = write_and_load(tmp_path, ingest=known_points(tmp_path))
    file = tmp_path / "points.toml"
    first = file.read_text()

    def status(token: str) -> int:
        bearer = {"Authorization": f"Bearer {token}"}
        return requests.post(f"{url}/results", json=rtt(), headers=bearer, timeout=60).status_code

    with ways_in(settings, tmp_path, collector.inbox) as url:
        assert status(TOKEN) == 200
        file.write_text(first.replace(digest(TOKEN), "not a digest"))
        assert status(TOKEN) == 200
        file.write_text(first.replace(digest(TOKEN), digest("new")))
        assert (status(TOKEN), status("new")) == (401, 200)
        file.unlink()
        assert status("new") == 200


def test_pushed_throughput_with_a_wrong_interval_is_archived(
    collector: CollectorThread, tmp_path: Path
) -> None:
    settings = write_and_load(tmp_path, ingest=known_points(tmp_path))
    intervals = [{"summary": {"start": 0, "end": 1, "throughput-bits": "fast"}}]
    result = {"succeeded": True, "summary": {"summary": {"throughput-bits": 941e6}}, "intervals": intervals}
    spec = {"source": MU, "dest": OSU, "duration": "ten"}
    body = message("throughput", result, spec, ended=float(int(time.time())) - 1)
    with ways_in(settings, tmp_path, collector.inbox) as url:
        answer = requests.put(f"{url}/results", json=body, auth=("mu", TOKEN), timeout=60)
    assert (answer.status_code, answer.json()["new"]) == (200, 1)
    (value,) = kept(tmp_path)
    assert (value.value, value.parameters["ignored"]) == (941e6, ["duration", "intervals"])


@pytest.mark.slow
def test_ten_thousand_results_of_an_archiver_are_all_kept_in_bounded_memory(
    collector: CollectorThread, tmp_path: Path
) -> None:
    collector.told.send = lambda _kind, _payload: None  # type: ignore[method-assign]  # else its list grows
    settings = write_and_load(tmp_path, ingest=known_points(tmp_path))
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def send(url: str, count: int) -> list[tuple[int, int]]:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)  # kept alive
        answers = []
        for _ in range(count):
            connection.request("PUT", "/results", json.dumps(rtt()), headers)
            answer = connection.getresponse()
            answers.append((answer.status, json.loads(answer.read()).get("new", 0)))
        connection.close()
        return answers

    with ways_in(settings, tmp_path, collector.inbox) as url, ThreadPoolExecutor(8) as senders:
        assert url is not None
        process = psutil.Process()
        assert set(send(url, 1000)) == {(200, 2)}  # what is made once is there now
        before = process.memory_info().rss
        sent = [answer for found in senders.map(send, [url] * 8, [1125] * 8) for answer in found]
        grown = process.memory_info().rss - before
    assert (len(sent), set(sent)) == (9000, {(200, 2)})
    with Archive(tmp_path / "m.db", readonly=True) as archive:
        assert sum("tasks/1111" in one.source for one in archive.query(limit=50_000)) == 20_000
    assert grown < 16 * 2**20


def test_an_archive_is_read_and_what_is_known_is_not_kept_again(
    collector: CollectorThread, tmp_path: Path
) -> None:
    body = rtt()
    stand_in = OpenSearch([logged(body, MU, OSU)])
    with serving(stand_in.answer) as url:
        wanted = [{"kind": "opensearch", "url": f"{url}/opensearch", "period": "1 s"}]
        settings = write_and_load(tmp_path, archives=wanted)
        with ways_in(settings, tmp_path, collector.inbox):
            eventually(lambda: len(kept(tmp_path)) == 2)
            rounds = len(stand_in.asked)
            eventually(lambda: len(stand_in.asked) >= rounds + 8)  # two more rounds of the four pairs
    assert len(kept(tmp_path)) == 2


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"ingest": {"port": 0, "trust": "nowhere.toml"}}, "measurements.ingest.trust"),
        ({"rabbitmq": {"url_file": "nowhere", "queue": "q"}}, "measurements.rabbitmq.url_file"),
        ({"rabbitmq": {"url_file": "amqp.url", "queue": "q"}}, "measurements.rabbitmq"),
        (
            {"archives": [{"kind": "opensearch", "url": "https://127.0.0.1:9/x", "verify": "no.pem"}]},
            "measurements.archives",
        ),
    ],
)
def test_what_cannot_be_used_is_named_before_anything_starts(
    collector: CollectorThread, tmp_path: Path, keys: Mapping[str, Any], field: str
) -> None:
    (tmp_path / "amqp.url").write_text("gopher://x")
    settings = write_and_load(tmp_path, **keys)
    with (
        refused(InvalidInput, field),
        ways_in(settings, tmp_path, collector.inbox),
    ):
        pass


def test_a_path_is_known_by_the_addresses_that_are_pinned_to_it(tmp_path: Path) -> None:
    resolve = resolver(write_and_load(tmp_path))
    assert resolve(MU, OSU) == KEY
    assert resolve("10.2.0.12", "10.1.0.12") == PathKey("internet", "osu", "mu")
    assert resolve(MU, "10.2.0.12") is None
    assert reporters(write_and_load(tmp_path))["mu"].names == {"10.1.0.10", "10.1.0.11", "10.1.0.12"}


def test_an_alarm_reaches_who_has_subscribed_signed(tmp_path: Path) -> None:
    receiver = WebhookReceiver()
    (tmp_path / "secret").write_bytes(SECRET)
    wanted = Notify(webhook_secret_file="secret", webhook_hosts=("127.0.0.1",))  # noqa: S106
    target = f"http://127.0.0.1:{receiver.port}/alarms"
    with running(receiver), telling(wanted, tmp_path, tmp_path, lambda _: None, lambda _, __: True) as told:
        told.subscribe([subscription(channel=Channel.WEBHOOK, target=target)])
        told.offer(alarm())
        eventually(lambda: receiver.calls)
        # Its end before the receiver's answer is kept would have the message sent again at the next start.
        eventually(lambda: json.loads((tmp_path / OUTBOX).read_bytes())["s-1"]["waiting"] == [])
    path, headers, body = receiver.calls[0]
    assert path == "/alarms"
    assert is_signed(SECRET, headers, body)
    assert json.loads((tmp_path / OUTBOX).read_bytes())["s-1"]["waiting"] == []


def test_what_could_not_be_sent_waits_for_the_next_start(tmp_path: Path) -> None:
    receiver = WebhookReceiver()
    receiver.status = 503
    wanted = Notify(webhook_hosts=("127.0.0.1",))
    mine = subscription(channel=Channel.WEBHOOK, target=f"http://127.0.0.1:{receiver.port}/alarms")
    with running(receiver), telling(wanted, tmp_path, tmp_path, lambda _: None, lambda _, __: True) as told:
        told.subscribe([mine])
        told.offer(alarm())
        eventually(lambda: receiver.calls)
        eventually(lambda: json.loads((tmp_path / OUTBOX).read_bytes())["s-1"]["attempts"] == 1)
    held = json.loads((tmp_path / OUTBOX).read_bytes())
    assert len(held["s-1"]["waiting"]) == 1
    (tmp_path / OUTBOX).write_text("{damaged")
    with telling(wanted, tmp_path, tmp_path, lambda _: None, lambda _, __: True):
        pass  # said in the log, and begun anew


def test_who_may_not_read_a_series_is_not_told_of_it(tmp_path: Path) -> None:
    def now(actor: Actor) -> Actor | None:
        return actor

    readers = Readers(
        Policy([MeasurementGrant.model_validate({"may": "read", "who": ["ann"], "metrics": ["rtt"]})]), now
    )
    document = {**to_json(subscription(owner="ann")), "reader": {"roles": ["researcher"], "groups": []}}
    (mine,) = readers.set_subscriptions([document])
    found = alarm()
    about_rtt = replace(found, series=found.series._replace(metric="rtt"))
    about_loss = replace(found, series=found.series._replace(metric="loss"))
    assert readers.may_hear(mine, about_rtt)
    assert not readers.may_hear(mine, about_loss)
    readers.set_subscriptions([])
    assert not readers.may_hear(mine, about_rtt)
    for wrong in ({}, {"reader": None}, {"reader": {"roles": 3}}):
        with refused(InvalidInput, "reader"):
            actor_of({**to_json(mine), **wrong})
