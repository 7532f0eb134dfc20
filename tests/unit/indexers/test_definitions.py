"""Sites that files describe."""

from __future__ import annotations

from pathlib import Path

import pytest

from kurabito.indexers.definitions import SiteDefinitions, read_site
from kurabito.indexers.errors import SiteInvalid

SITE = 'name = "Mine"\nurl = "https://mine.example/{page}/rss?q={query}"\n'


def test_a_file_of_the_user_adds_a_site_or_stands_in_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SITE)
    (tmp_path / "nyaa.toml").write_text(SITE.replace("Mine", "My Nyaa"))
    (tmp_path / "broken.toml").write_text("name = ")
    (tmp_path / "large.toml").write_text("#" * 100_000)
    sites, faults = SiteDefinitions(tmp_path).everything()
    assert (sites["mine"].name, sites["mine"].is_own, sites["mine"].is_tested) == ("Mine", True, False)
    assert (sites["nyaa"].name, sites["mikan"].is_own) == ("My Nyaa", False)
    assert sorted(faults) == ["broken", "large"]
    with pytest.raises(SiteInvalid, match="cannot be read"):
        SiteDefinitions(tmp_path).find("broken")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('name = "x"', "url"),
        ('name = "x"\nurl = "https://x.example/"', "{query}"),
        ('name = "x"\nurl = "file:///etc/{query}"', "https://"),
        ('name = "x"\nurl = "https://{query}.example/"', "host"),
        (SITE + "unknown = 1", "unknown"),
        (SITE + "[politeness]\nper_hour = 0", "politeness.per_hour"),
    ],
)
def test_a_fault_is_named(text: str, problem: str) -> None:
    with pytest.raises(SiteInvalid) as refused:
        read_site("x", text, is_own=True)
    assert problem in str(refused.value)


def test_a_query_is_cut_at_a_word_and_escaped() -> None:
    site = read_site("x", SITE + '[query]\nlongest = 9\nseparator = "+"\n', is_own=True)
    assert site.address("a&b c/d efgh", page=1) == "https://mine.example/2/rss?q=a%26b+c%2Fd"
    mirror = "http://127.0.0.1:81/sub"
    assert site.address("a", mirror=mirror) == "http://127.0.0.1:81/sub/1/rss?q=a"
    assert site.address("abcdefghijkl") is None
