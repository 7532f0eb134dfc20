"""A trash outlives its library, and its database: what lies in it can be put back once its folder is added again."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.clock import from_datetime
from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import Executor, JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash, TrashEntry
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD_JOB = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES (:id, :kind, :library, :now, :now)"


def work(shelf: Shelf) -> None:
    executors: dict[JobKind, Executor] = {
        JobKind.SCAN: Scanner(shelf.folder / "state"),
        JobKind.HASH: HashFiles(),
        JobKind.DELETE: delete,
    }
    assert Runner(shelf.plane, JobWork(executors), name="plane", heartbeat=60.0).work()


def do(shelf: Shelf, kind: str, library: int = 1) -> None:
    shelf.run(ADD_JOB, id=str(uuid.uuid4()), kind=kind, library=library)
    work(shelf)
    assert shelf.all("SELECT error_message FROM jobs WHERE status = 'failed'") == []


def throw_away(shelf: Shelf) -> None:
    plans = DeletionPlans(shelf.database, allowed=True)

    async def apply() -> DeletionPlan:
        made = await plans.make(KeepRules())
        return await plans.apply(made.id, dry_run=False, confirm=True)

    asyncio.run(apply())
    work(shelf)


def entries(shelf: Shelf) -> list[TrashEntry]:
    return list(asyncio.run(Trash(shelf.database, days=30, may_purge=True).entries()).items)


def forget(shelf: Shelf, *tables: str) -> None:
    """Start with an empty database, as after a loss, or let a library go."""
    for table in tables or (
        "library_files",
        "trash_entries",
        "deletion_log",
        "deletion_steps",
        "deletion_plans",
        "jobs",
    ):
        shelf.run(f"DELETE FROM {table}")


@pytest.fixture
def thrown(shelf: Shelf) -> Shelf:
    """A library with one copy in its trash."""
    shelf.put("kept.mkv", mtime=1)
    shelf.put("folder/名前.mkv", mtime=2)
    throw_away(shelf)
    return shelf


def test_what_lies_in_the_trash_says_where_it_came_from(thrown: Shelf) -> None:
    (entry,) = entries(thrown)
    told: dict[str, Any] = json.loads((thrown.path(TRASH_FOLDER) / f"{entry.id}.json").read_text())
    assert told["path"] == "folder/名前.mkv"
    assert (told["size_bytes"], told["mtime_ns"]) == (8, 2 * 10**9)
    assert (told["hash_algorithm"], told["content_hash"]) == ("sha256", entry.group_key.content_hash.hex())
    assert told["trashed_at"] <= from_datetime(entry.trashed_at)
    assert (told["reason"], told["kept_path"]) == ("kept_is_older", str(thrown.path("kept.mkv")))
    assert told["library"] == str(thrown.path("")).rstrip("/")
    # Only who may look into the folders that it lay in may look into the trash.
    assert thrown.path(TRASH_FOLDER).stat().st_mode & 0o777 == 0o700


def test_a_trash_without_its_database_is_adopted_and_put_back(thrown: Shelf) -> None:
    (before,) = entries(thrown)
    forget(thrown)
    assert entries(thrown) == []
    do(thrown, "scan")
    (entry,) = entries(thrown)
    assert (entry.id, entry.library_id, entry.relative_path) == (before.id, 1, "folder/名前.mkv")
    assert (entry.size_bytes, entry.group_key) == (before.size_bytes, before.group_key)

    asyncio.run(Trash(thrown.database, days=30, may_purge=True).restore(entry.id))
    work(thrown)
    assert thrown.path("folder/名前.mkv").read_bytes() == b"the same"
    assert list(thrown.path(TRASH_FOLDER).iterdir()) == []
    assert entries(thrown) == []
    # It is known at once, without another scan, and has its equal after a hash.
    known = "SELECT relative_path, needs_hash FROM library_files WHERE is_missing = 0 ORDER BY relative_path"
    assert thrown.all(known)[0] == ("folder/名前.mkv", 1)
    do(thrown, "hash")
    assert thrown.all("SELECT file_count, copies FROM duplicate_groups") == [(2, 2)]


def test_what_was_thrown_away_after_a_copy_of_the_database_was_made_is_found_when_it_is_restored(thrown: Shelf) -> None:
    (before,) = entries(thrown)
    # The copy knows the file and nothing of the trash.
    forget(thrown, "trash_entries", "deletion_log")
    do(thrown, "scan")
    (entry,) = entries(thrown)
    assert (entry.id, entry.library_id, entry.relative_path) == (before.id, 1, "folder/名前.mkv")
    do(thrown, "scan")
    assert len(entries(thrown)) == 1
    asyncio.run(Trash(thrown.database, days=30, may_purge=True).restore(entry.id))
    work(thrown)
    assert thrown.path("folder/名前.mkv").read_bytes() == b"the same"


def test_a_trash_that_is_a_link_by_now_is_not_looked_into(thrown: Shelf) -> None:
    forget(thrown, "trash_entries", "deletion_log")
    trash = thrown.path(TRASH_FOLDER)
    trash.rename(thrown.folder / "elsewhere")
    trash.symlink_to(thrown.folder / "elsewhere")
    do(thrown, "scan")
    assert entries(thrown) == []


def test_a_scan_does_not_bring_back_an_entry_whose_file_is_just_taken_out(thrown: Shelf) -> None:
    (entry,) = entries(thrown)
    thrown.run("UPDATE trash_entries SET left_as = 'purged', left_at = 1")
    do(thrown, "scan")
    assert entries(thrown) == []
    assert thrown.all("SELECT id, left_at FROM trash_entries") == [(entry.id, 1)]


def test_the_entries_of_a_library_that_is_gone_go_over_to_the_one_that_has_its_folder(thrown: Shelf) -> None:
    (before,) = entries(thrown)
    thrown.run("DELETE FROM library_files WHERE library_id = 1")
    thrown.run("UPDATE library_roots SET id = 7 WHERE id = 1")
    do(thrown, "scan", library=7)
    (entry,) = entries(thrown)
    assert (entry.id, entry.library_id) == (before.id, 7)
    # Another scan changes nothing.
    do(thrown, "scan", library=7)
    assert entries(thrown) == [entry]


def test_a_folder_around_the_old_one_finds_its_trash_too(thrown: Shelf) -> None:
    (before,) = entries(thrown)
    forget(thrown)
    thrown.run("UPDATE library_roots SET root_path = :path WHERE id = 1", path=str(thrown.folder))
    do(thrown, "scan")
    (entry,) = entries(thrown)
    assert (entry.id, entry.relative_path) == (before.id, "library1/folder/名前.mkv")
    asyncio.run(Trash(thrown.database, days=30, may_purge=True).restore(entry.id))
    work(thrown)
    assert thrown.path("folder/名前.mkv").read_bytes() == b"the same"


def alter(**changes: Any) -> Any:
    def change(item: Path) -> None:
        beside = item.with_name(f"{item.name}.json")
        beside.write_text(json.dumps({**json.loads(beside.read_text()), **changes}))

    return change


def grow(item: Path) -> None:
    with item.open("ab") as file:
        file.write(b"!")


@pytest.mark.parametrize(
    "change",
    [
        alter(path="../../etc/passwd"),
        alter(path="/etc/passwd"),
        alter(path=["a"]),
        alter(path="half a character \ud800"),
        alter(path=f"{TRASH_FOLDER}/{'0' * 32}"),
        alter(content_hash="00"),
        alter(hash_algorithm="md5"),
        alter(size_bytes="8"),
        alter(size_bytes=9),
        alter(mtime_ns=2**70),
        alter(kurabito_trash=2),
        lambda item: item.with_name(f"{item.name}.json").write_text("[" * 100_000),
        lambda item: item.with_name(f"{item.name}.json").unlink(),
        lambda item: item.unlink(),
        grow,
    ],
)
def test_what_does_not_fit_is_left_alone(thrown: Shelf, change: Any) -> None:
    (entry,) = entries(thrown)
    item = thrown.path(TRASH_FOLDER) / entry.id
    forget(thrown)
    change(item)
    before = sorted(path.name for path in thrown.path(TRASH_FOLDER).iterdir())
    do(thrown, "scan")
    assert entries(thrown) == []
    assert sorted(path.name for path in thrown.path(TRASH_FOLDER).iterdir()) == before


def test_a_step_that_is_under_way_is_not_taken_for_an_entry(thrown: Shelf) -> None:
    (entry,) = entries(thrown)
    forget(thrown, "library_files", "trash_entries")
    thrown.run("UPDATE deletion_log SET state = 'intent' WHERE id = :id", id=entry.id)
    do(thrown, "scan")
    assert entries(thrown) == []


def test_files_that_are_not_what_their_hash_says_are_hashed_again(shelf: Shelf) -> None:
    for name in ("kept", "copy", "other"):
        shelf.path(name).write_bytes(b"the same")
    do(shelf, "scan")
    do(shelf, "hash")
    assert shelf.all("SELECT file_count, copies FROM duplicate_groups") == [(3, 3)]
    plans = DeletionPlans(shelf.database, allowed=True)
    made = asyncio.run(plans.make(KeepRules()))
    removed = asyncio.run(plans.steps(made.id)).items[-1].relative_path
    # Changed behind its times: no scan sees it.
    seen = shelf.path(removed).stat()
    shelf.path(removed).write_bytes(b"the sAme")
    os.utime(shelf.path(removed), ns=(seen.st_atime_ns, seen.st_mtime_ns))
    asyncio.run(plans.apply(made.id, dry_run=True))
    work(shelf)
    steps = asyncio.run(plans.steps(made.id)).items
    assert [step.error_code for step in steps] == [None, "CONTENT_DIFFERS"]
    waiting = "SELECT relative_path FROM library_files WHERE needs_hash = 1 AND content_hash IS NULL"
    assert shelf.all(waiting) == [(removed,)]
    do(shelf, "hash")
    assert shelf.all(waiting) == []
    assert shelf.all("SELECT file_count, copies FROM duplicate_groups ORDER BY 1") == [(1, 1), (2, 2)]


def test_a_file_that_was_written_to_has_blocks_of_its_own_again(shelf: Shelf) -> None:
    for name in ("kept", "copy"):
        shelf.path(name).write_bytes(b"the same")
    do(shelf, "scan")
    do(shelf, "hash")
    shelf.run("UPDATE library_files SET shared_inode = 4711")
    assert shelf.all("SELECT file_count, copies FROM duplicate_groups") == [(2, 1)]
    shelf.path("copy").unlink()
    shelf.path("copy").write_bytes(b"the same")
    do(shelf, "scan")
    do(shelf, "hash")
    assert shelf.all("SELECT file_count, copies FROM duplicate_groups") == [(2, 2)]
    shared = "SELECT shared_inode FROM library_files ORDER BY relative_path"
    assert shelf.all(shared) == [(None,), (4711,)]
