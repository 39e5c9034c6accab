"""A run's folder holds the experiment as it was read, and all that it names: enough to run it again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from adon.experiments.plan import plan
from adon.experiments.reading import Source, read
from apps.cli.experiment_files import experiment_of
from apps.experiments import around, folder
from apps.experiments.folder import Folder
from apps.experiments.named_files import named_files
from mininet_topos import networks
from tests.experiments import synthetic

MINE = """\
# Mine: with a comment,   and strange   spaces
experiment: mine
title: Everything that a file can name
network: {network}
templates: [shared/bulk.yaml, soykb, {{name: inline, weights: {{throughput: 1}}}}]
repetitions: 5
workload:
  - {{flow: a, template: bulk, from: mu, to: osu, size: 1 GB}}
"""
BULK = "# bulk\nname: bulk\nweights: {throughput: 1}\nstreams: 3\n"


@pytest.fixture
def place(tmp_path) -> Path:
    """A folder with an experiment and everything that it names."""
    place = tmp_path / "mine"
    (place / "shared").mkdir(parents=True)
    (place / "shared" / "bulk.yaml").write_text(BULK)
    (place / "network.py").write_text(f"# ours\n{networks.text('mu_osu')}")
    return place


def kept(source: Source, path: Path, **as_run: object) -> Path:
    """The folder of a run of it."""
    changed = source.changed(**as_run) if as_run else source
    its = changed.experiment
    about = replace(
        synthetic.run(only=1).about, seed=its.seed, repetitions=its.repetitions, digest=changed.digest()
    )
    return Folder(path, changed.text, about, named_files(changed)).path


def trials(source: Source):
    found = around.surroundings(around.network(source))
    source.check(found)
    return plan(source.experiment, source.templates, found).trials


@pytest.mark.parametrize("network", ["network.py", "mu_osu"])
def test_a_run_can_be_repeated_from_its_folder_alone(place, tmp_path, network):
    (place / "e.yaml").write_text(MINE.format(network=network))
    source = read(place / "e.yaml")
    path = kept(source, tmp_path / "r")
    planned, digest = trials(source), source.digest()
    text, network_text = (place / "e.yaml").read_text(), networks.text("mu_osu")
    shutil.rmtree(place)

    assert (path / "experiment.yaml").read_text() == text
    files = path / "files"
    assert (files / "templates.0.yaml").read_text() == BULK
    assert (files / "network.py").read_text().endswith(network_text)
    again = folder.document(path)
    assert (again.digest(), trials(again)) == (digest, planned)

    # And a run of that folder leaves the same folder again.
    _, once_more = experiment_of(str(path))
    assert named_files(once_more) == named_files(again)
    second = kept(once_more, tmp_path / "s")
    assert {file.name: file.read_text() for file in (second / "files").iterdir()} == {
        file.name: file.read_text() for file in files.iterdir()
    }


def test_what_is_built_in_is_kept_too(tmp_path):
    source = synthetic.source()
    path = kept(source, tmp_path / "r")
    copies = {file.name for file in (path / "files").iterdir()}
    assert copies == {"network.py", "templates.0.yaml", "templates.1.yaml"}
    # The folder's copy counts, not what ADON brings by then.
    template = path / "files" / "templates.0.yaml"
    template.write_text(template.read_text().replace("\nstreams: 1", "\nstreams: 2"))
    network = path / "files" / "network.py"
    network.write_text(network.read_text().replace('{"mu_osu":', '{"another":'))
    again = folder.document(path)
    assert (source.templates["soykb"].streams, again.templates["soykb"].streams) == (1, 2)
    assert around.network(again).name == "another"


def test_a_run_is_read_with_the_seed_and_repetitions_that_it_had(tmp_path):
    path = kept(synthetic.source(), tmp_path / "r", seed=7, repetitions=2)
    assert (path / "experiment.yaml").read_text() == synthetic.FIGURE_21
    again = folder.document(path)
    assert (again.experiment.seed, again.experiment.repetitions) == (7, 2)
    assert again.digest() == synthetic.source().changed(seed=7, repetitions=2).digest()


def test_a_folder_of_an_older_version_is_read_as_it_is(tmp_path):
    """Its templates are in its file, and its network is the one that ADON brings."""
    about = synthetic.run(only=1).about
    path = Folder(tmp_path / "r", synthetic.FIGURE_21, about).path
    assert folder.document(path).digest() == about.digest
