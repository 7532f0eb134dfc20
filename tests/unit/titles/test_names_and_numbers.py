"""Where a name ends and the number of an episode begins."""

from __future__ import annotations

import pytest

from kurabito.titles import parse_title

COUNTED = [
    ("[Kura] Koji Sketch x 365 (1280x720 Blu-Ray FLAC) 01-13 Batch", "Koji Sketch x 365", tuple(range(1, 14))),
    ("[Kura] Brewer 100 (BD 1080p) 01-12", "Brewer 100", tuple(range(1, 13))),
    ("[Kura] Brewer 100 [Kura-hen] 05 [720p]", "Brewer 100", (5,)),
    ("[Kura] Koji Sketch x 365 (1280x720) - 05 [A1B2C3D4].mkv", "Koji Sketch x 365", (5,)),
    ("[Kura] Koji 031 [720p]", "Koji", (31,)),
    ("[Kura] Koji 05 (720p) [2019]", "Koji", (5,)),
]


@pytest.mark.parametrize(("title", "name", "episodes"), COUNTED)
def test_a_number_before_brackets_ends_the_name_where_another_counts_behind_them(
    title: str, name: str, episodes: tuple[int, ...]
) -> None:
    found = parse_title(title)

    assert (found.title, found.episodes) == (name, episodes)


WORDS_OF_ITS_OWN = [
    ("KURA ALBUM 第20頁 (TVK 1280x720 DivX685).avi", ("KURA ALBUM",), (20,)),
    ("YEAST ALBUM イーストアルバム 第20頁 (TVK 1280x720 DivX685).avi", ("YEAST ALBUM", "イーストアルバム"), (20,)),
    ("夜の蔵人 第9杯 (BS11 1280x720 x264).mp4", ("夜の蔵人",), (9,)),
    ("[酒组] 夜之蔵人 第2羽 [720p]", ("夜之蔵人",), (2,)),
    ("[酒组][夜之蔵人][第12盃][720p]", ("夜之蔵人",), (12,)),
    ("夜の蔵人 第4章 (MBS 1280x720 x264 AAC).mp4", ("夜の蔵人",), (4,)),
    ("夜の蔵人 第3夜「酒の歌」 (MX 1280x720 x264 AAC).mp4", ("夜の蔵人",), (3,)),
]
WORDS_OF_NAMES = [
    ("[酒组] 夜之蔵人 第4章 [BDRip 1080p]", "夜之蔵人 第4章", ()),
    ("[酒组] 夜之蔵人 第4章 - 05 [1080p]", "夜之蔵人 第4章", (5,)),
    ("[酒组] 夜之蔵人 第2巻 [BDRip 1080p]", "夜之蔵人 第2巻", ()),
    ("[酒组] 第7蔵 - 05 [1080p]", "第7蔵", (5,)),
    ("[酒组] 第7蔵 [1080p]", "第7蔵", ()),
    ("[酒组] 第7蔵探偵 [05][1080p]", "第7蔵探偵", (5,)),
]


@pytest.mark.parametrize(("title", "names", "episodes"), WORDS_OF_ITS_OWN)
def test_a_show_may_count_its_episodes_by_a_word_of_its_own(
    title: str, names: tuple[str, ...], episodes: tuple[int, ...]
) -> None:
    found = parse_title(title)

    assert (found.titles, found.season, found.episodes) == (names, None, episodes)


@pytest.mark.parametrize(("title", "name", "episodes"), WORDS_OF_NAMES)
def test_what_counts_films_and_discs_or_is_a_name_counts_no_episodes(
    title: str, name: str, episodes: tuple[int, ...]
) -> None:
    found = parse_title(title)

    assert (found.title, found.episodes) == (name, episodes)


SUBTITLES = [
    ("[Kura] Koji (TV) - Second Pressing - 03", "Koji - Second Pressing"),
    ("[Kura] Koji (TV) - Second Pressing - 03 [720p].mkv", "Koji - Second Pressing"),
    ("[Kura] Koji (2014) - Second Pressing - 03 [720p].mkv", "Koji - Second Pressing"),
    ("[Kura] Koji (TV) - Second Pressing [03][720p]", "Koji - Second Pressing"),
    ("[Kura] Koji (TV) - 03 [720p].mkv", "Koji"),
    ("[Kura] Koji (TV) - 03 - Second Pressing [720p].mkv", "Koji"),
    ("[Kura] Koji (2014) - 03 - Second Pressing [720p].mkv", "Koji"),
    ("[Kura] Koji (TV) S2 - 03 [720p].mkv", "Koji"),
]


@pytest.mark.parametrize(("title", "name"), SUBTITLES)
def test_a_subtitle_between_brackets_and_the_number_is_of_the_name(title: str, name: str) -> None:
    found = parse_title(title)

    assert (found.titles, found.episodes) == ((name,), (3,))
