"""Several hundred titles in the styles of the world, in tables under `releases/`. All are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.releases import read_tables, told

from kurabito.titles import parse_title

RELEASES = list(read_tables(Path(__file__).with_name("releases")))


@pytest.mark.parametrize(("release", "says"), RELEASES, ids=[release for release, _ in RELEASES])
def test_a_release_says(release: str, says: dict[str, str]) -> None:
    found = parse_title(release)

    assert {name: told(name, found, value) for name, value in says.items()} == says


def test_the_tables_are_read() -> None:
    assert len(RELEASES) > 400
    assert all({"title", "episodes", "group"} & says.keys() for _, says in RELEASES)
