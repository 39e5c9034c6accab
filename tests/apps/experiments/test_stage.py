"""What a trial needs of ADON, where ADON is stopped, dies, or loses a part; ADON is a stand-in."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from adon.errors import Unavailable
from adon.experiments.events import Controller
from apps.experiments import stage
from apps.experiments.measuring import await_first
from apps.experiments.stage import Staged
from measurement.model import PathKey
from mininet_topos.networks.configuration import DEFAULT_SCHEDULE
from mininet_topos.serving import Adon
from tests.apps.experiments.loopback import Bed, file, trials
from tests.support.refusals import refused

(TRIAL,) = trials(file("[{flow: a, template: soykb, from: mu, to: osu, size: 100 MB}]"))
DIED = "ERROR adon.serve event=died part=controller status=-9 again_in_s=0.5\n"


class StandIn(Adon):
    """Its process is a mark, its log is written here."""

    def start(self):
        self.process = SimpleNamespace(poll=lambda: None)

    def stop(self):
        self.process = None

    kill = stop

    def says(self, text: str) -> None:
        with self.log.open("a") as log:
            log.write(text)


class Client:
    """Nobody answers it: each question takes half a minute."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked")


@pytest.fixture
def bed(tmp_path):
    made = Bed(tmp_path)
    made.pid = os.getpid()
    return made


@pytest.fixture
def adon(bed, tmp_path):
    made = StandIn(bed, tmp_path, "", SimpleNamespace())
    made.says("")
    made.start()
    return made


def test_a_part_that_dies_is_seen_although_it_is_started_again(bed, adon):
    staged = Staged(bed, TRIAL, adon)
    staged.healthy()
    adon.says(DIED)
    with refused("not-running"):
        staged.healthy()


@pytest.mark.parametrize("order", [Controller.STOP, Controller.KILL])
def test_what_the_file_orders_is_no_death(bed, adon, order):
    staged = Staged(bed, TRIAL, adon)
    staged.control(order)
    adon.says(DIED)
    staged.healthy()
    staged.control(Controller.START)
    staged.healthy()
    adon.says(DIED)
    with refused("not-running"):
        staged.healthy()


def test_adon_that_dies_while_a_trial_is_prepared_is_said_to_have_died_and_is_not_asked(bed, adon):
    adon.stop()
    adon.says("it was killed\n")
    with refused("not-running"):
        stage._await_switches(Client(), adon, bed)
    with refused("not-running"):
        await_first(Client(), adon, DEFAULT_SCHEDULE, bed.network)


def test_a_question_that_fails_because_adon_has_died_says_so(adon):
    def fail() -> None:
        with stage._said_if_it_ends(adon):
            raise Unavailable("does not answer in time")

    with refused("unavailable"):
        fail()
    adon.stop()
    adon.says("it was killed\n")
    with refused("not-running"):
        fail()


def test_while_adon_is_stopped_by_order_no_test_is_asked_for(bed, adon):
    staged = Staged(bed, TRIAL, adon, Client())
    staged.control(Controller.STOP)
    assert stage._measure(staged)(PathKey("al2s", "mu", "osu"), "rtt") is None
