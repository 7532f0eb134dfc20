"""Pages are cut from a list with one item more, and a cursor is only what a page gave."""

from __future__ import annotations

import pytest

from kurabito.errors import InvalidInput
from kurabito.runtime.model import Page
from kurabito.runtime.paging import BIGGEST_ID, MAX_PAGE, check_limit, id_after, id_before


@pytest.mark.parametrize(
    ("found", "items", "next_cursor"),
    [([], (), None), ([1, 2], (1, 2), None), ([1, 2, 3], (1, 2, 3), None), ([1, 2, 3, 4], (1, 2, 3), "3")],
)
def test_only_a_page_with_more_behind_it_has_a_cursor(
    found: list[int], items: tuple[int, ...], next_cursor: str | None
) -> None:
    assert Page.cut(found, 3, str) == Page(items, next_cursor)


def test_a_list_begins_at_its_end_without_a_cursor() -> None:
    assert (id_after(None), id_before(None)) == (0, BIGGEST_ID)
    assert (id_after("7"), id_before("7")) == (7, 7)
    assert id_before(str(BIGGEST_ID)) == BIGGEST_ID


@pytest.mark.parametrize("cursor", ["", "x", "0", "-1", "+1", "01", " 1", "1.5", "\u0661", str(BIGGEST_ID + 1)])
def test_what_no_page_gave_is_refused(cursor: str) -> None:
    for read in (id_after, id_before):
        with pytest.raises(InvalidInput, match=r"^cursor: "):
            read(cursor)


def test_a_cursor_may_be_bounded_further() -> None:
    assert id_after("9", biggest=9) == 9
    with pytest.raises(InvalidInput, match=r"^cursor: "):
        id_after("10", biggest=9)


@pytest.mark.parametrize("limit", [0, -1, MAX_PAGE + 1, True, 1.0])
def test_a_page_has_at_least_one_item_and_not_too_many(limit: int) -> None:
    with pytest.raises(InvalidInput, match=r"^limit: "):
        check_limit(limit)
