"""Which addresses are one client."""

from __future__ import annotations

import pytest

from kurabito.site.addresses import is_among, networks, one_client, parse_address


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_one_household_is_one_client(address: str, client: str) -> None:
    assert one_client(address) == client


def test_a_proxy_is_known_by_its_network_also_when_its_address_is_mapped() -> None:
    trusted = networks(["10.0.0.0/8"])
    assert is_among(parse_address("::ffff:10.1.2.3"), trusted)
    assert not is_among(parse_address("192.0.2.7"), trusted)
    assert not is_among(parse_address("no address"), trusted)
