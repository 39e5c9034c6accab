"""Cookies say whose a rule is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.cookie import Kind, cookie, cookie_owner, cookie_tenant, is_our_cookie, owner_name
from tests.support.refusals import refused


@given(st.sampled_from(Kind), st.integers(0, (1 << 36) - 1), st.integers(0, 4095))
def test_kind_tenant_and_number_come_back(kind: Kind, number: int, tenant: int) -> None:
    value = cookie(kind, number, tenant)
    assert value < 1 << 64
    assert is_our_cookie(value)
    assert (cookie_owner(value), cookie_tenant(value)) == ((kind, number), tenant)


@pytest.mark.parametrize(
    ("kind", "owner"),
    [
        (Kind.FLOW_INGRESS, "f-17"),
        (Kind.FLOW_POLICY, "f-17"),
        (Kind.MEASUREMENT, "path-17"),
        (Kind.TRANSIT, "path-17"),
        (Kind.PIPELINE, "switch-17"),
        (Kind.DISCOVERY, "switch-17"),
    ],
)
def test_the_kind_says_what_sort_of_owner(kind: Kind, owner: str) -> None:
    assert owner_name(cookie(kind, 17, tenant=3)) == owner


@pytest.mark.parametrize(("number", "tenant"), [(1 << 36, 0), (-1, 0), (0, 4096), (0, -1)])
def test_what_does_not_fit_is_refused(number: int, tenant: int) -> None:
    with refused(ValueError):
        cookie(Kind.FLOW_INGRESS, number, tenant)


def test_a_foreign_cookie_and_an_unknown_kind() -> None:
    assert not is_our_cookie(0x5ADC15C0)
    with refused(ValueError):
        cookie_owner(0x5ADC15C0)
    assert owner_name(0xAD77 << 48).startswith("unknown-")
