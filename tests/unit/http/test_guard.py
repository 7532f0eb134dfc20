"""Which way a URL goes, and which goes nowhere."""

from __future__ import annotations

from ipaddress import ip_address

import httpx2
import pytest

from kurabito.http.errors import HostNotAllowed, UrlNotAllowed
from kurabito.http.guard import Guard, Route, Trusted

NOBODY = Trusted()


def route(
    url: str, *, private: list[str] | None = None, trusted: list[str] | None = None, proxied: bool = False
) -> Route:
    return Guard(private or [], proxied=proxied).route(httpx2.URL(url), Trusted.parse(trusted or []))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x", "gopher://x/", "//example.org/", "x", ""])
def test_only_http_and_https_are_fetched(url: str) -> None:
    with pytest.raises(UrlNotAllowed, match="only http and https"):
        route(url, trusted=["example.org"])


@pytest.mark.parametrize("url", ["http:///x", "http://exa%6dple.org/", "http://a b/", "http://a..b/"])
def test_a_url_names_a_host(url: str) -> None:
    with pytest.raises(UrlNotAllowed, match="does not name a host"):
        route(url)


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "169.254.169.254",
        "10.1.2.3",
        "[::ffff:10.0.0.1]",
        "0.0.0.0",
        "[fe80::1%25eth0]",
        "127。0。0。1",
    ],
)
def test_an_address_inside_is_refused_before_anything_is_sent(host: str, proxied: bool) -> None:
    with pytest.raises(HostNotAllowed, match=r"allow the host where its URL is entered, or add it to KURABITO_ALLOW"):
        route(f"http://{host}/", proxied=proxied)


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f.1", "0177.1", "134744072", "0"])
def test_an_unusual_spelling_is_refused_even_when_trusted(host: str) -> None:
    with pytest.raises(HostNotAllowed, match="write the address in the usual way"):
        route(f"http://{host}/", trusted=[host], private=["0.0.0.0/0"])


@pytest.mark.parametrize(
    ("host", "entry"),
    [
        ("nas.local", "nas.local"),
        ("NAS.Local.", "nas.local"),
        ("nas.local", "NAS.local."),
        ("192.168.1.5", "192.168.1.5"),
        ("192.168.1.5", "192.168.0.0/16"),
        ("[::ffff:192.168.1.5]", "192.168.0.0/16"),
        ("[fd00::5]", "fd00::/8"),
        ("日本.jp", "日本.jp"),
        ("xn--wgv71a.jp", "日本.jp"),
    ],
)
def test_a_host_is_trusted_by_name_address_or_network(host: str, entry: str) -> None:
    assert route(f"http://{host}/", private=[entry]) is Route.TRUSTED
    assert route(f"http://{host}/", trusted=[entry]) is Route.TRUSTED


def test_trust_in_a_name_is_not_trust_in_names_like_it() -> None:
    assert route("http://x.nas.example/", trusted=["nas.example"]) is Route.GUARDED
    assert route("http://nas.example.evil.org/", trusted=["nas.example"]) is Route.GUARDED
    assert route("http://nas.example@evil.org/", trusted=["nas.example"]) is Route.GUARDED


def test_one_bad_answer_among_good_ones_is_enough_to_refuse() -> None:
    with pytest.raises(
        HostNotAllowed, match=r"evil\.org is not fetched from: it leads to 10\.0\.0\.1, a private address"
    ) as refused:
        Guard().admit("evil.org", [ip_address("8.8.8.8"), ip_address("10.0.0.1")])
    assert refused.value.host == "evil.org"


def test_a_name_may_lead_into_a_network_that_the_settings_allow() -> None:
    Guard(["192.168.0.0/16"]).admit("nas.example", [ip_address("192.168.1.5"), ip_address("8.8.8.8")])
    with pytest.raises(HostNotAllowed):
        Guard(["192.168.0.0/16"]).admit("nas.example", [ip_address("192.168.1.5"), ip_address("10.0.0.1")])


@pytest.mark.parametrize(
    ("host", "private", "trusted", "way"),
    [
        ("example.org", [], [], Route.PROXY),
        ("8.8.8.8", [], [], Route.PROXY),
        ("example.org", [], ["example.org"], Route.PROXY),
        ("nas.local", [], ["nas.local"], Route.TRUSTED),
        ("192.168.1.5", [], ["192.168.1.5"], Route.TRUSTED),
        ("nas.example", ["nas.example"], [], Route.TRUSTED),
    ],
)
def test_with_a_proxy_only_private_hosts_are_reached_without_it(
    host: str, private: list[str], trusted: list[str], way: Route
) -> None:
    assert route(f"http://{host}/", private=private, trusted=trusted, proxied=True) is way


@pytest.mark.parametrize("host", ["localhost", "nas", "nas.local", "db.internal"])
def test_with_a_proxy_local_names_are_refused_by_their_form(host: str) -> None:
    with pytest.raises(HostNotAllowed, match="only a local network knows"):
        route(f"http://{host}/", proxied=True)
