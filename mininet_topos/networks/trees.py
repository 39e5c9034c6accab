"""Campus networks of many switches in one line: a tree of switches below the edge.

``tree: [1, 3, 5]`` at the site ``nw`` is one switch ``nw-1`` below the edge, three below that (``nw-11`` to
``nw-13``) and five below each of these (``nw-111`` to ``nw-135``), with links as fast as the machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from adon.frozenmap import FrozenMap
from mininet_topos.networks.description import Description, LinkPart
from mininet_topos.networks.wrong import Wrong, refuse


def grown(described: Description) -> Description:
    """The description with every tree as switches and links.

    :raises WrongDescription: if a name that a tree needs is taken.
    """
    trees = {name: part for name, part in described.campuses.items() if part.tree}
    if not trees:
        return described
    links = dict(described.links)
    sites = dict(described.sites)
    wrong = []
    for site, part in trees.items():
        edge = part.edge or f"{site}-edge"
        branches = [(f"{site}-{digits}", above) for digits, above in _branches(part.tree, "")]
        switches = (*part.switches, *(name for name, _ in branches))
        sites[site] = part.model_copy(update={"switches": switches, "tree": ()})
        for name, above in branches:
            link = f"{name}u"
            if link in described.links:
                wrong.append(Wrong(("links", link), f"is the name of a link of the tree of site {site!r}"))
            # As it is: names that are too long are refused with all others.
            links[link] = LinkPart.model_construct(between=(name, f"{site}-{above}" if above else edge))
    refuse(wrong)
    return described.model_copy(update={"sites": FrozenMap(sites), "links": FrozenMap(links)})


def _branches(tree: tuple[int, ...], above: str) -> Iterator[tuple[str, str]]:
    """Each switch's digits with those of the one above it, rank by rank within a branch."""
    if not tree:
        return
    for number in range(1, tree[0] + 1):
        digits = f"{above}{number}"
        yield digits, above
        yield from _branches(tree[1:], digits)
