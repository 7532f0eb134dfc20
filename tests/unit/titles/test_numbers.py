"""Numbers as titles write them."""

from __future__ import annotations

import pytest

from kurabito.titles import parse_title
from kurabito.titles.numbers import han_number, read_run


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("十", 10), ("十二", 12), ("二十", 20), ("二十四", 24), ("一百零一", 101), ("两百", 200), ("一二", 12)],
)
def test_a_chinese_number(text: str, value: int) -> None:
    assert han_number(text) == value


@pytest.mark.parametrize(
    ("text", "numbers", "version", "rest"),
    [
        ("12", (12,), None, ""),
        ("12v2 [x]", (12,), 2, " [x]"),
        ("12.5 [x]", (12.5,), None, " [x]"),
        ("02.Title", (2,), None, ".Title"),
        ("01-04]", (1, 2, 3, 4), None, "]"),
        ("01~04v3", (1, 2, 3, 4), 3, ""),
        ("01+07", (1, 7), None, ""),
        ("01E02E03.", (1, 2, 3), None, "."),
        ("5 to 7 x", (5, 6, 7), None, " x"),
        ("12-10", (12,), None, "-10"),
        ("111c [x]", (111,), None, " [x]"),
        ("03 - 100 Ways", (3,), None, " - 100 Ways"),
    ],
)
def test_a_run_of_numbers(text: str, numbers: tuple[float, ...], version: int | None, rest: str) -> None:
    run = read_run(text, 0)

    assert run is not None
    assert (run.numbers, run.version, text[run.end :]) == (numbers, version, rest)


def test_a_spaced_range_counts_only_where_nothing_follows() -> None:
    together = read_run("01 - 12 [x]", 0, spaced=True)
    apart = read_run("01 - 12 Angry Brewers", 0, spaced=True)

    assert together is not None
    assert apart is not None
    assert (len(together.numbers), apart.numbers) == (12, (1,))


@pytest.mark.parametrize(
    ("title", "name", "season", "episodes"),
    [
        ("Koji - 05 - 1999", "Koji", None, (5,)),
        ("Koji - 06 - 7", "Koji", None, (6,)),
        ("[Kura] 3x3 Koji - 04 [720p]", "3x3 Koji", None, (4,)),
        ("Koji.S03E04.5.1080p.WEB", "Koji", 3, (4.5,)),
    ],
)
def test_a_number_of_a_name_is_no_episode(
    title: str, name: str, season: int | None, episodes: tuple[float, ...]
) -> None:
    found = parse_title(title)
    assert (found.title, found.season, found.episodes) == (name, season, episodes)


def test_letters_are_no_run() -> None:
    assert read_run("x12", 0) is None


@pytest.mark.parametrize(
    ("title", "name", "part"),
    [
        ("[酒] 夜之蔵人 第2部分 - 05 [1080p]", "夜之蔵人", 2),
        ("[酒] 夜之蔵人 第四季 第三部分 [05][1080p]", "夜之蔵人", 3),
        ("[酒] 夜之蔵人 第2部 [05][1080p]", "夜之蔵人", None),
        ("[Kura] Yoru no Kurabito Part 2 - 05 [1080p]", "Yoru no Kurabito Part 2", None),
    ],
)
def test_a_part_beside_the_name_is_said_and_one_in_it_stays(title: str, name: str, part: int | None) -> None:
    found = parse_title(title)
    assert (found.title, found.part) == (name, part)
