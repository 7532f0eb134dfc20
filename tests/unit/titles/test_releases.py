"""Several hundred titles in the styles of the world, in tables under `releases/`. All are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.releases import read_tables, told

from kurabito.titles import parse_title, parser

RELEASES = list(read_tables(Path(__file__).with_name("releases")))


@pytest.mark.parametrize(("release", "says"), RELEASES, ids=[release for release, _ in RELEASES])
def test_a_release_says(release: str, says: dict[str, str]) -> None:
    found = parse_title(release)

    assert {name: told(name, found, value) for name, value in says.items()} == says


def test_the_tables_are_read() -> None:
    assert len(RELEASES) > 400
    assert all({"title", "episodes", "group"} & says.keys() for _, says in RELEASES)


def test_titles_that_differ_in_the_number_alone_are_read_as_each_of_them() -> None:
    """The third of them is not read as a whole any more."""
    counted = [release for release, _ in RELEASES if len(parser._COUNTED.findall(release)) == 1]
    assert len(counted) > 150
    for release in counted:
        before, behind = parser._COUNTED.split(release)
        for number in ("00", "01", "08", "10", "12", "19", "20", "24", "26", "30", "60", "80", "86", "99"):
            title = f"{before}{number}{behind}"
            found = parse_title(title)
            # What an explanation says is always read from the title itself.
            assert found == replace(parse_title(title, explain=True), findings=()), title


def test_the_number_of_a_title_that_was_read_before_is_its_own() -> None:
    read = [parse_title(f"[Kura] Yeast Cellar - {number:02} [1080p]") for number in range(1, 100)]
    assert [found.episodes for found in read] == [(number,) for number in range(1, 100)]
    assert {replace(found, episodes=()) for found in read} == {replace(read[0], episodes=())}
