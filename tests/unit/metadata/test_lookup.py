"""Which title is the one, and what the mark of a season says."""

from __future__ import annotations

import pytest

from kurabito.metadata.lookup import Sequel, read_sequel, weigh
from kurabito.metadata.posters.pictures import picture_type
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.search import details_of_title
from kurabito.metadata.sources.tmdb import Title


def title(number: int, year: int | None, *, animation: bool = True) -> Title:
    return Title(number, TmdbKind.TV, "蔵の夜", year, animation, None)


@pytest.mark.parametrize(
    ("matches", "chosen"),
    [
        ([], None),
        ([title(1, 2020)], 1),
        ([title(1, 2020, animation=False)], None),
        ([title(1, 2020, animation=False), title(2, 2021)], 2),
        ([title(1, 2019), title(2, 2020)], 2),
        ([title(1, 2019), title(2, 2021)], None),
        ([title(1, 2020), title(2, 2020)], None),
        ([title(1, 2020, animation=False), title(2, 2021, animation=False)], None),
    ],
)
def test_only_animation_counts_then_the_nearest_year_and_nothing_is_guessed(
    matches: list[Title], chosen: int | None
) -> None:
    found = weigh(matches, 2020)
    assert (found and found.id) == chosen


@pytest.mark.parametrize(
    ("name", "local", "language", "japanese", "chinese", "english"),
    [
        ("蔵の夜", "Night of the Storehouse", "ja", "蔵の夜", None, "Night of the Storehouse"),
        # Where TMDB has no English name, it says the own one again.
        ("蔵の夜", "蔵の夜", "ja", "蔵の夜", None, None),
        ("KURA", "KURA", "ja", "KURA", None, "KURA"),
        ("The Cellar", "The Cellar", "en", None, None, "The Cellar"),
        ("仓之夜", "The Barn", "zh", None, "仓之夜", "The Barn"),
        ("창고", "The Barn", "ko", None, None, "The Barn"),
    ],
)
def test_a_title_is_kept_under_the_languages_that_tmdb_says(
    name: str, local: str, language: str, japanese: str | None, chinese: str | None, english: str | None
) -> None:
    found = Title(1, TmdbKind.TV, name, 2020, True, None, language=language, local_name=local)
    details = details_of_title(found)
    assert (details.title_japanese, details.title_chinese, details.title_english) == (japanese, chinese, english)


@pytest.mark.parametrize(
    ("name", "sequel"),
    [
        ("蔵の夜 第2期", ("蔵の夜", 2)),
        ("蔵の夜 第二期", ("蔵の夜", 2)),
        ("蔵の夜(第3シーズン)", ("蔵の夜", 3)),
        ("蔵の夜 Season 2", ("蔵の夜", 2)),
        ("蔵の夜 2nd Season", ("蔵の夜", 2)),
        ("蔵の夜Ⅲ", ("蔵の夜", 3)),
        ("蔵の夜IV", ("蔵の夜", 4)),
        ("REMIX", None),
        ("蔵の夜 Ⅲ", ("蔵の夜", 3)),
        ("蔵の夜 IV", ("蔵の夜", 4)),
        ("蔵の夜 2", ("蔵の夜", 2)),
        ("蔵の夜 第2期 第2クール", ("蔵の夜", 2)),
        ("蔵の夜", None),
        ("86", None),
        ("第2期", None),
        ("CIVIC", None),
    ],
)
def test_a_name_with_the_mark_of_a_season_names_its_show(name: str, sequel: tuple[str, int] | None) -> None:
    assert read_sequel(name) == (sequel and Sequel(*sequel))


@pytest.mark.parametrize(
    ("head", "extension"),
    [
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "jpg"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "png"),
        (b"GIF89a\x01\x00", "gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "webp"),
        (b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "avif"),
        (b"<!doctype html>", None),
        (b"<svg xmlns=", None),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", None),
        (b"", None),
    ],
)
def test_a_picture_is_known_by_its_content(head: bytes, extension: str | None) -> None:
    assert picture_type(head) == extension
