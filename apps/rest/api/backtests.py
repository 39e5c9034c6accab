"""Backtests: what another version of a template would have done, as a task behind the requests."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.templates import BacktestBody, BacktestList, BacktestView
from adon.errors import Unavailable
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.backtests import Backtests
from apps.rest.guard import action, requester
from apps.rest.paging import NewestFirst, cut
from apps.rest.services import services
from apps.rest.template_views import to_backtest_summary, to_backtest_view

api = blueprint("backtests", "Templates tried on the past")


class BacktestAddress(Address):
    """Which backtest."""

    id: str = Field(max_length=20, description="as in b-5f3a9c0d12ab")


def _backtests() -> Backtests:
    found = services().backtests
    if found is None:
        raise Unavailable("this web process was not told where the configuration is")
    return found


@api.get("/template-backtests", responses=answers(200, BacktestList))
@action(Action.TEMPLATE_BACKTEST)
def list_backtests(query: NewestFirst) -> Response:
    """Backtests, the newest first; the last 20 since the web process began."""
    found = [to_backtest_summary(one) for one in _backtests().listed]
    return cut(BacktestList(items=found), query, lambda one: str(one.id))


@api.post("/template-backtests", responses=answers(202, BacktestView, 400, 409, 413, 415))
@action(Action.TEMPLATE_BACKTEST)
def start_backtest(body: BacktestBody) -> Response:
    """Replay the past with this version of a template, beside today's; 409 while another one runs."""
    services().store.template(body.template.name)
    one = _backtests().start(body.template, body.since, body.until, requester().name)
    return done(to_backtest_view(one), HTTPStatus.ACCEPTED, f"{PREFIX}/template-backtests/{one.id}")


@api.get("/template-backtests/<id>", responses=answers(200, BacktestView))
@action(Action.TEMPLATE_BACKTEST)
def get_backtest(path: BacktestAddress) -> Response:
    """One backtest: how far it is, and the comparison flow by flow when it is done."""
    return json_answer(to_backtest_view(_backtests().get(path.id)))


@api.delete("/template-backtests/<id>", responses=answers(200, BacktestView, 409, 412))
@action(Action.TEMPLATE_BACKTEST)
def cancel_backtest(path: BacktestAddress) -> Response:
    """End one that runs; with ``If-Match``, only in the state it was seen in."""
    check_if_match(to_backtest_view(_backtests().get(path.id)))
    return done(to_backtest_view(_backtests().cancel(path.id)), HTTPStatus.OK)
