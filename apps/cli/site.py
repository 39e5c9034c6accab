"""``adon site`` and ``adon job``: compute sites as they stand, and programs that run there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import completing as offered
from apps.cli.arguments import JobId, SiteName
from apps.cli.common import (
    JsonFlag,
    QuietFlag,
    client,
    given,
    naming,
    option,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from adon.api.sites import ComputeSiteView, JobView, WaitView

sites = typer.Typer(help="Compute sites.", no_args_is_help=True)
jobs = typer.Typer(help="Jobs at compute sites.", no_args_is_help=True)


@sites.command("list")
def list_sites(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List compute sites with state, free resources and T_q."""
    found = client(ctx).sites()
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.name,
            one.site,
            one.adapter or "-",
            _state(one),
            _free(one),
            _first_wait(one),
            _word(one),
        )
        for one in found
    )
    columns = ("Site", "Campus", "Adapter", "State", "Free", "T_q", "Its word")
    print_table(columns, rows, "no compute site is configured")


@sites.command("show")
def show_site(ctx: typer.Context, name: SiteName, json_: JsonFlag = False) -> None:
    """Show a compute site, its T_q, predictions and observations."""
    site = client(ctx).site(name)
    if json_:
        print_json(site)
        return
    for line in _told(site):
        typer.echo(line)
    rows = (
        (
            str(wait.nodes),
            str(wait.cores),
            _size(wait.memory_bytes) if wait.memory_bytes else "-",
            _seconds(wait.said_seconds),
            _counted(wait),
            wait.why or "-",
        )
        for wait in site.waits
    )
    configured = f"T_q as configured: {_first_wait(site)}"
    nothing = configured if site.state == "configured" else "no T_q is known"
    print_table(("Nodes", "Cores", "Memory", "T_q said", "T_q counted", "Why"), rows, nothing)


@jobs.command("submit")
def submit(
    ctx: typer.Context,
    site: SiteName,
    job: Annotated[str, typer.Argument(help="Program in the site's configuration.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the program.")] = None,
    size: Annotated[str | None, typer.Option(help="The data it processes, such as '25 GB'.")] = None,
    template: Annotated[
        str | None, typer.Option(help="Template of the data.", autocompletion=offered.templates)
    ] = None,
    quiet: QuietFlag = False,
    json_: JsonFlag = False,
) -> None:
    """Run a configured program at a compute site.

    The command prints the id of the job and does not wait for its end.
    """
    from adon.units import parse_size

    option(size, parse_size, "--size")
    wish = {"site": site, "job": job, "arguments": arguments or [], "size": size, "template": template}
    names = {"site": "SITE", "job": "JOB", "arguments": "WORDS", "size": "--size", "template": "--template"}
    with naming(names):
        made = client(ctx).submit_job(given(wish))
    if json_:
        print_json(made)
    elif quiet:
        typer.echo(made.id)
    else:
        typer.echo(f"{made.id} {made.state}: {made.reason}")


@jobs.command("list")
def list_jobs(
    ctx: typer.Context,
    site: Annotated[str | None, typer.Option(help="Only of this site.", autocompletion=offered.sites)] = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    json_: JsonFlag = False,
) -> None:
    """List jobs, the newest first."""
    found = client(ctx).jobs(site, limit)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            one.state,
            one.site,
            one.job,
            one.requester,
            _seconds(one.waited_seconds),
            _seconds(one.ran_seconds),
            one.reason,
        )
        for one in found
    )
    print_table(("Job", "State", "Site", "Program", "By", "Waited", "Ran", "Why"), rows, "there is no job")


@jobs.command("show")
def show_job(
    ctx: typer.Context,
    job: JobId,
    json_: JsonFlag = False,
) -> None:
    """Show a job: state, predicted and observed waiting time."""
    found = client(ctx).job(job)
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} {found.state}: {found.reason}")
    for name, value in _facts(found):
        typer.echo(f"  {name:<12} {value}")


@jobs.command("cancel")
def cancel(ctx: typer.Context, job: JobId, json_: JsonFlag = False) -> None:
    """Cancel a job.

    The job ends when its site reports the end.
    """
    found = client(ctx).cancel_job(job)
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.id} {found.state}: {found.reason}")


def _facts(job: JobView) -> Iterator[tuple[str, str]]:
    from apps.cli.times import at

    words = " ".join((job.job, *job.arguments))
    yield (
        "program",
        f"{words} at {job.site}" + (f" (its job {job.site_job})" if job.site_job else ""),
    )
    yield "asked for", f"{at(job.asked_at)} by {job.requester}"
    memory = f", {_size(job.memory_bytes)}" if job.memory_bytes else ""
    limit = _seconds(job.time_limit_seconds)
    yield "resources", f"{job.nodes} nodes, {job.cores} cores{memory}, at most {limit}"
    yield "T_q", f"{_seconds(job.predicted_seconds)} predicted, {_seconds(job.waited_seconds)} observed"
    yield "ran", _seconds(job.ran_seconds)
    if job.size_bytes is not None:
        rate = "-" if job.node_rate_bps is None else f"{_rate(job.node_rate_bps)} per node"
        yield "data", f"{_size(job.size_bytes)}, {rate}"
    if job.exit_status is not None:
        yield "status", str(job.exit_status)


def _state(site: ComputeSiteView) -> str:
    if site.state != "silent":
        return site.state
    from apps.cli.times import at

    since = "" if site.silent_since is None else f" since {at(site.silent_since)}"
    return f"silent{since}: {site.why}"


def _free(site: ComputeSiteView) -> str:
    there = site.capacity
    return "-" if there is None else f"{there.cores_free} of {there.cores} cores"


def _first_wait(site: ComputeSiteView) -> str:
    if site.state == "configured":
        return "no resource for us" if site.queue_wait_seconds is None else _seconds(site.queue_wait_seconds)
    if site.state == "silent" or not site.waits:
        return "-"
    return _counted(site.waits[0])


def _word(site: ComputeSiteView) -> str:
    known = site.honesty
    return "-" if not known.jobs else f"x {known.factor:.2f} ({known.jobs} jobs)"


def _told(site: ComputeSiteView) -> Iterator[str]:
    adapter = site.adapter or "none (configured numbers)"
    yield f"{site.name} at {site.site}: {_state(site)}, adapter {adapter}"
    there, known = site.capacity, site.honesty
    if there is not None:
        parts = [f"{_some(there.nodes_free)} of {there.nodes} nodes", f"{_free(site)}"]
        if there.memory_bytes is not None:
            parts.append(f"{_size(there.memory_free_bytes)} of {_size(there.memory_bytes)} of memory")
        if there.gpus is not None:
            parts.append(f"{_some(there.gpus_free)} of {there.gpus} GPUs")
        yield f"  free: {', '.join(parts)}; jobs: {there.jobs_running} run, {there.jobs_waiting} wait"
    if known.jobs:
        said, waited = _seconds(known.said_seconds), _seconds(known.waited_seconds)
        stretched = f"x {known.factor:.2f} after {known.jobs} jobs"
        yield f"  its word: {stretched}; of the last it said {said}, it was {waited}"
    for rate in site.rates:
        yield f"  Γ_c of {rate.template}: {_rate(rate.mean_bps)} per node"
    if site.jobs:
        yield f"  programs: {', '.join(site.jobs)}"


def _counted(wait: WaitView) -> str:
    if wait.counted_seconds is None:
        return "never"
    spread = f" ± {_seconds(wait.deviation_seconds)}" if wait.deviation_seconds else ""
    return f"{_seconds(wait.counted_seconds)}{spread}"


def _seconds(value: float | None) -> str:
    from adon.units import format_duration

    return "-" if value is None else format_duration(value)


def _rate(value: float) -> str:
    from adon.units import format_rate

    return format_rate(value)


def _some(value: int | None) -> str:
    return "?" if value is None else str(value)


def _size(value: int | None) -> str:
    from adon.units import format_size

    return "?" if value is None else format_size(value)
