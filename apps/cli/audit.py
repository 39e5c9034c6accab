"""``adon audit``: who changed what, who was refused; taken elsewhere, and checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import EXIT_OTHER, JsonFlag, client, naming, print_json, print_table, write
from apps.cli.local import Data, Store, is_local, opened

if TYPE_CHECKING:
    from adon.access.audit import ChainedEntry, Verification

app = typer.Typer(help="Audit log of changes and refusals.", no_args_is_help=True)

Actor = Annotated[str | None, typer.Option(help="Only what this user did.")]
Action = Annotated[str | None, typer.Option(help="As in flow.submit; see 'adon role list'.")]
Ended = Annotated[str | None, typer.Option(help="done, refused or failed.")]
Since = Annotated[str | None, typer.Option(help="2026-11-21T02:00:00Z")]
Until = Annotated[str | None, typer.Option(help="2026-11-21T04:00:00Z")]


OPTIONS = {name: f"--{name}" for name in ("actor", "action", "outcome", "since", "until")}
"""The API's field -> the option that it comes from."""


class Form(StrEnum):
    """What an export is."""

    CSV = "csv"
    JSONL = "jsonl"


@app.command("list")
def list_(
    ctx: typer.Context,
    actor: Actor = None,
    action: Action = None,
    outcome: Ended = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000)] = 50,
    json_: JsonFlag = False,
) -> None:
    """List lines of the audit log, the newest first."""
    from apps.cli.times import at

    with naming(OPTIONS):
        found = client(ctx).audit(_query(actor, action, outcome, since, until), limit)
    if json_:
        print_json(found)
        return
    rows = (
        (
            str(one.number),
            at(one.at),
            one.actor or "-",
            " ".join(filter(None, (one.via, one.address))) or "-",
            one.action,
            one.object,
            one.outcome + (f" x{one.times}" if one.times > 1 else ""),
            one.detail or "-",
        )
        for one in found
    )
    columns = ("Line", "When", "Who", "Via", "Action", "Object", "Outcome", "Detail")
    print_table(columns, rows, "no lines")


@app.command()
def export(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Target file; default: standard output.")] = None,
    form: Annotated[Form, typer.Option("--format", help="csv, or jsonl, which can be verified.")] = Form.CSV,
    actor: Actor = None,
    action: Action = None,
    outcome: Ended = None,
    since: Since = None,
    until: Until = None,
    json_: JsonFlag = False,
) -> None:
    """Write the audit log to a file, the oldest line first."""
    from adon.access.audit import csv_rows, json_lines

    written = csv_rows if form is Form.CSV else json_lines
    with naming(OPTIONS):
        text = "".join(written(client(ctx).audit_values(_query(actor, action, outcome, since, until))))
    if file is not None:
        write(file, text, "FILE")
    if json_:
        print_json({"format": form.value} | ({"text": text} if file is None else {"file": str(file)}))
    elif file is None:
        typer.echo(text, nl=False)


@app.command()
def verify(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Complete JSON lines export instead of the log.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE:DIGEST", help="LINE:DIGEST of an earlier run; may be repeated."),
    ] = None,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Verify the digests of the audit log.

    Exit status 1 if a line was changed, removed or inserted.  Keep the last digest elsewhere.
    """
    found: Mapping[str, Any]
    noted = dict(_noted(text) for text in expect or ())
    if file is not None:
        found = _told(_verified(file, noted))
    elif is_local(data, store):
        with opened(data, store) as access:
            found = _told(access.audit.verify(noted))
    else:
        found = _told(client(ctx).verify_audit(noted))
    if json_:
        print_json(found)
    elif found["problem"] is None:
        typer.echo(
            f"{found['lines']} lines, all as they were written; the last is {found['lines']}:{found['head']}"
        )
    else:
        typer.echo(f"the first {found['lines']} lines are unchanged; then: {found['problem']}")
    if found["problem"] is not None:
        raise typer.Exit(EXIT_OTHER)


def _query(
    actor: str | None, action: str | None, outcome: str | None, since: str | None, until: str | None
) -> dict[str, Any]:
    asked = {"actor": actor, "action": action, "outcome": outcome, "since": since, "until": until}
    return {name: value for name, value in asked.items() if value is not None}


def _noted(text: str) -> tuple[int, str]:
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise InvalidInput.of("--expect", "must be the number and digest of a line, for example 17:9f86d0…")
    return int(number), digest


def _told(verified: Verification) -> dict[str, Any]:
    return {"lines": verified.lines, "head": verified.head, "problem": verified.problem}


def _verified(file: Path, noted: dict[int, str]) -> Verification:
    from adon.access.audit import verify_chain as verify_lines

    try:
        lines = list(_lines(file, file.read_text("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.of(
            "--file", f"{file}: {getattr(error, 'strerror', None) or 'is not text'}"
        ) from error
    head = (lines[-1].number, lines[-1].digest) if lines else (0, "")
    return verify_lines((line.values for line in lines), head, noted)


def _lines(file: Path, texts: Iterable[str]) -> Iterator[ChainedEntry]:
    from adon.access.audit import AuditEntry, ChainedEntry, Outcome

    for place, text in enumerate(texts, start=1):
        try:
            body = json.loads(text)
            number, digest = body.pop("number"), body.pop("digest")
            yield ChainedEntry(number, AuditEntry(**body | {"outcome": Outcome(body["outcome"])}), digest)
        except (ValueError, TypeError, KeyError, AttributeError):
            cause = "is not a line of the audit log; expected a file of adon audit export --format jsonl"
            raise InvalidInput(Problem("--file", cause, str(file), place)) from None
