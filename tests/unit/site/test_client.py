"""Which address a request came from, whatever it says itself."""

from __future__ import annotations

import pytest

from kurabito.site.addresses import networks
from kurabito.site.client import client_of

TRUSTED = networks(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        # A stranger says what it likes.
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        # Our proxy appends whom it heard; what came before, that one may have written.
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["127.0.0.1, 203.0.113.9"], "203.0.113.9"),
        # A row of our proxies.
        ("127.0.0.1", ["198.51.100.1, 203.0.113.9, 10.0.0.2,10.0.0.1"], "203.0.113.9"),
        ("fd00::1", ["2001:db8::9"], "2001:db8::9"),
        # One of our own machines asks.
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.7"], "10.0.0.1"),
        # What is no address is nobody's.
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9, <script>"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9, "], "10.0.0.1"),
        # A socket for both families writes IPv4 in IPv6.
        ("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("::ffff:10.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
    ],
)
def test_the_last_address_that_is_no_proxy_of_ours_is_the_client(peer: str, forwarded: list[str], client: str) -> None:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": headers}
    assert client_of(scope, TRUSTED).address == client


@pytest.mark.parametrize(
    ("headers", "scheme", "host"),
    [
        ({}, "http", "inside:8484"),
        ({"x-forwarded-proto": "https"}, "https", "inside:8484"),
        ({"x-forwarded-proto": "HTTPS"}, "https", "inside:8484"),
        ({"x-forwarded-proto": "http, https"}, "https", "inside:8484"),
        ({"x-forwarded-proto": "javascript"}, "http", "inside:8484"),
        ({"x-forwarded-host": "nas.example"}, "http", "nas.example"),
        ({"x-forwarded-host": "evil.example, nas.example:8443"}, "http", "nas.example:8443"),
        ({"x-forwarded-host": "", "x-forwarded-proto": ""}, "http", "inside:8484"),
    ],
)
def test_the_nearest_proxy_says_what_the_client_asked_for(headers: dict[str, str], scheme: str, host: str) -> None:
    sent = [(b"host", b"inside:8484"), *((name.encode(), value.encode()) for name, value in headers.items())]
    scope = {"type": "http", "client": ("10.0.0.1", 1), "scheme": "http", "headers": sent}
    assert client_of(scope, TRUSTED)[1:] == (scheme, host)


def test_without_an_address_nobody_is_trusted() -> None:
    scope = {"type": "http", "client": None, "scheme": "http", "headers": [(b"x-forwarded-for", b"203.0.113.9")]}
    assert client_of(scope, TRUSTED).address == ""
