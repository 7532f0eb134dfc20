"""Out of the trash: back to where a file was, or away for good."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash, TrashEntry
from kurabito.library.errors import TrashConflict, TrashNotFound
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

DAY = 86_400.0
LOG = "SELECT action, state, error_code FROM deletion_log ORDER BY created_at, job_id, position"


def trash_of(shelf: Shelf, *, may_purge: bool = True) -> Trash:
    return Trash(shelf.database, days=30, may_purge=may_purge)


def entries(shelf: Shelf) -> list[TrashEntry]:
    return list(asyncio.run(trash_of(shelf).entries()).items)


def work(shelf: Shelf) -> None:
    assert Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()


@pytest.fixture
def entry(shelf: Shelf) -> TrashEntry:
    """A copy in the trash, its kept one in the library."""
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    plans = DeletionPlans(shelf.database, allowed=True)
    made = asyncio.run(plans.make(KeepRules()))
    asyncio.run(plans.apply(made.id, dry_run=False, confirm=True))
    work(shelf)
    shelf.clock.advance(1)
    (entry,) = entries(shelf)
    return entry


def test_nothing_is_restored_over_another_file(shelf: Shelf, entry: TrashEntry) -> None:
    shelf.path("copy").write_bytes(b"a new one")
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.path("copy").read_bytes() == b"a new one"
    assert shelf.all(LOG)[-1] == ("restore", "refused", "TARGET_EXISTS")
    (still,) = entries(shelf)
    assert (still.id, still.is_leaving) == (entry.id, False)
    assert still.refused is not None
    assert still.refused.error_code == "TARGET_EXISTS"
    # Once the place is free it can be tried again.
    shelf.path("copy").unlink()
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.path("copy").read_bytes() == b"the same"


def test_without_its_disk_no_entry_leaves_the_trash(shelf: Shelf, entry: TrashEntry, tmp_path: Path) -> None:
    trash, away = shelf.path(TRASH_FOLDER), tmp_path / "a disk that is not mounted"
    trash.rename(away)
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    shelf.clock.advance(31 * DAY)
    asyncio.run(trash_of(shelf).purge())
    work(shelf)
    assert shelf.all(LOG)[-2:] == [(action, "refused", "ROOT_UNAVAILABLE") for action in ("restore", "purge")]
    assert [each.id for each in entries(shelf)] == [entry.id]
    assert not trash.exists()
    away.rename(trash)
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.path("copy").read_bytes() == b"the same"


def test_an_entry_whose_file_somebody_took_says_so(shelf: Shelf, entry: TrashEntry) -> None:
    (shelf.path(TRASH_FOLDER) / entry.id).unlink()
    shelf.path("copy").write_bytes(b"not ours")
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.all(LOG)[-1] == ("restore", "refused", "FILE_MISSING")


def test_what_may_be_equal_to_a_file_that_comes_back_is_read_again(shelf: Shelf, entry: TrashEntry) -> None:
    # A scan in between took the kept file for the only one of its size, which nobody has to read.
    shelf.run("UPDATE library_files SET content_hash = NULL, hash_algorithm = NULL WHERE relative_path = 'kept'")
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.all("SELECT needs_hash FROM library_files WHERE relative_path = 'kept'") == [(1,)]


def test_a_row_that_tells_of_another_file_by_now_is_not_revived(shelf: Shelf, entry: TrashEntry) -> None:
    # Another file of the same size lay there, was scanned, and went.
    shelf.run(
        "UPDATE library_files SET mtime_ns = 4711, hash_algorithm = NULL, content_hash = NULL WHERE relative_path = 'copy'"
    )
    asyncio.run(trash_of(shelf).restore(entry.id))
    work(shelf)
    assert shelf.path("copy").read_bytes() == b"the same"
    assert shelf.all("SELECT is_missing, mtime_ns FROM library_files WHERE relative_path = 'copy'") == [(1, 4711)]


def test_an_entry_is_restored_once(shelf: Shelf, entry: TrashEntry) -> None:
    trash = trash_of(shelf)
    asyncio.run(trash.restore(entry.id))
    with pytest.raises(TrashConflict, match="on its way"):
        asyncio.run(trash.restore(entry.id))
    work(shelf)
    with pytest.raises(TrashConflict, match="restored"):
        asyncio.run(trash.restore(entry.id))
    for unknown in ("0" * 32, "", "%", "\0"):
        with pytest.raises(TrashNotFound):
            asyncio.run(trash.restore(unknown))


def test_what_was_kept_long_enough_is_purged(shelf: Shelf, entry: TrashEntry) -> None:
    shelf.clock.advance(30 * DAY - 2)
    assert asyncio.run(trash_of(shelf).purge()).job_id is None
    shelf.clock.advance(2)
    assert asyncio.run(trash_of(shelf, may_purge=False).purge()).job_id is None
    assert asyncio.run(trash_of(shelf).purge()).entries == 1
    # One order is enough.
    assert asyncio.run(trash_of(shelf).purge()).job_id is None
    work(shelf)
    assert list(shelf.path(TRASH_FOLDER).iterdir()) == []
    assert entries(shelf) == []
    assert shelf.path("kept").read_bytes() == b"the same"
    with pytest.raises(TrashConflict, match="purged"):
        asyncio.run(trash_of(shelf).restore(entry.id))


@pytest.mark.parametrize("loss", ["removed", "changed"])
def test_the_last_copy_stays_in_the_trash(shelf: Shelf, entry: TrashEntry, loss: str) -> None:
    # What the keeper did with the kept copy meanwhile no scan has seen.
    if loss == "removed":
        shelf.path("kept").unlink()
    else:
        shelf.path("kept").write_bytes(b"the sAme")
    shelf.clock.advance(31 * DAY)
    asyncio.run(trash_of(shelf).purge())
    work(shelf)
    assert shelf.all(LOG)[-1] == ("purge", "refused", "LAST_COPY")
    assert (shelf.path(TRASH_FOLDER) / entry.id).read_bytes() == b"the same"
    assert entries(shelf) == [entry]


def test_another_copy_anywhere_is_enough_to_purge(shelf: Shelf, entry: TrashEntry) -> None:
    shelf.put("moved/kept", library=2, mtime=1)
    shelf.path("kept").unlink()
    shelf.clock.advance(31 * DAY)
    asyncio.run(trash_of(shelf).purge())
    work(shelf)
    assert shelf.all(LOG)[-1] == ("purge", "done", None)
    assert entries(shelf) == []


def test_the_trash_is_shown_page_by_page_what_came_last_first(shelf: Shelf) -> None:
    for number in range(5):
        shelf.run(
            "INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, "
            "content_hash, trashed_at) VALUES (:id, 1, 1, 'a', '.kurabito-trash/b', 1, 'blake3', :hash, :at)",
            id=f"{number:032x}",
            hash=bytes(32),
            at=number // 2,
        )
    trash, found, cursor = trash_of(shelf), [], None
    while True:
        page = asyncio.run(trash.entries(limit=2, cursor=cursor))
        found += [int(one.id, 16) for one in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert found == [4, 3, 2, 1, 0]
