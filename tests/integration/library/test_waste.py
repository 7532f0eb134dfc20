"""Groups by what they waste, page by page."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from kurabito.db import Connection
from kurabito.errors import InvalidInput
from kurabito.library.duplicates import reclaimable as module
from kurabito.library.duplicates.reclaimable import Reclaimable

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
VALUES (1, :path, :size, 1, 1, :inode, 0, 0, :algorithm, :hash, :now, :now)
"""


@pytest.fixture
def wasted(shelf: Shelf) -> list[tuple[int, str]]:
    """What each group wastes, largest first; many tie, and some are hard links that waste nothing."""
    chosen, expected = random.Random(11), []

    def work(conn: Connection) -> None:
        for group in range(40):
            size, algorithm, files = chosen.choice([10, 20]), chosen.choice(["blake3", "sha256"]), chosen.randint(1, 4)
            digest, linked = chosen.randbytes(32), chosen.random() < 0.3
            for file in range(files):
                inode = group if linked else 1000 + group * 10 + file
                values = {"path": f"{group}-{file}", "size": size, "inode": inode}
                conn.run(ADD, {**values, "algorithm": algorithm, "hash": digest})
            if files > 1 and not linked:
                expected.append((size * (files - 1), f"{algorithm}:{digest.hex()}"))

    shelf.database.write_blocking(work)
    return sorted(expected, key=lambda one: (-one[0], one[1]))


@pytest.mark.parametrize("limit", [1, 7, 1000])
async def test_the_most_wasteful_come_first_and_none_twice(
    shelf: Shelf, wasted: list[tuple[int, str]], limit: int
) -> None:
    found, cursor = [], None
    while True:
        page = await Reclaimable(shelf.database).groups(limit=limit, cursor=cursor, files=2)
        found += [(one.group.reclaimable_bytes, str(one.group.key)) for one in page]
        assert all(len(one.files) == min(2, one.group.file_count) for one in page)
        if (cursor := page.next_cursor) is None:
            break
    assert found == wasted


async def test_what_all_waste_is_added_up_as_far_as_a_page_may_count(
    shelf: Shelf, wasted: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    waste = Reclaimable(shelf.database)
    total = await waste.total()
    assert (total.groups, total.reclaimable_bytes) == (len(wasted), sum(one for one, _ in wasted))
    assert total.is_all
    monkeypatch.setattr(module, "COUNTED", 3)
    total = await waste.total()
    assert (total.groups, total.reclaimable_bytes, total.is_all) == (3, sum(one for one, _ in wasted[:3]), False)


@pytest.mark.parametrize("cursor", ["", "x", "5", "5-", "5-blake3:00", "-5-blake3:" + 64 * "0", "5-md5:" + 64 * "0"])
async def test_a_cursor_that_no_page_gave_is_refused(shelf: Shelf, cursor: str) -> None:
    with pytest.raises(InvalidInput, match=r"^cursor: "):
        await Reclaimable(shelf.database).groups(cursor=cursor)
