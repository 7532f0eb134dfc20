"""The thumbnails of a group are removed when nobody waits for one of them, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import register

from kurabito.clock import SECOND
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.thumbnails.cleanup import CleanupWork
from kurabito.db import Dialect, leases
from kurabito.db.rights import say_control_plane
from kurabito.protocol.leased.cleanups import CLEANUPS

if TYPE_CHECKING:
    from tests.integration.dataplane.thumbs.conftest import Gallery

TABLE = "thumbnail_cleanup_jobs"


def picture(gallery: Gallery, path: str, *, group: str = "group", status: str = "ready") -> int:
    """A thumbnail with its file, in this state."""
    key = gallery.want(path, b"original", group=group)
    file = gallery.thumbs / f"ab/{key}.jpeg"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"picture")
    gallery.do("UPDATE thumbnails SET status = :status WHERE id = :id", status=status, id=key)
    return key


def left(gallery: Gallery) -> list[int]:
    return [key for (key,) in gallery.ask("SELECT id FROM thumbnails ORDER BY id")]


def test_what_is_ready_or_failed_goes_with_its_file_and_the_rest_stays(gallery: Gallery) -> None:
    ready, failed = picture(gallery, "a.jpg"), picture(gallery, "b.jpg", status="failed")
    (gallery.thumbs / f"ab/{failed}.jpeg").unlink()
    other = picture(gallery, "c.jpg", group="other")
    cleanup = gallery.clean()
    assert gallery.cleanup_runner().work()
    assert left(gallery) == [other]
    assert gallery.files() == {f"ab/{other}.jpeg"}
    assert {path.name for path in gallery.library.iterdir()} == {"a.jpg", "b.jpg", "c.jpg"}
    columns = "status", "error_code", "lease_expires_at", "finished_at"
    assert gallery.row(cleanup, *columns, table=TABLE) == ("completed", None, None, gallery.clock.now())
    assert ready not in left(gallery)
    assert not gallery.cleanup_runner().work()


def test_it_waits_while_a_thumbnail_of_the_group_is_wanted(gallery: Gallery) -> None:
    ready, wanted = picture(gallery, "a.jpg"), picture(gallery, "b.jpg", status="pending")
    picture(gallery, "c.jpg", group="other", status="pending")
    cleanup = gallery.clean()
    for status in ("pending", "running"):
        gallery.do("UPDATE thumbnails SET status = :status WHERE id = :id", status=status, id=wanted)
        assert not gallery.cleanup_runner().work()
        # Nor by whoever claims without looking first.
        assert not gallery.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=1, limit=1))
    assert gallery.row(cleanup, "status", table=TABLE) == "pending"
    gallery.do("UPDATE thumbnails SET status = 'failed' WHERE id = :id", id=wanted)
    assert gallery.cleanup_runner().work()
    assert not {ready, wanted} & set(left(gallery))


def test_one_that_is_wanted_again_meanwhile_stays(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    again, gone = picture(gallery, "a.jpg"), picture(gallery, "b.jpg")
    gallery.clean()
    claim = Runner._claim

    def claimed(runner: Runner[Any], conn: Any) -> Any:
        held = claim(runner, conn)
        if conn.dialect is Dialect.SQLITE:
            # On this connection, because the transaction has the lock.
            say_control_plane(conn.raw)
        conn.run("UPDATE thumbnails SET status = 'pending' WHERE id = :id", {"id": again})
        return held

    monkeypatch.setattr(Runner, "_claim", claimed)
    assert gallery.cleanup_runner().work()
    assert left(gallery) == [again]
    assert gone not in left(gallery)
    assert gallery.files() == {f"ab/{again}.jpeg"}


def test_it_begins_at_its_moment_and_not_before(gallery: Gallery) -> None:
    picture(gallery, "a.jpg")
    gallery.clean(delay=600 * SECOND)
    gallery.clock.advance(599.9)
    assert not gallery.cleanup_runner().work()
    gallery.clock.advance(0.1)
    assert gallery.cleanup_runner().work()


def test_an_expired_lease_is_pending_again_and_done_by_the_next(gallery: Gallery) -> None:
    key, cleanup = picture(gallery, "a.jpg"), gallery.clean()
    picture(gallery, "b.jpg", group="other")
    blocked = gallery.clean("other")
    register(gallery.database, "dead")
    gallery.plane.write_blocking(lambda conn: leases.claim(conn, CLEANUPS, "dead#1", lease=30 * SECOND, limit=2))
    # Its worker came as far as the file; a thumbnail of the other group was asked for meanwhile.
    (gallery.thumbs / f"ab/{key}.jpeg").unlink()
    wanted = picture(gallery, "c.jpg", group="other", status="pending")
    gallery.clock.advance(29.9)
    assert not gallery.cleanup_runner().work()
    # The moment itself counts.
    gallery.clock.advance(0.1)
    assert gallery.cleanup_runner().work()
    assert gallery.row(cleanup, "status", table=TABLE) == "completed"
    lease = "worker_id", "worker_heartbeat_at", "lease_expires_at"
    assert gallery.row(blocked, "status", *lease, table=TABLE) == ("pending", None, None, None)
    assert wanted in left(gallery)
    assert key not in left(gallery)


ELSEWHERE = (
    "../library/a.jpg",
    "{library}/a.jpg",
    "x/../../../library/a.jpg",
    "out/a.jpg",
    "gone/../../x",
    ".parts/p",
    "",
    "gone/at/all.jpg",
)


def test_nothing_outside_of_the_folder_of_thumbnails_is_removed(gallery: Gallery) -> None:
    (gallery.library / "a.jpg").write_bytes(b"original")
    gallery.thumbs.mkdir(parents=True)
    (gallery.thumbs / "out").symlink_to(gallery.library)
    (gallery.thumbs / ".parts").mkdir()
    (gallery.thumbs / ".parts" / "p").write_bytes(b"being written")
    (gallery.state / "x").write_bytes(b"ours, but no thumbnail")
    for number, output in enumerate(ELSEWHERE):
        key = gallery.want(f"{number}.jpg", b"a")
        there = output.format(library=gallery.library)
        gallery.do("UPDATE thumbnails SET output_path = :there, status = 'ready' WHERE id = :id", there=there, id=key)
    cleanup = gallery.clean()
    assert gallery.cleanup_runner().work()
    assert (gallery.library / "a.jpg").read_bytes() == b"original"
    assert (gallery.state / "x").exists()
    assert gallery.files() == {"out", ".parts/p"}
    # The rows led nowhere and are of no use.
    assert left(gallery) == []
    assert gallery.row(cleanup, "status", table=TABLE) == "completed"


def test_a_link_in_place_of_a_picture_goes_and_not_what_it_leads_to(gallery: Gallery) -> None:
    key = picture(gallery, "a.jpg")
    link = gallery.thumbs / f"ab/{key}.jpeg"
    link.unlink()
    link.symlink_to(gallery.library / "a.jpg")
    gallery.clean()
    assert gallery.cleanup_runner().work()
    assert (gallery.library / "a.jpg").read_bytes() == b"original"
    assert gallery.files() == set()


def test_a_disk_that_refuses_fails_it_with_what_is_done_so_far(gallery: Gallery) -> None:
    done, refused, after = (picture(gallery, f"{name}.jpg") for name in "abc")
    # No file system takes a name of this length, whoever asks.
    gallery.do("UPDATE thumbnails SET output_path = :long WHERE id = :id", long="n" * 300, id=refused)
    cleanup = gallery.clean()
    assert gallery.cleanup_runner().work()
    assert left(gallery) == [refused, after]
    assert gallery.files() == {f"ab/{refused}.jpeg", f"ab/{after}.jpeg"}
    status, code, message, expires = gallery.row(
        cleanup, "status", "error_code", "error_message", "lease_expires_at", table=TABLE
    )
    assert (status, code, expires) == ("failed", "DISK_FAILURE", None)
    assert "cannot be removed: File name too long" in message
    # It stays failed until it is scheduled again.
    assert not gallery.cleanup_runner().work()
    assert done not in left(gallery)


def test_a_large_group_is_removed_in_steps_and_given_back_between_them(gallery: Gallery) -> None:
    for number in range(3):
        picture(gallery, f"{number}.jpg")
    gallery.do(
        "INSERT INTO thumbnails (thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, "
        "source_mtime_ns, output_path, status, created_at, updated_at) "
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 250) "
        "SELECT 'k' || n, n, 'group', 'image', 'jpeg', 100, 1, 1, 'many/' || n, 'ready', :now, :now FROM n"
        if gallery.database.dialect is Dialect.SQLITE
        else "INSERT INTO thumbnails (id, thumb_key, file_id, group_key, media_type, format, max_dimension, "
        "source_size_bytes, source_mtime_ns, output_path, status, created_at, updated_at) "
        "SELECT n + 10, 'k' || n, n, 'group', 'image', 'jpeg', 100, 1, 1, 'many/' || n, 'ready', :now, :now "
        "FROM generate_series(1, 250) AS n"
    )
    cleanup = gallery.clean()
    runner = gallery.cleanup_runner()
    cleanup_work = runner.leased
    assert isinstance(cleanup_work, CleanupWork)
    remove, removed = cleanup_work._remove, 0

    def stop_after_some(output_path: str) -> str | None:
        nonlocal removed
        removed += 1
        if removed == 120:
            runner.stop()
        return remove(output_path)

    cleanup_work._remove = stop_after_some  # type: ignore[method-assign]
    assert runner.work()
    # The step in which it was asked to is finished.
    assert len(left(gallery)) == 53
    assert gallery.row(cleanup, "status", "worker_id", table=TABLE) == ("pending", None)
    assert gallery.cleanup_runner().work()
    assert left(gallery) == []
    assert gallery.row(cleanup, "status", table=TABLE) == "completed"


def test_only_one_cleanup_of_a_group_waits_or_runs(gallery: Gallery) -> None:
    first = gallery.clean()
    with pytest.raises(Exception, match=r"(?i)unique"):
        gallery.clean()
    gallery.do(f"UPDATE {TABLE} SET status = 'failed' WHERE id = :id", id=first)
    gallery.clean()
    with pytest.raises(Exception, match=r"(?i)check"):
        gallery.do(f"UPDATE {TABLE} SET status = 'ready'")
