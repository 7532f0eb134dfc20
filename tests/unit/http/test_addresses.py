"""Which addresses are public, however they are written."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.http.addresses import is_local_name, literal, why_not_public


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.0.3", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("0.1.2.3", "private"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("192.0.2.1", "private"),
        ("198.18.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("224.0.0.1", "multicast"),
        ("239.1.2.3", "multicast"),
        ("ff02::1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fec0::1", "private"),
        ("2001:db8::1", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:a9fe:a9fe", "link-local"),
        ("::127.0.0.1", "private"),
        ("64:ff9b::127.0.0.1", "loopback"),
        ("64:ff9b::10.1.2.3", "private"),
        ("64:ff9b:1::8.8.8.8", "private"),
        ("2002:7f00:1::", "loopback"),
        ("2002:c0a8:101::1", "private"),
        ("2001:0:a00:1::f5ff:fffe", "private"),
        ("2001:0:808:808::80ff:fffe", "loopback"),
    ],
)
def test_what_is_not_public_is_named(address: str, why: str) -> None:
    assert why_not_public(ip_address(address)) == why


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ],
)
def test_public_addresses_are_let_through(address: str) -> None:
    assert why_not_public(ip_address(address)) is None


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_wrapping(address: IPv4Address) -> None:
    why = why_not_public(address)
    assert why_not_public(ip_address(f"::ffff:{address}")) == why
    assert why_not_public(ip_address(f"64:ff9b::{address}")) == why
    if why is not None:
        assert why_not_public(ip_address((0x2002 << 112) | (int(address) << 80))) == why


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001"]
)
def test_every_spelling_of_an_address_is_understood(spelling: str) -> None:
    assert literal(spelling) == ip_address("127.0.0.1")


@pytest.mark.parametrize("name", ["example.org", "127.0.0.1.example.org", "1e100.net", "a"])
def test_a_name_is_no_address(name: str) -> None:
    assert literal(name) is None


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("localhost", True),
        ("db.localhost", True),
        ("nas", True),
        ("nas.local", True),
        ("metadata.google.internal", True),
        ("printer.lan", True),
        ("x.home.arpa", True),
        ("example.org", False),
        ("local.example.org", False),
        ("notlocal", True),
        ("example.notlocal", False),
    ],
)
def test_names_of_a_local_network_are_told_by_their_form(name: str, local: bool) -> None:
    assert is_local_name(name) is local
