"""Edge colouring: proper, and within the bounds of Vizing and König; beside all of small graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.health.colouring import coloured, degree

Edges = list[tuple[int, int]]


@st.composite
def multigraphs(draw: st.DrawFn, ends: int = 8, most: int = 40) -> Edges:
    pairs = st.tuples(st.integers(0, ends - 1), st.integers(0, ends - 1)).filter(lambda one: one[0] != one[1])
    return draw(st.lists(pairs, max_size=most))


def is_proper(edges: Sequence[tuple[object, object]], classes: Sequence[Sequence[int]]) -> bool:
    for its in classes:
        ends = [end for number in its for end in edges[number]]
        if len({*ends}) < len(ends):
            return False
    return sorted(number for its in classes for number in its) == list(range(len(edges)))


def multiplicity(edges: Edges) -> int:
    return max(Counter(frozenset(edge) for edge in edges).values(), default=0)


def fewest(edges: Edges) -> int:
    """The chromatic index, by trying."""

    def possible(number: int, colours: int, taken: tuple[frozenset[int], ...]) -> bool:
        if number == len(edges):
            return True
        one, other = edges[number]
        used = sum(1 for its in taken if its)
        for colour in range(min(colours, used + 1)):
            if one not in taken[colour] and other not in taken[colour]:
                following = (*taken[:colour], taken[colour] | {one, other}, *taken[colour + 1 :])
                if possible(number + 1, colours, following):
                    return True
        return False

    colours = degree(edges)
    while not possible(0, colours, (frozenset(),) * colours):
        colours += 1
    return colours


@settings(max_examples=400)
@given(multigraphs())
def test_it_is_proper_and_within_vizings_bound(edges: Edges) -> None:
    classes = coloured(edges)
    assert is_proper(edges, classes)
    assert degree(edges) <= len(classes) <= degree(edges) + multiplicity(edges)


@settings(max_examples=200)
@given(multigraphs(ends=12, most=60))
def test_a_simple_graph_needs_one_more_at_most(edges: Edges) -> None:
    simple = list({frozenset(edge): edge for edge in edges}.values())
    assert len(coloured(simple)) <= degree(simple) + 1


@settings(max_examples=200)
@given(multigraphs(ends=10, most=60))
def test_a_bipartite_graph_needs_no_more_than_its_degree(edges: Edges) -> None:
    both = [(("out", one), ("in", other)) for one, other in edges]
    classes = coloured(both)
    assert is_proper(both, classes)
    assert len(classes) == degree(both)


@settings(max_examples=100, deadline=None)
@given(multigraphs(ends=5, most=8))
def test_it_is_seldom_worse_than_the_best_and_never_by_more_than_the_bound(edges: Edges) -> None:
    best = fewest(edges)
    assert best <= len(coloured(edges)) <= max(best, degree(edges) + multiplicity(edges))


@pytest.mark.parametrize(
    ("edges", "colours"),
    [
        ([], 0),
        ([(0, 1)], 1),
        ([(0, 1)] * 5, 5),
        ([(0, 1), (1, 2), (2, 0)], 3),  # an odd cycle
        ([(0, 1), (1, 2), (2, 3), (3, 0)], 2),
        ([(0, 1), (1, 2), (2, 0)] * 3, 9),  # Shannon's triangle: 3/2 times the degree
        ([(0, number) for number in range(1, 9)], 8),
    ],
)
def test_graphs_whose_number_is_known(edges: Edges, colours: int) -> None:
    assert len(coloured(edges)) == colours


def test_petersens_graph_needs_four() -> None:
    edges = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
    edges += [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    assert len(coloured(edges)) == 4


def test_an_edge_has_two_ends() -> None:
    with pytest.raises(ValueError, match=r"edges\.1: a is both ends"):
        coloured([("a", "b"), ("a", "a")])
