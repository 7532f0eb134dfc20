"""Years, words of editions, signs of fractions and counts of seasons: which of them belong to a name, and which do not."""

from __future__ import annotations

import pytest

from kurabito.titles import fold_title, parse_title
from kurabito.titles.scripts import Script, script_of

YEARS = [
    ("밤의 양조장 1988.E01.1080p.WEB-DL.H264.AAC-kura", "밤의 양조장 1988", None),
    ("밤의 양조장 1988.E01-E20.1080p.WEB-DL", "밤의 양조장 1988", None),
    ("밤의 양조장 1988.E01.151106.1080p", "밤의 양조장 1988", None),
    ("밤의_양조장_1988.E01.1080p", "밤의 양조장 1988", None),
    ("夜の蔵人 2019.EP01.1080p.mp4", "夜の蔵人 2019", None),
    ("Night Brewers 1988.E12.720p.mkv", "Night Brewers 1988", None),
    ("밤의 양조장 1988.2015.E01.1080p", "밤의 양조장 1988", 2015),
    ("밤의 양조장 1988.E01.2015.1080p", "밤의 양조장 1988", 2015),
    ("밤의 양조장 1988 (2015).E01.1080p", "밤의 양조장 1988", 2015),
    ("밤의 양조장 2.1988.E01.1080p", "밤의 양조장 2", 1988),
    ("밤의.양조장.2019.E01.1080p.WEB", "밤의 양조장", 2019),
    ("Brewers.2019.E01.1080p.WEB", "Brewers", 2019),
    ("Night Brewers 2019 E01 1080p", "Night Brewers", 2019),
    ("Night Brewers 2019.1080p.WEB", "Night Brewers", 2019),
]


@pytest.mark.parametrize(("title", "name", "year"), YEARS)
def test_a_year_between_a_blank_and_the_dot_of_an_episode_belongs_to_the_name(
    title: str, name: str, year: int | None
) -> None:
    found = parse_title(title)
    assert (found.title, found.year) == (name, year)


EDITIONS = [
    ("The.Final.Cut.1995.S01E01.DVDRip.x264", "The Final Cut"),
    ("The.Final.Cut.2004.1080p.BluRay.x264-KURA", "The Final Cut"),
    ("The.Directors.Cut.2016.1080p", "The Directors Cut"),
    ("The.Director's.Cut.2003.720p", "The Director's Cut"),
    ("The.Extended.S01E02.720p", "The Extended"),
    ("A.Special.Edition.2003.720p", "A Special Edition"),
    ("Das.Final.Cut.2001.German.720p", "Das Final Cut"),
    ("The.Final.Cut.Extended.1995.1080p", "The Final Cut"),
    ("The.Uncut.Brewer.2019.1080p", "The Uncut Brewer"),
    ("The.Limited.2013.720p", "The Limited"),
    ("[Kura] The Final Cut - 05 [1080p]", "The Final Cut"),
    ("Final.Cut.2022.1080p.BluRay", "Final Cut"),
    ("Uncut.S01E01.1080p.WEB", "Uncut"),
    ("Koji.Final.Cut.1982.1080p", "Koji"),
    ("Koji.1982.The.Final.Cut.1080p", "Koji"),
    ("The.Cellar.Uncut.2012.1080p", "The Cellar"),
]


@pytest.mark.parametrize(("title", "name"), EDITIONS)
def test_words_of_an_edition_behind_an_article_alone_are_the_name(title: str, name: str) -> None:
    assert parse_title(title).title == name


FRACTIONS = [
    ("The Night Brewer 2½ The Smell of Rice (1991)", "The Night Brewer 2½ The Smell of Rice", ()),
    ("Koji 33⅓ (1994)", "Koji 33⅓", ()),
    ("8½.1963.1080p.BluRay", "8½", ()),
    ("Koji 7½ [1080p]", "Koji 7½", ()),
    ("Koji 9¾ - 05", "Koji 9¾", (5,)),
    ("Koji ½ - 05", "Koji ½", (5,)),
    ("Koji ½ (2024) - 17", "Koji ½", (17,)),
    ("こうじ½ 第05話", "こうじ½", (5,)),
    ("[Kura] 夜蔵½ / Koji ½ [05][1080p]", "Koji ½", (5,)),
    ("Koji½.S01E02.1080p", "Koji½", (2,)),
    ("½ Koji - 05", "½ Koji", (5,)),
]


@pytest.mark.parametrize(("title", "name", "episodes"), FRACTIONS)
def test_the_sign_of_a_fraction_stays_as_written(title: str, name: str, episodes: tuple[int, ...]) -> None:
    found = parse_title(title)
    assert (found.title, found.episodes) == (name, episodes)


def test_the_sign_of_a_fraction_compares_as_its_digits_and_is_of_no_script() -> None:
    assert fold_title("Koji ½") == fold_title("Koji 1/2") == "koji12"
    assert script_of("Koji 33⅓") is Script.LATIN


SEVERAL = [
    ("The Cellar Series 1-2", "The Cellar", (1, 2)),
    ("The Cellar Series 1-3 [DVDRip]", "The Cellar", (1, 2, 3)),
    ("The.Cellar.Series.1-3.DVDRip.x264", "The Cellar", (1, 2, 3)),
    ("The Cellar! Series 1, 2 & 3", "The Cellar!", (1, 2, 3)),
    ("The Cellar Series 1 to 3 Complete", "The Cellar", (1, 2, 3)),
    ("The Cellar Complete Series 1+2", "The Cellar", (1, 2)),
    ("The Cellar Seasons 1 through 3", "The Cellar", (1, 2, 3)),
    ("The Cellar Season 1+2 (Complete)", "The Cellar", (1, 2)),
    ("The Cellar Series 1", "The Cellar Series 1", ()),
    ("The Cellar Series 1-2 Brewers", "The Cellar Series 1-2 Brewers", ()),
]


@pytest.mark.parametrize(("title", "name", "seasons"), SEVERAL)
def test_several_series_are_seasons_and_no_part_of_the_name(title: str, name: str, seasons: tuple[int, ...]) -> None:
    found = parse_title(title)
    assert (found.title, found.seasons) == (name, seasons)


def test_the_dot_before_a_counted_episode_ends_the_name() -> None:
    assert parse_title("Ночной погреб. 3 серия.avi").title == "Ночной погреб"
    assert parse_title("Ночной погреб. Серия 4.avi").title == "Ночной погреб"
