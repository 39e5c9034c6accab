"""Addresses and pages."""

from __future__ import annotations

from dash import html

from adon.access.policy import Action
from apps.dashboard.page import Page, find
from apps.dashboard.router import query_of

ONE = Page("/flows/<id>", "Flow", Action.FLOW_READ, lambda _: html.Div())
ALL = Page("/flows", "Flows", Action.FLOW_READ, lambda _: html.Div())


def test_an_address_leads_to_its_page_with_its_parts() -> None:
    assert find((ALL, ONE), "/flows/f-17") == (ONE, {"id": "f-17"})
    assert find((ALL, ONE), "/flows/") == (ALL, {})
    assert find((ALL, ONE), "/flows/a/b") is None


def test_a_part_is_decoded_but_not_split() -> None:
    assert find((ONE,), "/flows/a%2Fb") == (ONE, {"id": "a/b"})


def test_a_query_has_the_first_value_of_each_name() -> None:
    assert query_of("?a=1&b=x%20y&a=2") == {"a": "1", "b": "x y"}
    assert query_of(None) == {}
