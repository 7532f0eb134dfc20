"""Delete jobs on a real disk: every step is checked right before it is taken."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.deletion import log
from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.removal import syscalls
from kurabito.dataplane.removal.file_refs import OpenRoots
from kurabito.dataplane.removal.pairs import Pair
from kurabito.db import leases
from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans, PlanStep
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased.jobs import JOBS

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

GROUPS = "SELECT file_count, copies FROM duplicate_groups"


def plan(shelf: Shelf, mode: DeleteMode = DeleteMode.TRASH) -> DeletionPlan:
    return asyncio.run(plans(shelf).make(KeepRules(), mode=mode))


def plans(shelf: Shelf) -> DeletionPlans:
    return DeletionPlans(shelf.database, allowed=True)


def apply(shelf: Shelf, made: DeletionPlan, *, dry_run: bool = False) -> None:
    asyncio.run(plans(shelf).apply(made.id, dry_run=dry_run, confirm=not dry_run))
    work(shelf)


def work(shelf: Shelf, executor: Callable[[LeasedJob], None] = delete) -> None:
    assert Runner(shelf.plane, JobWork({JobKind.DELETE: executor}), name="plane", heartbeat=60.0).work()


def steps(shelf: Shelf, made: DeletionPlan) -> list[PlanStep]:
    return list(asyncio.run(plans(shelf).steps(made.id, limit=100)).items)


def outcomes(shelf: Shelf, made: DeletionPlan) -> list[tuple[str, str | None]]:
    return [(str(step.state), step.error_code) for step in steps(shelf, made)]


def trashed(shelf: Shelf, library: int = 1) -> list[Path]:
    folder = shelf.path(TRASH_FOLDER, library)
    return sorted(file for file in folder.iterdir() if file.suffix != ".json") if folder.exists() else []


def last_job(shelf: Shelf) -> tuple[Any, ...]:
    rows = shelf.all(
        "SELECT status, error_code, error_message, processed_items FROM jobs ORDER BY created_at, finished_at"
    )
    return rows[-1]


def test_a_duplicate_goes_to_the_trash_and_comes_back(shelf: Shelf) -> None:
    shelf.put("kept.mkv", mtime=1)
    removed = shelf.put("folder/名前.mkv", mtime=2)
    made = plan(shelf)
    assert (made.file_count, made.freed_bytes, made.group_count) == (1, 8, 1)
    apply(shelf, made)
    assert outcomes(shelf, made) == [("done", None)]
    assert last_job(shelf) == ("completed", None, None, 1)
    assert shelf.path("kept.mkv").read_bytes() == b"the same"
    assert not shelf.path("folder/名前.mkv").exists()
    assert [file.read_bytes() for file in trashed(shelf)] == [b"the same"]
    # The file is known to be gone at once, without another scan.
    assert shelf.all("SELECT is_missing FROM library_files WHERE id = :id", id=removed) == [(1,)]
    assert shelf.all(GROUPS) == [(1, 1)]

    # Nobody needs an empty folder, and it is made again.
    shelf.path("folder").rmdir()
    trash = Trash(shelf.database, days=30, may_purge=True)
    (entry,) = asyncio.run(trash.entries()).items
    assert (entry.relative_path, entry.size_bytes) == ("folder/名前.mkv", 8)
    asyncio.run(trash.restore(entry.id))
    work(shelf)
    assert shelf.path("folder/名前.mkv").read_bytes() == b"the same"
    assert shelf.path("folder/名前.mkv").stat().st_mtime == 2
    assert trashed(shelf) == []
    assert shelf.all(GROUPS) == [(2, 2)]
    assert asyncio.run(trash.entries()).items == ()


def test_a_dry_run_checks_everything_and_touches_nothing(shelf: Shelf) -> None:
    for name, mtime in (("a", 1), ("b", 2), ("c", 3)):
        shelf.put(name, mtime=mtime)
    made = plan(shelf)
    shelf.path("c").write_bytes(b"somethi!")
    os.utime(shelf.path("c"), ns=(3 * 10**9, 3 * 10**9))
    apply(shelf, made, dry_run=True)
    assert outcomes(shelf, made) == [("checked", None), ("refused", "CONTENT_DIFFERS")]
    assert {file.name for file in shelf.path("").iterdir()} == {"a", "b", "c"}
    # What was only checked can still be applied; what was not what its hash says is being read again.
    apply(shelf, made)
    assert outcomes(shelf, made) == [("done", None), ("refused", "FILE_CHANGED")]


def rewrite(shelf: Shelf, name: str) -> None:
    shelf.path(name).write_bytes(b"another!")


def same_look_other_bytes(shelf: Shelf, name: str) -> None:
    before = shelf.path(name).stat()
    shelf.path(name).write_bytes(b"the sAme")
    os.utime(shelf.path(name), ns=(before.st_atime_ns, before.st_mtime_ns))


def remove(shelf: Shelf, name: str) -> None:
    shelf.path(name).unlink()


def replace_by_symlink(shelf: Shelf, name: str) -> None:
    shelf.path(name).rename(shelf.path("elsewhere"))
    shelf.path(name).symlink_to(shelf.path("elsewhere"))


def hash_again(shelf: Shelf, name: str) -> None:
    shelf.run("UPDATE library_files SET needs_hash = 1 WHERE relative_path = :name", name=name)


def find_other_content(shelf: Shelf, name: str) -> None:
    shelf.run("UPDATE library_files SET content_hash = :hash WHERE relative_path = :name", name=name, hash=b"0" * 32)


def find_missing(shelf: Shelf, name: str) -> None:
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE relative_path = :name", name=name)


def make_same_file(shelf: Shelf, name: str) -> None:
    other = "kept" if name == "copy" else "copy"
    before = shelf.path(name).stat()
    shelf.path(name).unlink()
    shelf.path(name).hardlink_to(shelf.path(other))
    shelf.run(
        "UPDATE deletion_steps SET mtime_ns = :ns, kept_mtime_ns = :ns WHERE kept_path = 'kept'", ns=before.st_mtime_ns
    )
    shelf.run("UPDATE library_files SET mtime_ns = :ns WHERE relative_path IN ('kept', 'copy')", ns=before.st_mtime_ns)
    os.utime(shelf.path(name), ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("mode", [DeleteMode.TRASH, DeleteMode.HARDLINK])
@pytest.mark.parametrize(
    ("change", "name", "code"),
    [
        (rewrite, "copy", "FILE_CHANGED"),
        (rewrite, "kept", "KEPT_CHANGED"),
        (same_look_other_bytes, "copy", "CONTENT_DIFFERS"),
        (same_look_other_bytes, "kept", "CONTENT_DIFFERS"),
        (remove, "copy", "FILE_MISSING"),
        (remove, "kept", "KEPT_MISSING"),
        (replace_by_symlink, "copy", "FILE_MISSING"),
        (replace_by_symlink, "kept", "KEPT_MISSING"),
        (hash_again, "copy", "FILE_CHANGED"),
        (hash_again, "kept", "KEPT_CHANGED"),
        (find_other_content, "copy", "FILE_CHANGED"),
        (find_missing, "copy", "FILE_CHANGED"),
        (find_missing, "kept", "KEPT_CHANGED"),
        (make_same_file, "kept", "SAME_FILE"),
    ],
)
def test_a_step_that_was_decided_about_other_files_is_refused(
    shelf: Shelf, mode: DeleteMode, change: Callable[[Shelf, str], None], name: str, code: str
) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    shelf.put("first", b"fine", mtime=1)
    shelf.put("second", b"fine", mtime=2)
    made = plan(shelf, mode)
    change(shelf, name)
    before = {file.name: file.read_bytes() for file in shelf.path("").iterdir()}
    apply(shelf, made)
    # The rest of the plan is not held up by it.
    assert sorted(outcomes(shelf, made)) == [("done", None), ("refused", code)]
    after = {file.name: file.read_bytes() for file in shelf.path("").iterdir() if file.is_file()}
    before.pop("second") if mode is DeleteMode.TRASH else None
    assert after == before
    assert last_job(shelf)[0] == "completed"


def test_a_plan_that_removes_its_kept_copy_too_is_refused_there(shelf: Shelf) -> None:
    shelf.put("a", mtime=1)
    shelf.put("b", mtime=2)
    made = plan(shelf)
    # No rule makes such a plan; somebody wrote it.
    shelf.run(
        "INSERT INTO deletion_steps SELECT plan_id, 2, kept_file_id, library_id, kept_path, size_bytes, kept_mtime_ns, "
        "hash_algorithm, content_hash, file_id, library_id, relative_path, mtime_ns, reason FROM deletion_steps"
    )
    apply(shelf, made)
    assert outcomes(shelf, made) == [("refused", "KEPT_IN_DOUBT"), ("refused", "KEPT_IN_DOUBT")]
    assert {file.name for file in shelf.path("").iterdir()} == {"a", "b"}


def test_a_copy_in_a_trash_is_no_reason_to_remove_the_other(shelf: Shelf) -> None:
    """Rows of a time in which no guard refused them may tell of a trash as of any other folder."""
    shelf.put("kept", mtime=1)
    shelf.put("last", mtime=2)
    made = plan(shelf)
    if shelf.database.dialect.has_server:
        shelf.run("ALTER TABLE library_files DROP CONSTRAINT path_below_library")
    else:
        shelf.run("DROP TRIGGER tr_library_files_path")
    shelf.path(TRASH_FOLDER).mkdir()
    shelf.path("kept").rename(shelf.path(f"{TRASH_FOLDER}/kept"))
    shelf.run(f"UPDATE library_files SET relative_path = '{TRASH_FOLDER}/kept' WHERE relative_path = 'kept'")
    shelf.run(f"UPDATE deletion_steps SET kept_path = '{TRASH_FOLDER}/kept'")
    apply(shelf, made)
    assert outcomes(shelf, made) == [("refused", "KEPT_IN_DOUBT")]
    assert shelf.path("last").exists()


def test_two_plans_that_keep_what_the_other_removes_leave_a_copy(shelf: Shelf) -> None:
    shelf.put("a", mtime=1)
    shelf.put("b", mtime=2)
    one, other = plan(shelf), plan(shelf)
    shelf.run(
        "UPDATE deletion_steps SET file_id = kept_file_id, relative_path = kept_path, mtime_ns = kept_mtime_ns, "
        "kept_file_id = file_id, kept_path = relative_path, kept_mtime_ns = mtime_ns WHERE plan_id = :id",
        id=other.id,
    )
    for made in (one, other):
        asyncio.run(plans(shelf).apply(made.id, dry_run=False, confirm=True))
    (first,) = shelf.all("SELECT job_id FROM deletion_plans WHERE id = :id", id=one.id)

    class Meeting(Exception):
        pass

    def leave_in_the_middle(job: LeasedJob) -> None:
        assert (job.id,) == first
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(syscalls, "rename_without_replacing", lambda *_, **__: (_ for _ in ()).throw(Meeting()))
            delete(job)

    shelf.run("UPDATE jobs SET created_at = created_at + 1 WHERE id <> :id", id=first[0])
    work(shelf, leave_in_the_middle)
    shelf.run("UPDATE jobs SET status = 'retryable' WHERE id = :id", id=first[0])
    # The first one says that it will remove b and keep a, so the second may not remove a.
    work(shelf)
    assert outcomes(shelf, other) == [("refused", "KEPT_IN_DOUBT")]
    shelf.run("UPDATE jobs SET status = 'pending' WHERE id = :id", id=first[0])
    work(shelf)
    assert outcomes(shelf, one) == [("done", None)]
    assert shelf.path("a").exists()


def test_a_hard_link_takes_the_place_of_a_copy(shelf: Shelf) -> None:
    kept = shelf.put("kept", mtime=1)
    copy = shelf.put("deep/copy", mtime=2)
    made = plan(shelf, DeleteMode.HARDLINK)
    apply(shelf, made)
    assert outcomes(shelf, made) == [("done", None)]
    assert shelf.path("deep/copy").samefile(shelf.path("kept"))
    assert trashed(shelf) == []
    facts = "SELECT device, inode, mtime_ns, is_missing FROM library_files WHERE id = :id"
    assert shelf.all(facts, id=kept) == shelf.all(facts, id=copy)
    assert shelf.all(GROUPS) == [(2, 1)]


def test_a_clone_takes_the_place_of_a_copy_where_the_file_system_can(shelf: Shelf) -> None:
    shelf.put("kept", b"x" * 8192, mtime=1)
    shelf.put("copy", b"x" * 8192, mtime=2)
    shelf.path("copy").chmod(0o640)
    made = plan(shelf, DeleteMode.REFLINK)
    apply(shelf, made)
    found = shelf.path("copy").stat()
    assert shelf.path("copy").read_bytes() == b"x" * 8192
    assert (found.st_mtime, found.st_mode & 0o777) == (2, 0o640)
    assert not shelf.path("copy").samefile(shelf.path("kept"))
    assert trashed(shelf) == []
    if can_clone(shelf.path("")):
        assert outcomes(shelf, made) == [("done", None)]
    else:
        assert outcomes(shelf, made) == [("refused", "LINK_UNSUPPORTED")]
        assert "trash" in (steps(shelf, made)[0].error_message or "")


def can_clone(folder: Path) -> bool:
    with (folder / "kept").open("rb") as source, (folder.parent / "clone").open("wb") as target:
        try:
            fcntl.ioctl(target, 0x40049409, source.fileno())
        except OSError:
            return False
        return True


def test_a_link_out_of_the_library_is_never_followed(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    shelf.put("kept", mtime=1)
    shelf.put("folder/copy", mtime=2)
    made = plan(shelf)
    shelf.path("folder").rename(outside / "folder")
    shelf.path("folder").symlink_to(outside / "folder")
    apply(shelf, made)
    assert (outside / "folder/copy").read_bytes() == b"the same"
    ((state, code),) = outcomes(shelf, made)
    assert (state, code) in (("refused", "FILE_MISSING"), ("refused", "DISK_FAILURE"))


def test_a_trash_folder_that_is_a_link_is_not_used(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    outside = tmp_path / "outside"
    outside.mkdir()
    shelf.path(TRASH_FOLDER).symlink_to(outside)
    made = plan(shelf)
    apply(shelf, made)
    assert outcomes(shelf, made) == [("refused", "DISK_FAILURE")]
    assert shelf.path("copy").exists()
    assert list(outside.iterdir()) == []


def test_a_library_that_is_not_there_is_said_to_be(shelf: Shelf) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", library=2, mtime=2)
    made = plan(shelf)
    shelf.path("", 2).rename(shelf.folder / "unmounted")
    apply(shelf, made)
    assert outcomes(shelf, made) == [("refused", "ROOT_UNAVAILABLE")]


def test_a_worker_that_lost_its_lease_touches_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    made = plan(shelf)
    compare = Pair.compare

    def slowly(pair: Pair, between: Callable[[], None]) -> None:
        compare(pair, between)
        shelf.clock.advance(31)
        shelf.database.write_blocking(lambda conn: leases.recover(conn, JOBS))

    monkeypatch.setattr(Pair, "compare", slowly)
    apply(shelf, made)
    assert shelf.path("copy").exists()
    assert outcomes(shelf, made) == [("None", None)]
    assert last_job(shelf)[0] == "retryable"


def test_a_file_that_is_laid_there_in_the_last_moment_is_not_lost(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    made = plan(shelf)
    rename = syscalls.rename_without_replacing

    def late(*args: Any) -> None:
        monkeypatch.setattr(syscalls, "rename_without_replacing", rename)
        (shelf.folder / "new").write_bytes(b"just written")
        (shelf.folder / "new").rename(shelf.path("copy"))
        rename(*args)

    monkeypatch.setattr(syscalls, "rename_without_replacing", late)
    apply(shelf, made)
    assert outcomes(shelf, made) == [("refused", "FILE_CHANGED")]
    assert shelf.path("copy").read_bytes() == b"just written"


def test_the_trash_lies_at_the_top_of_the_files_own_file_system(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.path("disk/deep").mkdir(parents=True)
    inodes = {shelf.path(name).stat().st_ino for name in ("disk", "disk/deep")}
    fstat = os.fstat

    def with_mount(fd: int) -> os.stat_result:
        found = fstat(fd)
        if found.st_ino not in inodes:
            return found
        return os.stat_result([*found[:2], 4711, *found[3:]])

    with OpenRoots[int](lambda _: shelf.path("")) as roots:
        assert roots.trash_path(1, "disk/deep/file", "x") == f"{TRASH_FOLDER}/x"
        monkeypatch.setattr(os, "fstat", with_mount)
        assert roots.trash_path(1, "disk/deep/file", "x") == f"disk/{TRASH_FOLDER}/x"
        assert roots.trash_path(1, "file", "x") == f"{TRASH_FOLDER}/x"


def test_a_file_that_is_put_back_after_a_crash_is_not_missing_whatever_a_scan_saw(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    made = plan(shelf)
    with monkeypatch.context() as patch:
        patch.setattr(log, "trashed", lambda *_: 1 / 0)
        apply(shelf, made)
    assert not shelf.path("copy").exists()
    # A scan that comes now sees no file there, and the other as the only one of its size. Then the plan grows old.
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE relative_path = 'copy'")
    shelf.run("UPDATE library_files SET content_hash = NULL, hash_algorithm = NULL WHERE relative_path = 'kept'")
    shelf.run("UPDATE jobs SET status = 'pending'")
    work(shelf)
    assert shelf.path("copy").read_bytes() == b"the same"
    known = "SELECT relative_path, is_missing, needs_hash FROM library_files ORDER BY id"
    assert shelf.all(known) == [("kept", 0, 1), ("copy", 0, 0)]


def test_a_step_that_was_begun_is_not_judged_while_its_disk_is_away(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    made = plan(shelf)
    with monkeypatch.context() as patch:
        patch.setattr(log, "trashed", lambda *_: 1 / 0)
        apply(shelf, made)
    # The file was moved, and the worker died before it could say so.
    assert len(trashed(shelf)) == 1
    assert outcomes(shelf, made) == [("intent", None)]

    shelf.path("").rename(shelf.folder / "unplugged")
    shelf.path("").mkdir()
    shelf.run("UPDATE jobs SET status = 'pending'")
    work(shelf)
    assert last_job(shelf)[:2] == ("failed", "ROOT_UNAVAILABLE")
    trash = Trash(shelf.database, days=30, may_purge=False)
    assert asyncio.run(trash.purge()).job_id is not None
    work(shelf)
    assert outcomes(shelf, made) == [("intent", None)]
    assert list(shelf.path("").iterdir()) == []

    shelf.path("").rmdir()
    (shelf.folder / "unplugged").rename(shelf.path(""))
    asyncio.run(trash.purge())
    work(shelf)
    assert outcomes(shelf, made) == [("refused", "WORKER_LOST")]
    assert shelf.path("copy").read_bytes() == b"the same"
    assert trashed(shelf) == []
