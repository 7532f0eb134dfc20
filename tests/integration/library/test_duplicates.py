"""Groups of duplicates, page by page."""

from __future__ import annotations

import base64
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import Connection
from kurabito.errors import InvalidInput
from kurabito.library.duplicates.groups import Duplicates, GroupKey
from kurabito.protocol.enums import HashAlgorithm

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

COUNTED = """
SELECT count(*), sum(size_bytes), hash_algorithm, content_hash,
       count(*) - count(inode) + count(DISTINCT CASE WHEN inode IS NOT NULL THEN inode END) AS copies
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
GROUP BY hash_algorithm, content_hash HAVING count(*) > 1
ORDER BY 1 DESC, 2 DESC, 3, 4
"""
ADD = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
VALUES (1, :path, :size, 1, 1, :inode, :missing, :needs_hash, :algorithm, :hash, :now, :now)
"""


def fill(shelf: Shelf, groups: int = 90) -> None:
    """Groups of few sizes and counts, so that many tie in all but the hash."""
    chosen = random.Random(7)

    def work(conn: Connection) -> None:
        for group in range(groups):
            size, algorithm = chosen.choice([10, 20]), chosen.choice(["blake3", "sha256"])
            digest, links = chosen.randbytes(32), chosen.random() < 0.3
            for file in range(chosen.choice([1, 2, 2, 3])):
                values = {
                    "path": f"{group}-{file}",
                    "size": size,
                    "inode": group if links else group * 10 + file + 1000,
                    "algorithm": algorithm,
                    "hash": digest,
                    "missing": int(chosen.random() < 0.05),
                    "needs_hash": int(chosen.random() < 0.05),
                }
                conn.run(ADD, values)

    shelf.database.write_blocking(work)


async def every_page(duplicates: Duplicates, limit: int, **options: Any) -> list[Any]:
    found, cursor = [], None
    while True:
        page = await duplicates.groups(limit=limit, cursor=cursor, **options)
        assert len(page.items) == limit or page.next_cursor is None
        found += [
            (one.file_count, one.total_size_bytes, one.key.hash_algorithm, one.key.content_hash, one.copies)
            for one in page.items
        ]
        if (cursor := page.next_cursor) is None:
            return found


@pytest.mark.parametrize("limit", [1, 4, 7, 1000])
async def test_the_pages_are_what_grouping_all_files_gives(shelf: Shelf, limit: int) -> None:
    fill(shelf)
    counted = shelf.all(COUNTED)
    assert len(counted) > 40
    assert len({row[:2] for row in counted}) < 6
    duplicates = Duplicates(shelf.database)
    assert await every_page(duplicates, limit) == counted
    real = [row for row in counted if row[-1] > 1]
    assert 0 < len(real) < len(counted)
    assert await every_page(duplicates, limit, reclaimable=True) == real


async def test_a_group_tells_what_keeping_one_copy_would_free(shelf: Shelf) -> None:
    shelf.put("a", b"12345")
    shelf.put("b", b"12345")
    shelf.path("link").hardlink_to(shelf.path("a"))
    shelf.know("link")
    (group,) = (await Duplicates(shelf.database).groups()).items
    assert (group.file_count, group.total_size_bytes, group.copies, group.reclaimable_bytes) == (3, 15, 2, 5)


async def test_a_cursor_is_json_with_what_the_order_goes_by(shelf: Shelf) -> None:
    fill(shelf)
    page = await Duplicates(shelf.database).groups(limit=3)
    assert page.next_cursor is not None
    last = page.items[-1]
    padded = page.next_cursor + "=" * (-len(page.next_cursor) % 4)
    assert json.loads(base64.urlsafe_b64decode(padded)) == {
        "file_count": last.file_count,
        "total_size_bytes": last.total_size_bytes,
        "hash_algorithm": last.key.hash_algorithm,
        "content_hash_hex": last.key.content_hash.hex(),
    }


GOOD = {"file_count": 2, "total_size_bytes": 5, "hash_algorithm": "blake3", "content_hash_hex": "0" * 64}


def encoded(payload: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(payload).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "日本",
        encoded([]),
        encoded({}),
        encoded({**GOOD, "more": 1}),
        encoded({**GOOD, "file_count": "2"}),
        encoded({**GOOD, "file_count": True}),
        encoded({**GOOD, "total_size_bytes": 2**63}),
        encoded({**GOOD, "total_size_bytes": -1}),
        encoded({**GOOD, "hash_algorithm": "md5"}),
        encoded({**GOOD, "hash_algorithm": ["blake3"]}),
        encoded({**GOOD, "content_hash_hex": "0" * 63}),
        encoded({**GOOD, "content_hash_hex": "g" * 64}),
        encoded({**GOOD, "content_hash_hex": 7}),
        encoded("[" * 5000),
    ],
)
async def test_a_cursor_that_no_page_gave_is_refused(shelf: Shelf, cursor: str) -> None:
    with pytest.raises(InvalidInput, match=r"^cursor: "):
        await Duplicates(shelf.database).groups(cursor=cursor)
    assert (await Duplicates(shelf.database).groups(cursor=encoded(GOOD))).items == ()


@pytest.mark.parametrize(
    "key", ["", "blake3", "md5:" + "0" * 32, "blake3:" + "0" * 63, "sha256:" + "0" * 65, "BLAKE3:" + "0" * 64]
)
async def test_a_group_key_that_is_none_is_refused(shelf: Shelf, key: str) -> None:
    with pytest.raises(InvalidInput, match=r"^group_key: "):
        await Duplicates(shelf.database).files(key)


async def test_the_files_of_a_group_come_in_the_order_of_their_ids(shelf: Shelf) -> None:
    ids = [shelf.put(f"{number}.mkv") for number in range(5)]
    shelf.put("other.mkv", b"another")
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE id = :id", id=ids[1])
    shelf.run("UPDATE library_files SET needs_hash = 1 WHERE id = :id", id=ids[3])
    duplicates = Duplicates(shelf.database)
    (group,) = (await duplicates.groups()).items
    first = await duplicates.files(str(group.key), limit=2)
    assert [file.id for file in first.items] == [ids[0], ids[2]]
    assert first.next_cursor == str(ids[2])
    rest = await duplicates.files(str(group.key), limit=2, cursor=first.next_cursor)
    assert ([file.id for file in rest.items], rest.next_cursor) == ([ids[4]], None)
    for cursor in ("x", "-1", "1.5", "9" * 19, "\u0661"):
        with pytest.raises(InvalidInput, match=r"^cursor: "):
            await duplicates.files(str(group.key), cursor=cursor)


async def test_a_key_is_written_as_it_is_read() -> None:
    key = GroupKey(HashAlgorithm.SHA256, bytes(range(32)))
    assert str(key) == "sha256:" + bytes(range(32)).hex()
    assert GroupKey.parse(str(key)) == key
