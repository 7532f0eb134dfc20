"""Pictures that nobody needs are found and their removal is scheduled; files of libraries are never touched."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from kurabito.app.dataplane_process import supervised_plane
from kurabito.clock import SECOND, from_datetime
from kurabito.db import leases
from kurabito.errors import InvalidInput
from kurabito.protocol.enums import CleanupStatus, ThumbnailStatus
from kurabito.protocol.leased.cleanups import CLEANUPS, FINISH, FINISH_COLUMNS, FINISH_VALUES
from kurabito.protocol.leased.thumbnails import THUMBNAILS
from kurabito.settings import Settings
from kurabito.thumbnails.admission import Thumbnail, Thumbnails
from kurabito.thumbnails.cleanup import Cleanups
from kurabito.thumbnails.errors import ThumbnailNotReady
from kurabito.thumbnails.file_server import Pictures
from kurabito.thumbnails.keys import Drawing
from kurabito.thumbnails.metrics import measure
from kurabito.thumbnails.sweep import ThumbnailsSwept, ThumbnailSweep

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

OLD = 7200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "thumbs"


@pytest.fixture
def thumbnails(shelf: Shelf) -> Thumbnails:
    return Thumbnails(shelf.database)


@pytest.fixture
def cleanups(shelf: Shelf) -> Cleanups:
    return Cleanups(shelf.database)


@pytest.fixture
def sweeper(shelf: Shelf, cleanups: Cleanups, folder: Path) -> ThumbnailSweep:
    return ThumbnailSweep(shelf.database, cleanups, folder, shelf.clock)


async def drawn(shelf: Shelf, thumbnails: Thumbnails, folder: Path, file: int) -> Thumbnail:
    """A picture as a data plane would leave it."""
    asked = await thumbnails.request(file, Drawing())
    shelf.run("UPDATE thumbnails SET status = 'ready', bytes_size = 7 WHERE thumb_key = :key", key=asked.key)
    leave(shelf, folder / asked.output_path)
    return asked


def leave(shelf: Shelf, path: Path, age: int = OLD) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"picture")
    moment = shelf.clock.now() // SECOND - age
    os.utime(path, (moment, moment))


async def test_a_removal_waits_and_is_not_scheduled_twice(shelf: Shelf, cleanups: Cleanups) -> None:
    first = await cleanups.schedule("file:7")
    assert first.status is CleanupStatus.PENDING
    assert from_datetime(first.execute_after) == shelf.clock.now() + 600 * SECOND
    shelf.clock.advance(5)
    assert await cleanups.schedule("file:7") == first
    assert shelf.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=1, limit=1)) == []
    shelf.clock.advance(595)
    found = await measure(shelf.database, 5)
    assert (found.cleanup_waiting, found.cleanup_lag_seconds) == (1, 0.0)
    shelf.clock.advance(30)
    assert (await measure(shelf.database, 5)).cleanup_lag_seconds == 30.0
    assert len(shelf.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=1, limit=1))) == 1
    assert (await cleanups.schedule("file:7")).status is CleanupStatus.RUNNING
    for bad in ("", "file:0", "file:x", "blake3:12", "md5:" + "0" * 64, "../x"):
        with pytest.raises(InvalidInput):
            await cleanups.schedule(bad)


async def test_a_failed_removal_stays_failed_until_it_is_scheduled_again(shelf: Shelf, cleanups: Cleanups) -> None:
    first = await cleanups.schedule("file:7")
    shelf.clock.advance(600)
    shelf.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=SECOND, limit=1))
    ended = [(first.id, "p#1", "failed", "DISK_FAILURE", "no")]
    assert not shelf.plane.write_blocking(
        lambda conn: leases.finish(conn, CLEANUPS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)
    )
    shelf.clock.advance(10_000)
    assert shelf.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=SECOND, limit=1)) == []
    again = await cleanups.schedule("file:7")
    assert (again.id, again.status, again.error_code) == (first.id, CleanupStatus.PENDING, None)
    assert from_datetime(again.execute_after) == shelf.clock.now() + 600 * SECOND


@pytest.mark.parametrize("status", ["PENDING", "cancelled"])
async def test_no_other_status_of_a_removal_is_stored(shelf: Shelf, cleanups: Cleanups, status: str) -> None:
    await cleanups.schedule("file:7")
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation)):
        shelf.run("UPDATE thumbnail_cleanup_jobs SET status = :status", status=status)


async def test_pictures_of_files_that_are_gone_or_changed_are_found(
    shelf: Shelf, thumbnails: Thumbnails, sweeper: ThumbnailSweep, folder: Path
) -> None:
    files = {
        name: shelf.put(f"{name}.jpg", name.encode()) for name in ("kept", "missing", "forgotten", "changed", "touched")
    }
    pictures = {name: await drawn(shelf, thumbnails, folder, file) for name, file in files.items()}
    assert await sweeper.sweep() == ThumbnailsSwept(0, 0)
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE id = :id", id=files["missing"])
    shelf.run("DELETE FROM library_files WHERE id = :id", id=files["forgotten"])
    shelf.run("UPDATE library_files SET needs_hash = 1, mtime_ns = 5 WHERE id = :id", id=files["changed"])
    shelf.run("UPDATE library_files SET mtime_ns = 5 WHERE id = :id", id=files["touched"])
    assert await sweeper.sweep() == ThumbnailsSwept(3, 0)
    scheduled = shelf.all("SELECT group_key, status, execute_after FROM thumbnail_cleanup_jobs ORDER BY group_key")
    due = shelf.clock.now() + 600 * SECOND
    outdated = sorted(pictures[name].group_key for name in ("missing", "forgotten", "changed"))
    assert scheduled == [(group_key, "pending", due) for group_key in outdated]
    # Removing is for the data plane, and it is not time yet.
    assert shelf.all("SELECT count(*) FROM thumbnails") == [(5,)]
    assert await sweeper.sweep() == ThumbnailsSwept(3, 0)
    assert shelf.all("SELECT count(*) FROM thumbnail_cleanup_jobs") == [(3,)]


async def test_files_that_no_row_knows_are_removed_and_nothing_else(
    shelf: Shelf, thumbnails: Thumbnails, sweeper: ThumbnailSweep, folder: Path, tmp_path: Path
) -> None:
    file = shelf.put("kept.jpg")
    known = await drawn(shelf, thumbnails, folder, file)
    orphan, young, part, new_part = (folder / name for name in ("ab/abc.jpg", "cd/cde.jpg", ".parts/old", ".parts/new"))
    leave(shelf, orphan)
    leave(shelf, part)
    leave(shelf, young, age=3000)
    leave(shelf, new_part, age=3000)
    (folder / "outside").symlink_to(shelf.folder / "library1")
    (folder / "ab" / "link.jpg").symlink_to(shelf.path("kept.jpg"))
    swept = await sweeper.sweep()
    assert not orphan.exists()
    assert not part.exists()
    for path in (folder / known.output_path, young, new_part, shelf.path("kept.jpg")):
        assert path.read_bytes()
    # A link is as young as it is; what it leads to is not looked at.
    assert swept == ThumbnailsSwept(0, 2)
    assert sorted(path.name for path in (shelf.folder / "library1").iterdir()) == ["kept.jpg"]


async def test_finished_removals_are_forgotten_after_a_day(
    shelf: Shelf, sweeper: ThumbnailSweep, cleanups: Cleanups
) -> None:
    await cleanups.schedule("file:7")
    shelf.run("UPDATE thumbnail_cleanup_jobs SET status = 'completed', finished_at = :now")
    await cleanups.schedule("file:8")
    shelf.clock.advance(24 * 3600 - 1)
    await sweeper.sweep()
    assert shelf.all("SELECT count(*) FROM thumbnail_cleanup_jobs") == [(2,)]
    shelf.clock.advance(1)
    await sweeper.sweep()
    assert shelf.all("SELECT group_key FROM thumbnail_cleanup_jobs") == [("file:8",)]


async def test_only_what_lies_in_the_folder_is_shown(
    shelf: Shelf, thumbnails: Thumbnails, folder: Path, tmp_path: Path
) -> None:
    pictures = Pictures(thumbnails, folder)
    file = shelf.put("secret.jpg")
    asked = await thumbnails.request(file, Drawing())
    leave(shelf, folder / asked.output_path)
    with pytest.raises(ThumbnailNotReady, match="pending"):
        await pictures.find(asked.key)
    size = shelf.path("secret.jpg").write_bytes((folder / asked.output_path).read_bytes())
    shelf.run("UPDATE thumbnails SET status = 'ready', bytes_size = :size", size=size)
    shown = await pictures.find(asked.key)
    assert (shown.path, shown.media_type) == (folder / asked.output_path, "image/jpeg")
    (folder / "aa").mkdir(exist_ok=True)
    (folder / "aa" / "link.jpg").symlink_to(shelf.path("secret.jpg"))
    for astray in ("../../library1/secret.jpg", str(shelf.path("secret.jpg")), "aa/link.jpg", "aa", "aa/none.jpg"):
        shelf.run("UPDATE thumbnails SET status = 'ready', output_path = :path", path=astray)
        with pytest.raises(ThumbnailNotReady, match="drawn again"):
            await pictures.find(asked.key)
        assert (await thumbnails.get(asked.key)).status is ThumbnailStatus.PENDING


async def test_a_picture_that_a_power_cut_left_short_is_drawn_again(
    shelf: Shelf, thumbnails: Thumbnails, folder: Path
) -> None:
    asked = await thumbnails.request(shelf.put("a.jpg"), Drawing())
    leave(shelf, folder / asked.output_path)
    size = (folder / asked.output_path).stat().st_size
    shelf.run("UPDATE thumbnails SET status = 'ready', bytes_size = :size", size=size)
    os.truncate(folder / asked.output_path, size - 1)
    with pytest.raises(ThumbnailNotReady, match="drawn again"):
        await Pictures(thumbnails, folder).find(asked.key)
    assert (await thumbnails.get(asked.key)).status is ThumbnailStatus.PENDING


async def test_what_a_dead_data_plane_had_waits_again_at_once(
    shelf: Shelf, url: str, thumbnails: Thumbnails, cleanups: Cleanups, tmp_path: Path
) -> None:
    await thumbnails.request(shelf.put("a.jpg"), Drawing())
    await cleanups.schedule("file:7")
    shelf.clock.advance(600)
    for spec in (THUMBNAILS, CLEANUPS):
        taken = shelf.plane.write_blocking(
            lambda conn, spec=spec: leases.claim(conn, spec, "dead#1", lease=30 * SECOND, limit=1)  # type: ignore[misc]
        )
        assert len(taken) == 1
    planes = supervised_plane(Settings(state=tmp_path, database=url), shelf.database)._queue
    assert await planes.expire_worker("dead") == 2
    assert await planes.recover() == 2
    for table in ("thumbnails", "thumbnail_cleanup_jobs"):
        assert shelf.all(f"SELECT status, worker_id, lease_expires_at FROM {table}") == [("pending", None, None)]
