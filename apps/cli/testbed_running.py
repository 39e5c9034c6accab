"""``adon testbed up|status|down``: a test network that stays while people look into it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, print_json, print_table

if TYPE_CHECKING:
    from mininet_topos.old_platforms.bed import Bed
    from mininet_topos.standing.asked import Asked, Standing

ADON = {True: "answers", False: "does not answer", None: "none"}

Tell = Callable[[str], None]


def up(
    network: Annotated[str, typer.Argument(help="One of adon testbed list, or a Python file.")] = "mu_osu",
    name: Annotated[
        str | None,
        typer.Option(help="What it is called: several stand side by side (default: as the network)."),
    ] = None,
    platform: Annotated[
        str, typer.Option(help="auto, host, host-kernel, host-user, or guest, which needs no root.")
    ] = "auto",
    scale: Annotated[
        float | None, typer.Option(help="Rates are divided by it (default: the topology's own).")
    ] = None,
    no_adon: Annotated[
        bool, typer.Option("--no-adon", help="The network alone: its edges wait for a controller.")
    ] = False,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay until Ctrl-C; do not leave it in the background.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Bring a test network up, with ADON on it; it stays until adon testbed down."""
    from mininet_topos.standing import found
    from mininet_topos.standing.asked import Asked

    asked = Asked(name or Path(network).stem.lower(), network, scale, platform, not no_adon)
    found.require_free(asked.name)
    began = time.monotonic()

    def tell(text: str) -> None:
        typer.echo(f"{time.monotonic() - began:6.1f} s  {text}", err=json_)

    if foreground:
        _stay(asked, tell, as_json=json_)
        return
    from mininet_topos import old_platforms as platforms
    from mininet_topos.standing.background import brought_up

    standing = brought_up(asked, tell)
    _introduce(standing, platforms.running(standing.folder), as_json=json_)


def _stay(asked: Asked, tell: Tell, *, as_json: bool) -> None:
    from mininet_topos.interruption import sigterm_interrupts
    from mininet_topos.standing import owner

    try:
        with sigterm_interrupts(), owner.standing(asked, tell) as (made, bed):
            _introduce(made, bed, as_json=as_json)
            tell("it stays until Ctrl-C")
            raise typer.Exit(owner.watch(bed))
    except KeyboardInterrupt:
        tell("everything is removed")


def _introduce(standing: Standing, bed: Bed, *, as_json: bool) -> None:
    """What is there, and what to do next."""
    if as_json:
        print_json(standing.document())
        return
    for label, text in _facts(standing, bed):
        typer.echo(f"{label:>10}  {text}")


def _facts(standing: Standing, bed: Bed) -> list[tuple[str, str]]:
    """What is said of it, each with its label."""
    hosts = [host.name for host in bed.network.topology.machines]
    facts = [
        ("network", f"{standing.network} at 1:{standing.scale:g}; hosts {' '.join(hosts)}"),
        ("platform", f"{standing.platform}: {standing.emulation}"),
        ("folder", str(standing.folder)),
    ]
    if standing.url is not None:
        facts += [
            ("dashboard", standing.url),
            (
                "tokens",
                f"{standing.tokens}/*.token, one for each role; to sign in, and for the command line:",
            ),
            ("", f"export ADON_URL={standing.url} ADON_TOKEN_FILE={standing.tokens}/admin.token"),
        ]
    dtn = f"{standing.name} {bed.network.dtns[0].host if bed.network.dtns else hosts[0]}"
    pinging = [f"ping {standing.name}"] if standing.url is not None else []
    first, *others = (*pinging, f"shell {dtn}", f"shell {dtn} -- ip route", f"down {standing.name}")
    return [*facts, ("next", f"adon testbed {first}"), *(("", f"adon testbed {one}") for one in others)]


def down(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which; need not be said if only one stands.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All of yours.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Take a test network down: nothing of it is left."""
    from mininet_topos.standing import found

    if all_ and name is not None:
        raise InvalidInput.of("name", "say either which, or --all")
    which = found.standing() if all_ else [found.one(name)]
    for each in which:
        found.taken_down(each)
        typer.echo(f"{each.name} is gone", err=json_)
    if json_:
        print_json([each.name for each in which])


def status(json_: JsonFlag = False) -> None:
    """The test networks that stand, and whether the ADON of each answers."""
    from mininet_topos.standing import found
    from mininet_topos.standing.answering import answering

    there = found.standing()
    answers = answering(there)
    if json_:
        found_ = zip(there, answers, strict=True)
        print_json([{**one.document(), "adon_answers": answer} for one, answer in found_])
        return
    rows = (
        (
            one.name,
            f"{one.network} 1:{one.scale:g}",
            one.platform,
            _age(one.up_at),
            ADON[answer],
            one.url or "-",
            str(one.folder),
        )
        for one, answer in zip(there, answers, strict=True)
    )
    columns = ("Name", "Network", "Platform", "Up for", "ADON", "Dashboard", "Folder")
    print_table(columns, rows, "none stands; bring one up with: adon testbed up mu_osu")
    for one, answer in zip(there, answers, strict=True):
        if answer is False:
            typer.echo(f"{one.name}: its ADON does not answer; what it said last: {one.log}", err=True)


def _age(since: float) -> str:
    minutes, seconds = divmod(int(time.time() - since), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
