"""Where tests run side by side, those that wait for programs are mixed with those that compute."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from tests.support.order import BEGUN_BY, WAITING, mixed, waits

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.rglob("test_*.py"))


def test_every_file_comes_once_and_each_kind_keeps_its_order() -> None:
    order = mixed(FILES)
    assert sorted(order) == FILES
    for kind in (True, False):
        assert [file for file in order if waits(file) is kind] == [file for file in FILES if waits(file) is kind]


def test_no_two_files_that_wait_begin_one_after_the_other() -> None:
    order = mixed(FILES)
    assert max(len(list(run)) for waiting, run in groupby(order, key=waits) if waiting) == 1
    last = max(place for place, file in enumerate(order) if waits(file))
    assert last < (BEGUN_BY + 0.05) * len(order)


def test_every_place_where_tests_wait_is_there() -> None:
    names = [file.relative_to(TESTS).as_posix() for file in FILES]
    assert [place for place in WAITING if not any(name.startswith(place) for name in names)] == []


def test_files_of_one_kind_stay_as_they_are() -> None:
    units = [file for file in FILES if file.is_relative_to(TESTS / "unit")]
    assert mixed(units) == units
    assert mixed([]) == []
