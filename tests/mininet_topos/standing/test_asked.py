from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput, Unavailable
from mininet_topos.standing.asked import FILE, Asked, Standing, read, write

STANDING = st.builds(
    Standing,
    name=st.text(),
    folder=st.just(Path("/nowhere")),
    owner=st.integers(1),
    network=st.text(),
    scale=st.floats(1, 1e3),
    platform=st.text(),
    why=st.text(),
    emulation=st.text(),
    url=st.none() | st.text(),
    began_at=st.floats(0, 1e10),
    up_at=st.floats(0, 1e10),
)


@given(standing=STANDING)
def test_what_stands_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, standing: Standing
) -> None:
    from dataclasses import replace

    here = replace(standing, folder=tmp_path_factory.mktemp("run"))
    write(here)
    assert read(here.folder) == here


@pytest.mark.parametrize("text", [None, "{", "[]", '{"name": "x"}'])
def test_where_nothing_stands(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / FILE).write_text(text)
    with pytest.raises(Unavailable, match="no testbed stands in"):
        read(tmp_path)


def test_what_is_asked_for_is_found_or_refused(tmp_path: Path) -> None:
    assert Asked("a", "mu_osu", scale=50).described().scale == 50
    with pytest.raises(InvalidInput, match="mu_osu"):
        Asked("a", "mu_usu").described()
    with pytest.raises(InvalidInput):
        Asked("a", str(tmp_path / "none.yaml")).described()
    with pytest.raises(InvalidInput, match=r"links.line.goodput: at 1:0.5, on the wire"):
        Asked("a", "mu_osu", scale=0.5).described()
