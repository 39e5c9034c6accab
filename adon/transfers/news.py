"""What its owner is to hear of a transfer: done, or in trouble.  Pure.

Of one transfer each kind of news is told once; so whoever has fifty transfers that break every ten minutes
is not written to five times an hour about each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from adon.broker.flow import Flow, FlowState
from adon.transfers.machine import Phase, Transfer
from adon.transfers.wish import MailAbout
from adon.units import format_duration, format_rate, format_size


class News(StrEnum):
    """Kinds, the gravest first."""

    FAILED = "failed"
    ENDED = "ended"
    STUCK = "stuck"
    RETRYING = "retrying"
    SLOW = "slow"
    DONE = "done"

    @property
    def trouble(self) -> bool:
        """Whether something did not go as it should."""
        return self is not News.DONE


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of news.

    :param headline: a sentence, with the flow's number first.
    :param details: names and values, to be read below it.
    """

    flow: int
    news: News
    at: float
    headline: str
    details: tuple[tuple[str, str], ...]


def heard(transfer: Transfer, flow: Flow, now: float, slow_for: float) -> tuple[Transfer, Item | None]:
    """What there is to tell of a transfer as it stands now, and the transfer that knows it was told.

    :param slow_for: seconds after which what is slow, or does not go on, is news.
    """
    news = _news(transfer, flow, now, slow_for)
    if news is None or news in transfer.told:
        return transfer, None
    after = replace(transfer, told=(*transfer.told, news.value))
    wanted: MailAbout = "all" if flow.request.transfer is None else flow.request.transfer.mail
    if wanted == "none" or (wanted == "trouble" and not news.trouble):
        return after, None
    return after, Item(flow.number, news, now, _headline(news, transfer, flow, now), _details(transfer, flow))


def _news(transfer: Transfer, flow: Flow, now: float, slow_for: float) -> News | None:
    match transfer.phase:
        case Phase.DONE:
            return News.DONE
        case Phase.FAILED:
            return News.FAILED
        case Phase.CANCELLED:
            # Who cancelled it knows that; what the network or the queue did to it, nobody may have seen.
            told = flow.state in (FlowState.FAILED, FlowState.EXPIRED)
            return News.ENDED if told else None
        case Phase.RETRYING:
            return News.RETRYING
        case _ if transfer.error_since is not None and now - transfer.error_since >= slow_for:
            return News.STUCK
        case Phase.RUNNING if _long_slow(transfer, now, slow_for):
            return News.SLOW
        case _:
            return None


def _long_slow(transfer: Transfer, now: float, slow_for: float) -> bool:
    since = transfer.pace.slow_since
    return since is not None and now - since >= slow_for


def _headline(news: News, transfer: Transfer, flow: Flow, now: float) -> str:
    why = transfer.error or "its tool does not say why"
    match news:
        case News.DONE:
            said = f"done, all {format_size(transfer.bytes)} are there"
        case News.FAILED:
            said = f"failed for good, {_tries(transfer)}: {why}"
        case News.ENDED:
            said = f"stopped, because its flow is {flow.state.value}: {flow.reason or 'no reason is known'}"
        case News.STUCK:
            since = transfer.error_since if transfer.error_since is not None else now
            said = f"has not gone on for {format_duration(round(now - since))}: {why}"
        case News.RETRYING:
            pause = max(1, round((transfer.next_at or now) - now))
            said = f"broke, and is tried again in {format_duration(pause)}: {why}"
        case News.SLOW:
            rate, promised = transfer.pace.rate or 0.0, transfer.promised or 0.0
            said = f"is slow: {format_rate(rate)} where {format_rate(promised)} was promised"
    return f"{flow.id}{f' ({flow.request.label})' if flow.request.label else ''}: {said}"


def _details(transfer: Transfer, flow: Flow) -> tuple[tuple[str, str], ...]:
    wish = flow.request.transfer
    source = flow.request.source if wish is None or wish.source is None else wish.source
    destination = flow.request.destination if wish is None or wish.destination is None else wish.destination
    whole = transfer.whole or flow.request.size
    found = [
        ("from", _at(source, flow.request.source)),
        ("to", _at(destination, flow.request.destination)),
        ("tries", _tries(transfer)),
    ]
    if transfer.phase is not Phase.DONE:
        arrived = f"{format_size(transfer.bytes)} of about {format_size(max(whole, transfer.bytes))}"
        found.append(("arrived", arrived))
    if transfer.pace.rate is not None:
        promised = "" if transfer.promised is None else f", of {format_rate(transfer.promised)} promised"
        found.append(("rate", f"{format_rate(transfer.pace.rate)}{promised}"))
    if flow.path is not None:
        found.append(("path", flow.path))
    return tuple(found)


def _at(place: str, host: str) -> str:
    return host if place == host else f"{place} at {host}"


def _tries(transfer: Transfer) -> str:
    # A start that is refused is a try too, though no run came of it.
    tries = max(transfer.tries, transfer.failures)
    return f"after {tries} {'try' if tries == 1 else 'tries'}"
