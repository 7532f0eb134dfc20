"""What is shown of an indexer's answer has no key in it, and is otherwise as it came."""

from __future__ import annotations

import pytest

from kurabito.indexers.port import IndexerItem
from kurabito.indexers.results import bounded_magnet
from kurabito.indexers.secrets import hidden, without_key

KEY = "ab+c/d&e=="


@pytest.mark.parametrize("written", [KEY, "ab%2Bc%2Fd%26e%3D%3D", "ab+c/d&amp;e=="])
def test_a_key_is_left_out_however_it_is_written(written: str) -> None:
    item = IndexerItem(
        title=f"[Kura] {written}", download_url="http://x/", guid=f"http://x/?{written}", description=written
    )
    cleared = without_key(item, KEY)
    assert written not in f"{cleared.title}{cleared.guid}{cleared.description}"


def test_a_key_of_a_few_characters_is_in_titles_and_no_secret() -> None:
    assert hidden("[Kura] Yoru - 01 [1080p]", "1") == "[Kura] Yoru - 01 [1080p]"
    assert hidden("[Kura] Yoru - 01 [1080p]", None) == "[Kura] Yoru - 01 [1080p]"


def test_a_magnet_link_with_ten_thousand_trackers_keeps_some() -> None:
    magnet = f"magnet:?xt=urn:btih:{7:040x}" + "".join(f"&tr=http://t{number}.example" for number in range(10_000))
    short = bounded_magnet(magnet)
    assert len(short) <= 8_000
    assert magnet.startswith(short + "&tr=http://t")
    assert bounded_magnet("magnet:?" + "x" * 9_000) == ""
