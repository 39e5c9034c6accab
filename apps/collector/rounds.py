"""Rounds of health, run now and then: kept as studies, and told as metrics of paths.

A thread of its own probes and waits; what comes of a round is kept by the collector's thread, as everything
else is.  Only the collector that measures runs rounds.  The last rounds and what the markers have learnt are
in a folder, so that a restart does not make everything look new.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adon.config import Configuration
from adon.config.instances import HealthRounds
from adon.errors import InvalidInput
from adon.studies.model import StudyKind
from adon.studies.packing import packed
from adon.studies.reading import study_of
from adon.studies.rounds import in_short
from adon.timestamps import boot_time
from apps.collector.collector import Inbox
from apps.collector.keeper import Value
from apps.collector.studies import Studies
from measurement.anomaly.threshold import Threshold
from measurement.archive import Appended
from measurement.errors import ArchiveError, LeaseLost
from measurement.health.history import History
from measurement.health.path_metrics import FIRED, of_paths
from measurement.health.profiles import mesh, sample
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import REMEMBERED, Judged
from measurement.health.round_pairs import Asking, health_round
from measurement.health.round_runner import Running
from measurement.health.round_schedule import Limits
from measurement.instances import Instance
from measurement.model import Series, to_json
from measurement.probes.agent_client import AgentClient, ConnectAgent
from measurement.probes.secure_channel import read_key

LOG = logging.getLogger(__name__)
FOLDER = "rounds"
"""In the data folder: the last rounds, with their samples."""
LOOK_EVERY = 1.0
WHO = "collector"
ANY_FIRED = Threshold(high=0.5, samples=1)
"""One marker is an alarm, a round without any is its end."""


def limits(settings: HealthRounds) -> dict[Series, Threshold]:
    """For the watch: the series in which each marker that fires is an alarm."""
    return {Series(*key, FIRED): ANY_FIRED for key in settings.paths().values()}


class Rounds:
    """The thread; see the module.

    :param keep: has values kept, and waits for it.
    :param put: has a round kept as a study; its id.
    :param leads: whether this collector is the one that measures.
    :param connect: to an instance's agent.
    :param clock: seconds; never falls.
    """

    def __init__(
        self,
        configuration: Configuration,
        settings: HealthRounds,
        history: History,
        connect: ConnectAgent,
        keep: Callable[[Sequence[Value]], Appended],
        put: Callable[[RoundRecord], str],
        leads: Callable[[], bool],
        clock: Callable[[], float] = boot_time,
    ) -> None:
        self._settings = settings
        self._paths = settings.paths()
        keys = frozenset(self._paths.values())
        tested = configuration.measurements.throughput
        self._throughput = keys - tested if settings.throughput else frozenset()
        self._history = history
        self._connect = connect
        self._keep = keep
        self._put = put
        self._leads = leads
        self._clock = clock
        self._stopping = threading.Event()
        self._round: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread = threading.Thread(target=self._run, name="rounds", daemon=True)

    def start(self) -> None:
        """Begin: the first round at once, if this collector measures."""
        self._thread.start()

    def stop(self) -> None:
        """End; a round under way is left, and not kept."""
        self._stopping.set()
        running = self._round
        if running is not None:
            loop, stop = running
            try:
                loop.call_soon_threadsafe(stop.set)
            except RuntimeError:
                LOG.info("event=round_over_already")  # the loop was closed in between
        self._thread.join()

    def round(self) -> str | None:
        """Run one round, and keep what came of it; the study's id, None if it was stopped.

        :raises ArchiveError: when it cannot be kept.
        :raises OSError, ValueError: for rounds before that cannot be read, or written.
        """
        before = self._history.latest(REMEMBERED)
        judged = asyncio.run(self._probe_round(before))
        record = judged.record
        if self._stopping.is_set():
            return None
        self._history.keep(record)
        self._history.keep_tolerances(judged.tolerances)
        self._forget()
        name = self._put(record)
        self._keep(of_paths(record, self._paths, f"study:{name}", self._throughput))
        LOG.info(
            "event=round study=%s seconds=%.1f pairs=%d of=%d failed=%d fired=%d",
            name,
            record.ended - record.began,
            len(record.found),
            len(record.planned),
            len(record.failures),
            sum(map(len, record.fired.values())),
        )
        return name

    async def _probe_round(self, before: Sequence[RoundRecord]) -> Judged:
        stop = asyncio.Event()
        self._round = asyncio.get_running_loop(), stop
        if self._stopping.is_set():
            stop.set()
        instances = self._settings.members
        zones = {one.name: one.zone for one in instances}
        pairs = mesh([one.name for one in instances])
        asking = Asking(
            pairs,
            verified=sample(pairs, zones, self._settings.verified, self._settings.seed),
            max_age=self._settings.renew,
        )
        how = Running(limits=Limits(between_zones=self._settings.between_zones, zones=zones))
        try:
            return await health_round(
                asking, instances, self._connect, how, before, self._history.tolerances(), stop=stop
            )
        finally:
            self._round = None

    def _forget(self) -> None:
        for file in self._history.files()[:-REMEMBERED]:
            file.unlink()

    def _run(self) -> None:
        began, pause = float("-inf"), 0.0
        while not self._stopping.wait(pause):
            now = self._clock()
            # Of rounds that were missed none is made up for.
            left = self._settings.every - (now - began)
            pause = min(LOOK_EVERY, left) if left > 0 else LOOK_EVERY
            if left > 0 or not self._leads():
                continue
            began = now
            try:
                self.round()
            except LeaseLost:
                LOG.warning("event=round_not_kept cause=another_collector_measures")
            except (ArchiveError, OSError, ValueError) as error:
                LOG.warning('event=round_not_kept cause="%s"', error)
            except Exception:  # a thread's outermost guard: the next round is run all the same
                LOG.exception("event=fault thread=rounds")


@contextmanager
def running(
    configuration: Configuration,
    folder: Path,
    data: Path,
    inbox: Inbox,
    studies: Studies,
    leads: Callable[[], bool],
) -> Iterator[None]:
    """Run rounds, if any are configured, until the end of the context.

    :param folder: which the key's file is relative to.
    :raises InvalidInput: if the key cannot be read.
    """
    settings = configuration.health
    if settings is None:
        yield
        return
    key = _key(folder / settings.key_file)

    async def connect(instance: Instance) -> AgentClient:
        return await AgentClient.connect(instance, key)

    def put(record: RoundRecord) -> str:
        document = to_json(in_short(record))
        study = study_of(StudyKind.HEALTH_ROUND, document, "", WHO, record.ended)
        return inbox.ask(lambda: studies.put(study, packed(document), stays=False)).id

    rounds = Rounds(configuration, settings, History(data / FOLDER), connect, inbox.keep, put, leads)
    rounds.start()
    try:
        yield
    finally:
        rounds.stop()


def _key(file: Path) -> bytes:
    try:
        return read_key(file)
    except (OSError, ValueError) as error:
        raise InvalidInput.of("health.key_file", error) from None
