"""``adon audit``: export and verification of the audit log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, Problem
from apps.cli.common import EXIT_OTHER, JsonFlag, client, drop_missing, naming, print_json, write
from apps.cli.document_printer import CommandGroup, print_document
from apps.cli.local_databases import DataOption, StoreOption, is_local, open_access

if TYPE_CHECKING:
    from adon.access.audit import ChainedEntry, Verification

app = CommandGroup("Audit log of changes and refusals.")

OPTIONS = {name: f"--{name}" for name in ("actor", "action", "outcome", "since", "until")}
"""The API's field -> the option that it comes from."""


class ExportFormat(StrEnum):
    """Form of an export; only ``jsonl`` can be verified."""

    CSV = "csv"
    JSONL = "jsonl"


@app.command(formats=False)
def export(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Target file; default: standard output.")] = None,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="csv, or jsonl, which can be verified.")
    ] = ExportFormat.CSV,
    actor: Annotated[str | None, typer.Option(help="Only what this user did.")] = None,
    action: Annotated[str | None, typer.Option(help="As in flow.submit; see 'adon role list'.")] = None,
    outcome: Annotated[str | None, typer.Option(help="done, refused or failed.")] = None,
    since: Annotated[str | None, typer.Option(help="2026-11-21T02:00:00Z")] = None,
    until: Annotated[str | None, typer.Option(help="2026-11-21T04:00:00Z")] = None,
    json_: JsonFlag = False,
) -> None:
    """Write the audit log to a file, the oldest line first."""
    from adon.access.audit import csv_rows, json_lines

    written = csv_rows if form is ExportFormat.CSV else json_lines
    query = {"actor": actor, "action": action, "outcome": outcome, "since": since, "until": until}
    with naming(OPTIONS):
        text = "".join(written(client(ctx).audit_values(drop_missing(query))))
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
    data: DataOption = None,
    store: StoreOption = None,
) -> None:
    """Verify the digests of the audit log.

    Exit status 1 if a line was changed, removed or inserted.  Keep the last digest elsewhere.
    """
    expected = dict(_parse_digest(text) for text in expect or ())
    if file is not None:
        found = _verify_file(file, expected)
    elif is_local(data, store):
        with open_access(data, store) as access:
            found = access.audit.verify(expected)
    else:
        found = client(ctx).verify_audit(expected)
    if not print_document({"lines": found.lines, "head": found.head, "problem": found.problem}):
        if found.problem is None:
            typer.echo(
                f"{found.lines} lines, all as they were written; the last is {found.lines}:{found.head}"
            )
        else:
            typer.echo(f"the first {found.lines} lines are unchanged; then: {found.problem}")
    if found.problem is not None:
        raise typer.Exit(EXIT_OTHER)


def _parse_digest(text: str) -> tuple[int, str]:
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise InvalidInput.of("--expect", "must be the number and digest of a line, for example 17:9f86d0…")
    return int(number), digest


def _verify_file(file: Path, expected: dict[int, str]) -> Verification:
    from adon.access.audit import verify_chain

    try:
        lines = list(_read_lines(file, file.read_text("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.of(
            "--file", f"{file}: {getattr(error, 'strerror', None) or 'is not text'}"
        ) from error
    head = (lines[-1].number, lines[-1].digest) if lines else (0, "")
    return verify_chain((line.values for line in lines), head, expected)


def _read_lines(file: Path, texts: Iterable[str]) -> Iterator[ChainedEntry]:
    from adon.access.audit import AuditEntry, ChainedEntry, Outcome

    for place, text in enumerate(texts, start=1):
        try:
            body = json.loads(text)
            number, digest = body.pop("number"), body.pop("digest")
            yield ChainedEntry(number, AuditEntry(**body | {"outcome": Outcome(body["outcome"])}), digest)
        except (ValueError, TypeError, KeyError, AttributeError):
            cause = "is not a line of the audit log; expected a file of adon audit export --format jsonl"
            raise InvalidInput(Problem("--file", cause, str(file), place)) from None
