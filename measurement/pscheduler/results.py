"""From a finished run to values: pure; the layout of each test's result is in :mod:`.layouts`.

The order of checks is pScheduler's: state, then ``result-merged``, then ``succeeded``, then the fields.
What each value means:

=============  ===================================================================================
throughput     receiver's rate (goodput) where the tool reports it, else the sender's
rtt            mean of the round trips; of a trace, the one probe to its last hop
one_way_delay  median of the histogram (RFC 7679 samples; a median ignores one late packet)
jitter         mean absolute difference of consecutive one-way delays (RFC 3393), from raw packets;
               without them the mean absolute difference of two packets drawn from the histogram,
               the same number if delays are independent; for UDP throughput the tool's (RFC 3550)
loss           lost / sent (RFC 7680); for rtt, of the round trips
=============  ===================================================================================

One test yields several values, and one can be unusable while the others are good: at 100 % loss there
is no round-trip time, and between undisciplined clocks a one-way delay may be negative while loss and
jitter hold.  Such a value is a :class:`Refused`; an answer that is wrong as a whole is an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from measurement.errors import RunFailed
from measurement.model import Metric
from measurement.pscheduler.client import Run
from measurement.pscheduler.document import Document
from measurement.pscheduler.layouts import latency, rtt, throughput, trace
from measurement.pscheduler.readings import Reading, Refused
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.pscheduler.states import RunState

__all__ = [
    "Reading",
    "Refused",
    "by_tool",
    "read",
    "read_result",
    "reverses",
    "successful_result",
]

HALF_PING = "halfping"  # what pScheduler falls back to for latency when nothing else is installed
CLOCK_TOLERANCE = 5.0


def read(run: Run, test: TestRequest, asked_at: float, now: float = float("inf")) -> list[Reading | Refused]:
    """All values that a run gives for the test that was asked for.

    :param asked_at: when it was asked for, by the server's clock: a run that ended before then
        answers somebody else's question.
    :param now: the time by the server's clock: no result comes from later.
    :raises RunFailed: when the run ended without success; the cause is the server's.
    :raises BadAnswer: when the result is not what the API promises, naming the field.
    """
    if run.state is RunState.FINISHED and run.end > now + CLOCK_TOLERANCE:
        run.document.refuse("end-time", f"is {run.end - now:.0f} s in the future")
    result = successful_result(run)
    if run.end < int(asked_at):  # the server's times are in whole seconds
        run.document.refuse("end-time", f"is {asked_at - run.end:.0f} s before the test was asked for")
    return _read(test.kind, Document(run.document.host, "spec", test.spec), result)


def read_result(
    test: str, spec: Mapping[str, object], result: Mapping[str, object], host: str
) -> list[Reading | Refused]:
    """All values of a merged result, whichever way it came; an unknown test has none.

    Values are in the direction source to dest of the spec, unless it :func:`reverses`.

    :param test: pScheduler's name of the test.
    :param host: who says so, for messages.
    :raises RunFailed: when the result says that the test did not succeed.
    :raises BadAnswer: when it is not what pScheduler promises, naming the field.
    """
    document = Document(host, "result", result)
    _require_success(document, document)
    return _read(test, Document(host, "spec", spec), document)


def reverses(test: str, spec: Mapping[str, object]) -> bool:
    """True when a test measures from its dest to its source; ``flip`` only changes who starts."""
    return test in (Kind.THROUGHPUT, Kind.LATENCY) and spec.get("reverse") is True


def by_tool(reading: Reading | Refused, tool: str) -> Reading | Refused:
    """A reading as far as the tool that made it can be believed: halfping halves a round trip."""
    if tool == HALF_PING and reading.metric is Metric.ONE_WAY_DELAY:
        return Refused(reading.metric, "halfping halves the round trip")
    return reading


def successful_result(run: Run) -> Document:
    """The merged result of a run that succeeded.

    :raises RunFailed: when it did not, with the reason wherever the server put it.
    :raises BadAnswer: when it says it did, but brings no result.
    """
    document = run.document
    if run.state is not RunState.FINISHED:
        raise RunFailed(document.host, f"the run is {run.state}: {failure_reason(document)}")
    merged = document.child("result-merged")
    _require_success(merged, document)
    return merged


def _require_success(result: Document, told_in: Document) -> None:
    succeeded = result.fields.get("succeeded")
    if not isinstance(succeeded, bool):
        result.refuse("succeeded", "is missing")
    if not succeeded:
        raise RunFailed(result.host, f"the test did not succeed: {failure_reason(told_in)}")


def failure_reason(document: Document) -> str:
    """Why a run failed: ping and traceroute leave the reason in ``result-full`` only."""
    full = document.fields.get("result-full")
    places: list[object] = [document.fields.get("result-merged"), document.fields]
    places += full if isinstance(full, list) else []
    for place in places:
        if isinstance(place, Mapping):
            for name in ("error", "diags"):
                text = place.get(name)
                if isinstance(text, str) and text.strip():
                    return text
    errors = document.fields.get("errors")
    return errors if isinstance(errors, str) and errors.strip() else "no reason given"


def _read(test: str, spec: Document, result: Document) -> list[Reading | Refused]:
    reader = _READERS.get(test)
    return [] if reader is None else reader(result, spec)


_READERS: Mapping[str, Callable[[Document, Document], list[Reading | Refused]]] = {
    Kind.THROUGHPUT: throughput.read,
    Kind.RTT: rtt.read,
    Kind.LATENCY: latency.read,
    Kind.LATENCYBG: latency.read,
    Kind.TRACE: trace.read,
}
