"""A transfer that ADON has a tool move, as the API shows it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from adon.broker.flow import Flow
from adon.errors import NotFound
from adon.transfers.machine import Phase, Transfer
from apps.rest.models import View
from apps.rest.times import Time


class TransferView(View):
    """How the tool that moves a flow's data is doing."""

    flow: str
    tool: str
    at: str | None = Field(description="the DTN whose rclone it is; none until it is taken up")
    credentials: str | None = Field(description="as whom at Globus or iRODS; none until it is taken up")
    state: Phase
    since: Time | None
    source: str | None
    destination: str | None
    attached: bool = Field(description="it follows a job that somebody else started")
    job: int | str | None = Field(description="what the tool calls the run under way")
    tries: int
    bytes: int = Field(description="known to have arrived")
    whole_bytes: int | None = Field(description="there are to move, as far as the tool knows")
    files: int | None = Field(description="that have arrived in this run")
    whole_files: int | None = Field(description="this run is to move, as far as the tool knows")
    rate_bps: float | None = Field(description="what it is held to")
    achieved_bps: float | None = Field(description="how fast it is, over the last ten seconds or more")
    promised_bps: float | None = Field(description="what was expected when its path was chosen")
    slow: bool = Field(description="it is clearly slower than was promised")
    next_try: Time | None
    error: str = Field(description="what went wrong last, in the tool's own words")

    @classmethod
    def of(cls, flow: Flow, known: Transfer | None) -> Self:
        """The transfer of a flow.

        :param known: None if it is not taken up yet.
        :raises NotFound: if ADON does not move its data.
        """
        wish = flow.request.transfer
        if wish is None:
            raise NotFound("transfer", flow.id)
        phase = Phase.WAITING if known is None else known.phase
        if known is None and flow.state.final:
            phase = Phase.CANCELLED
        return cls(
            flow=flow.id,
            tool=wish.tool,
            at=None if known is None or wish.tool != "rclone" else known.at,
            credentials=None if known is None or wish.tool == "rclone" else known.at.partition(":")[2],
            state=phase,
            since=None if known is None else known.since,
            source=wish.source,
            destination=wish.destination,
            attached=wish.attach is not None,
            job=None if known is None else known.job,
            tries=0 if known is None else known.tries,
            bytes=0 if known is None else known.bytes,
            whole_bytes=None if known is None else known.whole,
            files=None if known is None else known.files,
            whole_files=None if known is None else known.files_whole,
            achieved_bps=None if known is None else known.pace.rate,
            promised_bps=None if known is None else known.promised,
            slow=known is not None and known.pace.slow_since is not None,
            rate_bps=None if known is None else known.rate,
            next_try=None if known is None else known.next_at,
            error="" if known is None else known.error,
        )
