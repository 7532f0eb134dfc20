"""Moves on file systems that cannot do everything, and files that share their blocks."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import allow_any_path
from tests.support.waiting import PATIENCE

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.removal import syscalls
from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans
from kurabito.library.deletion.rules import KeepRule, KeepRules, Preference
from kurabito.library.deletion.trash import Trash
from kurabito.library.duplicates.groups import Duplicates
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.dataplane.removal.conftest import Mounts

pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def work(shelf: Shelf) -> None:
    assert Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()


def apply(shelf: Shelf, mode: DeleteMode = DeleteMode.TRASH, rules: KeepRules | None = None) -> list[Any]:
    plans = DeletionPlans(shelf.database, allowed=True)

    async def order() -> DeletionPlan:
        made = await plans.make(rules or KeepRules(), mode=mode)
        return await plans.apply(made.id, dry_run=False, confirm=True)

    made = asyncio.run(order())
    work(shelf)
    steps = asyncio.run(plans.steps(made.id, limit=100)).items
    return [(str(step.state), step.error_code) for step in steps]


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.fixture
def pair(shelf: Shelf) -> Shelf:
    shelf.put("kept", b"twice", mtime=1)
    shelf.put("in/copy", b"twice", mtime=2)
    return shelf


def test_without_links_a_file_is_moved_without_replacing(pair: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EPERM))
    assert apply(pair) == [("done", None)]
    assert not pair.path("in/copy").exists()
    trash = Trash(pair.database, days=30, may_purge=True)
    (entry,) = asyncio.run(trash.entries()).items
    assert sorted(item.name for item in pair.path(TRASH_FOLDER).iterdir()) == [entry.id, f"{entry.id}.json"]
    pair.path("in/copy").write_bytes(b"another")
    asyncio.run(trash.restore(entry.id))
    work(pair)
    assert pair.path("in/copy").read_bytes() == b"another"
    pair.path("in/copy").unlink()
    asyncio.run(trash.restore(entry.id))
    work(pair)
    assert pair.path("in/copy").read_bytes() == b"twice"
    assert list(pair.path(TRASH_FOLDER).iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL])
def test_a_kernel_that_cannot_move_without_replacing_still_has_links(
    pair: Shelf, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(syscalls, "_rename", failing(code))
    assert apply(pair) == [("done", None)]
    assert not pair.path("in/copy").exists()
    assert apply_restore(pair).read_bytes() == b"twice"


def apply_restore(shelf: Shelf) -> Path:
    trash = Trash(shelf.database, days=30, may_purge=True)
    (entry,) = asyncio.run(trash.entries()).items
    asyncio.run(trash.restore(entry.id))
    work(shelf)
    return shelf.path(entry.relative_path)


def test_where_neither_can_be_had_nothing_is_moved(pair: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EOPNOTSUPP))
    monkeypatch.setattr(syscalls, "_rename", failing(errno.EINVAL))
    assert apply(pair) == [("refused", "LINK_UNSUPPORTED")]
    assert pair.path("in/copy").read_bytes() == b"twice"
    assert list(pair.path(TRASH_FOLDER).iterdir()) == []


def test_without_swapping_a_name_is_not_made_a_link(pair: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syscalls, "_rename", failing(errno.EINVAL))
    assert apply(pair, DeleteMode.HARDLINK) == [("refused", "LINK_UNSUPPORTED")]
    assert not pair.path("in/copy").samefile(pair.path("kept"))
    assert list(pair.path(TRASH_FOLDER).iterdir()) == []


def test_a_copy_in_a_trash_is_never_the_one_that_is_kept(shelf: Shelf) -> None:
    # Somebody made a library of what lies in the trash of another one.
    inside = shelf.path(f"{TRASH_FOLDER}/earlier")
    inside.mkdir(parents=True)
    shelf.run("UPDATE library_roots SET root_path = :path WHERE id = 2", path=str(inside))
    (inside / "one").write_bytes(b"twice")
    shelf.path("one", 2).write_bytes(b"twice")
    shelf.know("one", 2)
    shelf.put("one", b"twice")
    in_trash = KeepRules((Preference(KeepRule.IN_LIBRARY, 2),))
    os.utime(inside / "one", ns=(1_000 * 10**9, 1_000 * 10**9))
    shelf.run("UPDATE library_files SET mtime_ns = :ns", ns=1_000 * 10**9)
    assert apply(shelf, rules=in_trash) == [("refused", "KEPT_IN_DOUBT")]
    assert shelf.path("one").read_bytes() == b"twice"


def test_rows_that_tell_of_files_in_a_trash_make_no_plan(shelf: Shelf) -> None:
    trashed = shelf.put("trashed", b"twice", mtime=1)
    shelf.put("one", b"twice", mtime=2)
    allow_any_path(shelf.database)
    shelf.run("UPDATE library_files SET relative_path = :path WHERE id = :id", path=f"{TRASH_FOLDER}/one", id=trashed)
    made = asyncio.run(DeletionPlans(shelf.database, allowed=True).make(KeepRules()))
    assert made.file_count == 0


@pytest.fixture
def btrfs(mounts: Mounts, mounted_shelf: Shelf, tmp_path: Path) -> Shelf:
    """The first library on a file system whose files can share blocks."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(256 << 20)
    try:
        subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"no file system with shared blocks can be made here: {problem}")
    mounts.loop(image, tmp_path / "library1")
    return mounted_shelf


def shared(path: Path) -> bool:
    """Whether the first block of a file is another file's too."""
    said = subprocess.run(
        ["filefrag", "-v", str(path)], capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout
    return "shared" in said


def test_files_that_share_their_blocks_stay_what_they_are(btrfs: Shelf) -> None:
    content = os.urandom((17 << 20) + 123)
    for age, name in enumerate(("kept", "copy", "other"), start=1):
        path = btrfs.path(name)
        path.write_bytes(content)
        path.chmod(0o640)
        os.setxattr(path, "user.note", name.encode())
        os.utime(path, ns=(age * 10**9, age * 10**9))
    btrfs.path("copy again").hardlink_to(btrfs.path("copy"))
    for name in ("kept", "copy", "other", "copy again"):
        btrfs.know(name)
    before = {name: btrfs.path(name).stat() for name in ("kept", "copy", "other")}
    assert apply(btrfs, DeleteMode.REFLINK) == [("done", None)] * 3
    for name, then in before.items():
        now = btrfs.path(name).stat()
        assert btrfs.path(name).read_bytes() == content
        assert os.getxattr(btrfs.path(name), "user.note") == name.encode()
        assert (now.st_ino, now.st_mtime_ns, now.st_mode, now.st_nlink) == (
            then.st_ino,
            then.st_mtime_ns,
            then.st_mode,
            then.st_nlink,
        )
        assert shared(btrfs.path(name))
    assert btrfs.path("copy again").samefile(btrfs.path("copy"))
    assert not btrfs.path(TRASH_FOLDER).exists()

    # There is nothing to gain any more, so the group is done.
    duplicates = Duplicates(btrfs.database)
    assert asyncio.run(duplicates.groups(reclaimable=True)).items == ()
    (group,) = asyncio.run(duplicates.groups()).items
    assert (group.file_count, group.copies, group.reclaimable_bytes) == (4, 1, 0)
    again = asyncio.run(DeletionPlans(btrfs.database, allowed=True).make(KeepRules(), mode=DeleteMode.REFLINK))
    assert again.file_count == 0

    # Each but the kept one is known to use the blocks of another.
    row = "SELECT shared_inode IS NOT NULL FROM library_files ORDER BY id"
    assert btrfs.all(row) == [(0,), (1,), (1,), (1,)]


def test_the_kernel_refuses_to_share_what_is_not_equal(btrfs: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    from kurabito.dataplane.removal.pairs import Pair

    for age, name in enumerate(("kept", "copy"), start=1):
        btrfs.put(name, b"x" * 20_000, mtime=age)
    compare = Pair.compare

    def late(pair: Pair, between: Callable[[], None]) -> None:
        compare(pair, between)
        # Written behind its times, so that nothing but its bytes tells.
        seen = btrfs.path("copy").stat()
        with btrfs.path("copy").open("r+b") as file:
            file.write(b"y")
        os.utime(btrfs.path("copy"), ns=(seen.st_atime_ns, seen.st_mtime_ns))

    monkeypatch.setattr(Pair, "compare", late)
    monkeypatch.setattr(Pair, "look_again", lambda _: None)
    assert apply(btrfs, DeleteMode.REFLINK) == [("refused", "CONTENT_DIFFERS")]
    assert btrfs.path("copy").read_bytes() == b"y" + b"x" * 19_999
    assert btrfs.path("kept").read_bytes() == b"x" * 20_000
    # The one whose hash is not that of its content is read again.
    assert btrfs.all("SELECT relative_path FROM library_files WHERE needs_hash = 1") == [("copy",)]
