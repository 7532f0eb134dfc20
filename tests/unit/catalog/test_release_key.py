"""What makes two links the same release."""

from __future__ import annotations

import base64
import hashlib

import pytest

from kurabito.catalog.download_types import detect_download_type
from kurabito.catalog.release_key import ReleaseIdentity, identify

V1 = "0123456789abcdef0123456789abcdef01234567"
BASE32 = base64.b32encode(bytes.fromhex(V1)).decode()
V2 = "ab" * 32
OTHER = "f" * 40


def identity_of(url: str, info_hash: str | None = None) -> ReleaseIdentity:
    return identify(url, detect_download_type(url), info_hash)


@pytest.mark.parametrize(
    ("url", "told", "expected"),
    [
        (f"magnet:?xt=urn:btih:{V1}&dn=x", None, V1),
        (f"magnet:?dn=x&xt=urn:btih:{V1.upper()}", None, V1),
        (f"magnet:?xt=urn:btih:{BASE32}", None, V1),
        (f"magnet:?xt=urn:btih:{BASE32.lower()}&tr=udp://t", None, V1),
        (f"magnet:?xt=urn%3Abtih%3A{V1}", None, V1),
        (f"magnet:?xt.1=urn:btih:{V1}&xt.2=urn:btmh:1220{V2}", None, V1),
        (f"magnet:?xt=urn:btmh:1220{V2}", None, V2[:40]),
        (f"magnet:?xt=urn:btmh:1114{V2}", None, None),
        ("magnet:?xt=urn:btih:nothing", V1.upper(), V1),
        # The link itself is surer than what the feed says of it.
        (f"magnet:?xt=urn:btih:{V1}", OTHER, V1),
        ("https://feeds.example/a.torrent", None, None),
        ("https://feeds.example/a.torrent", V1, V1),
        ("https://feeds.example/a.torrent", BASE32, V1),
        ("https://feeds.example/a.torrent", V2, V2[:40]),
        ("https://feeds.example/a.torrent", "no hash at all", None),
        (f"https://feeds.example/20260102/{V1.upper()}.torrent", None, V1),
        (f"https://feeds.example/{OTHER}/{V1}.torrent", None, V1),
        (f"https://feeds.example/a{V1}.torrent", None, None),
        ("ftp://feeds.example/a.mkv", V1, None),
    ],
)
def test_the_hash_is_known_without_fetching_anything(url: str, told: str | None, expected: str | None) -> None:
    assert identity_of(url, told).hash == expected


def test_a_plain_url_is_known_by_its_own_sha1() -> None:
    url = "https://feeds.example/夜.mkv"
    assert identity_of(url).hash == hashlib.sha1(url.encode()).hexdigest()


def test_one_hash_is_one_release_however_it_is_linked() -> None:
    same = {
        identity_of(f"magnet:?xt=urn:btih:{V1}&tr=udp://one").release_key,
        identity_of(f"magnet:?xt=urn:btih:{BASE32}").release_key,
        identity_of(f"https://feeds.example/{V1}.torrent").release_key,
        identity_of("https://other.example/7.torrent", V1).release_key,
        identity_of("https://proxy.example/download/7", V1).release_key,
    }
    assert same == {V1}
    unknown = [identity_of(f"https://feeds.example/{number}.torrent").release_key for number in (1, 2)]
    assert len({*unknown, V1}) == 3
