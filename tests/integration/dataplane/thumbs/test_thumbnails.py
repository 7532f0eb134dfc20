"""Thumbnails are claimed one at a time, drawn under a lease, and end as ready or failed, whoever dies meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import allow_any_path, register

from kurabito.clock import SECOND
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.db import leases
from kurabito.protocol.enums import MediaType
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.thumbnails import THUMBNAILS

if TYPE_CHECKING:
    from tests.integration.dataplane.thumbs.conftest import Gallery


class Pencil:
    """Draws the same at once, and lets a test look on."""

    def __init__(self, meanwhile: Any = lambda: None) -> None:
        self.meanwhile = meanwhile
        self.interrupted = threading.Event()
        self.drawn: list[Wanted] = []

    def draw(self, fd: int, wanted: Wanted) -> DrawnPicture:
        self.drawn.append(wanted)
        self.meanwhile()
        if self.interrupted.is_set():
            raise ThumbnailFailed(ErrorCode.THUMB_DECODER_DIED, "interrupted")
        return DrawnPicture(b"picture", 4, 3, os.fstat(fd).st_size)

    def interrupt(self) -> None:
        self.interrupted.set()

    def close(self) -> None:
        pass


def test_a_thumbnail_is_drawn_and_becomes_ready(gallery: Gallery, art: Any) -> None:
    image = gallery.want("shows/a.jpg", art.jpeg(), form="webp")
    film = gallery.want("b.mkv", art.video([(art.RED, 20)]), media=MediaType.VIDEO, output="deep/er/b.jpg")
    gallery.do("UPDATE thumbnails SET error_code = 'OLD', error_message = 'm', error_count = 2, retry_after = 1")
    assert gallery.runner(MediaType.IMAGE).work()
    assert gallery.runner(MediaType.VIDEO).work()
    for key, output, size in ((image, "ab/1.webp", (100, 75)), (film, "deep/er/b.jpg", (100, 56))):
        content = (gallery.thumbs / output).read_bytes()
        columns = "status", "width", "height", "bytes_size", "lease_expires_at", "finished_at"
        assert gallery.row(key, *columns) == ("ready", *size, len(content), None, gallery.clock.now())
        troubles = "error_code", "error_message", "error_count", "retry_after"
        assert gallery.row(key, *troubles) == (None, None, 0, None)
        drawn = art.opened(content)
        assert (drawn.width, drawn.height) == size
    assert gallery.files() == {"ab/1.webp", "deep/er/b.jpg"}
    assert not gallery.runner(MediaType.IMAGE).work()


def test_one_row_at_a_time_is_running_and_only_of_the_lines_own_kind(gallery: Gallery) -> None:
    first, second = gallery.want("a.jpg", b"a"), gallery.want("b.jpg", b"b")
    film = gallery.want("c.mkv", b"c", media=MediaType.VIDEO)
    seen: list[dict[int, str]] = []

    def look() -> None:
        seen.append(dict(gallery.ask("SELECT id, status FROM thumbnails")))
        owner, started, expires = gallery.row(len(seen), "worker_id", "started_at", "lease_expires_at")
        assert owner.startswith("plane#")
        assert (started, expires) == (gallery.clock.now(), gallery.clock.now() + 30 * SECOND)

    assert gallery.runner(drawing=Pencil(look)).work()
    waiting = {film: "pending"}
    assert seen == [
        {first: "running", second: "pending", **waiting},
        {first: "ready", second: "running", **waiting},
    ]
    assert gallery.row(film, "status") == "pending"


def test_the_lease_is_renewed_while_it_is_drawn(gallery: Gallery) -> None:
    key = gallery.want("a.jpg", b"a")

    def wait_for_heartbeat() -> None:
        before = gallery.row(key, "lease_expires_at")
        gallery.clock.advance(7)
        while gallery.row(key, "lease_expires_at") == before:
            pass
        assert gallery.row(key, "lease_expires_at", "worker_heartbeat_at") == (
            gallery.clock.now() + 30 * SECOND,
            gallery.clock.now(),
        )

    assert gallery.runner(drawing=Pencil(wait_for_heartbeat), heartbeat=0.01).work()
    assert gallery.row(key, "status") == "ready"


def test_an_expired_lease_is_pending_again_and_drawn_by_the_next(gallery: Gallery) -> None:
    register(gallery.database, "dead")
    key, other = gallery.want("a.jpg", b"a"), gallery.want("b.mkv", b"b", media=MediaType.VIDEO)
    for media in MediaType:
        only = f"media_type = '{media}'"
        gallery.plane.write_blocking(
            lambda conn, only=only: leases.claim(  # type: ignore[misc]
                conn, THUMBNAILS, "dead#1", lease=30 * SECOND, limit=1, only=only
            )
        )
    gallery.clock.advance(29.9)
    assert not gallery.runner(drawing=Pencil()).work()
    # The moment itself counts.
    gallery.clock.advance(0.1)
    assert gallery.runner(drawing=Pencil()).work()
    assert gallery.row(key, "status") == "ready"
    lease = "worker_id", "worker_heartbeat_at", "lease_expires_at"
    assert gallery.row(other, "status", *lease) == ("pending", None, None, None)
    assert gallery.row(other, "error_code", "error_count") == ("LEASE_EXPIRED", 1)


def test_a_row_that_lost_three_workers_is_given_up_without_being_drawn(gallery: Gallery) -> None:
    key, pencil = gallery.want("a.jpg", b"a"), Pencil()
    register(gallery.database, "dead")
    for _ in range(3):
        gallery.plane.write_blocking(lambda conn: leases.claim(conn, THUMBNAILS, "dead#1", lease=1, limit=1))
        gallery.clock.advance(1)
        gallery.plane.write_blocking(lambda conn: leases.recover(conn, THUMBNAILS))
    assert gallery.runner(drawing=pencil).work()
    assert gallery.row(key, "status", "error_code") == ("failed", "WORKER_LOST")
    assert pencil.drawn == []
    # The control plane asks again, and this time its worker lives.
    gallery.do("UPDATE thumbnails SET status = 'pending'")
    assert gallery.runner(drawing=pencil).work()
    assert gallery.row(key, "status", "error_count") == ("ready", 0)


def test_a_failure_waits_twice_as_long_each_time_and_no_longer_than_half_an_hour(gallery: Gallery) -> None:
    key = gallery.want("gone.jpg")
    waits = []
    for _ in range(9):
        gallery.do("UPDATE thumbnails SET status = 'pending'")
        assert gallery.runner(drawing=Pencil()).work()
        assert gallery.row(key, "status", "error_code", "lease_expires_at") == ("failed", "FILE_MISSING", None)
        assert gallery.row(key, "error_message") == "it is not there any more"
        waits.append((gallery.row(key, "retry_after") - gallery.clock.now()) / SECOND)
    assert waits == [30, 60, 120, 240, 480, 960, 1800, 1800, 1800]
    assert gallery.row(key, "error_count") == 9
    # Only the control plane asks again, however long ago it was.
    gallery.clock.advance(7200)
    assert not gallery.runner(drawing=Pencil()).work()
    assert gallery.row(key, "status") == "failed"


def test_whoever_lost_the_row_publishes_nothing_and_writes_nothing(gallery: Gallery) -> None:
    key = gallery.want("a.jpg", b"a")

    def lose() -> None:
        gallery.do("UPDATE thumbnails SET worker_id = 'other#1', error_message = 'theirs'")

    gallery.runner(drawing=Pencil(lose)).work()
    assert gallery.row(key, "status", "worker_id", "error_message") == ("running", "other#1", "theirs")
    assert gallery.files() == set()


def test_a_row_that_is_lost_interrupts_its_drawing_within_a_heartbeat(gallery: Gallery) -> None:
    key, pencil = gallery.want("a.jpg", b"a"), Pencil()

    def lose_and_go_on() -> None:
        gallery.do("UPDATE thumbnails SET worker_id = 'other#1'")
        assert pencil.interrupted.wait(30)

    pencil.meanwhile = lose_and_go_on
    gallery.runner(drawing=pencil, heartbeat=0.01).work()
    assert gallery.row(key, "status", "worker_id") == ("running", "other#1")


def test_a_row_that_ended_does_not_interrupt_the_next_one(gallery: Gallery) -> None:
    for number in range(40):
        gallery.want(f"{number}.jpg", b"a")
    pencil = Pencil()
    assert gallery.runner(drawing=pencil, heartbeat=0.0005).work()
    assert not pencil.interrupted.is_set()
    assert gallery.ask("SELECT status, count(*) FROM thumbnails GROUP BY status") == [("ready", 40)]


def test_who_is_asked_to_stop_gives_its_row_back(gallery: Gallery) -> None:
    key, other = gallery.want("a.jpg", b"a"), gallery.want("b.jpg", b"b")
    pencil = Pencil()
    runner = gallery.runner(drawing=pencil)
    pencil.meanwhile = runner.stop
    runner.work()
    assert pencil.interrupted.is_set()
    assert gallery.ask("SELECT id, status, worker_id, lease_expires_at, error_count FROM thumbnails ORDER BY id") == [
        (key, "pending", None, None, 0),
        (other, "pending", None, None, 0),
    ]
    assert not runner.work()
    assert gallery.files() == set()


OUTSIDE = ("../outside.jpg", "/etc/passwd", "a/../../outside.jpg", "linked/secret.jpg", "link.jpg", "", "a/./b.jpg")


def test_no_file_outside_of_the_library_is_read(gallery: Gallery, art: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.jpg").write_bytes(art.jpeg())
    (tmp_path / "outside.jpg").write_bytes(art.jpeg())
    (gallery.library / "a").mkdir()
    (gallery.library / "linked").symlink_to(outside)
    (gallery.library / "link.jpg").symlink_to(outside / "secret.jpg")
    allow_any_path(gallery.database)
    for number, path in enumerate(OUTSIDE):
        key = gallery.want(f"{number}.jpg", art.jpeg())
        gallery.do("UPDATE library_files SET relative_path = :path WHERE id = :id", path=path, id=key)
    pencil = Pencil()
    assert gallery.runner(drawing=pencil).work()
    assert gallery.ask("SELECT DISTINCT status, error_code FROM thumbnails") == [("failed", "PATH_ESCAPES")]
    assert pencil.drawn == []


def test_a_link_that_is_laid_after_the_request_is_not_followed(gallery: Gallery, art: Any, tmp_path: Path) -> None:
    key = gallery.want("shows/a.jpg", art.jpeg())
    (gallery.library / "shows").rename(tmp_path / "elsewhere")
    (gallery.library / "shows").symlink_to(tmp_path / "elsewhere")
    assert gallery.runner().work()
    assert gallery.row(key, "status", "error_code") == ("failed", "PATH_ESCAPES")


def test_a_file_that_changed_is_not_shown_under_its_old_key(gallery: Gallery) -> None:
    before, meanwhile = gallery.want("a.jpg", b"a"), gallery.want("b.jpg", b"b")
    (gallery.library / "a.jpg").write_bytes(b"longer")
    touched = gallery.library / "b.jpg"
    assert gallery.runner(drawing=Pencil(lambda: os.utime(touched, ns=(1, 1)))).work()
    for key in (before, meanwhile):
        assert gallery.row(key, "status", "error_code") == ("failed", "FILE_CHANGED")
    assert gallery.files() == set()


ELSEWHERE = ("../evil.jpg", "/tmp/evil.jpg", "a/../../evil.jpg", "out/evil.jpg", ".parts/evil.jpg", "file/evil.jpg", "")


def test_nothing_is_written_outside_of_the_folder_of_thumbnails(gallery: Gallery, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    gallery.thumbs.mkdir(parents=True)
    (gallery.thumbs / "out").symlink_to(outside)
    (gallery.thumbs / "file").write_bytes(b"in the way")
    for number, output in enumerate(ELSEWHERE):
        key = gallery.want(f"{number}.jpg", b"a")
        gallery.do("UPDATE thumbnails SET output_path = :output WHERE id = :id", output=output, id=key)
    assert gallery.runner(drawing=Pencil()).work()
    assert gallery.ask("SELECT DISTINCT status, error_code FROM thumbnails") == [("failed", "THUMB_OUTPUT_ESCAPES")]
    assert list(outside.iterdir()) == []
    assert not (gallery.state / "evil.jpg").exists()
    assert not Path("/tmp/evil.jpg").exists()
    assert gallery.files() == {"out", "file"}


def test_a_disk_that_refuses_the_picture_is_told_of(gallery: Gallery) -> None:
    key = gallery.want("a.jpg", b"a")
    (gallery.thumbs / "ab" / "1.jpeg").mkdir(parents=True)
    assert gallery.runner(drawing=Pencil()).work()
    assert gallery.row(key, "status", "error_code") == ("failed", "DISK_FAILURE")
    assert gallery.files() == set()


def test_a_hostile_file_fails_with_a_code_of_its_own_and_the_next_one_is_drawn(gallery: Gallery, art: Any) -> None:
    whole, film = art.jpeg(1000, 1000), art.video([(art.RED, 20)])
    os.mkfifo(gallery.library / "pipe.jpg")
    (gallery.library / "folder.jpg").mkdir()
    images = {
        "truncated.jpg": (whole[: len(whole) // 2], "THUMB_DAMAGED"),
        "cut.png": (art.file_of(art.quarters(500, 500), ".png", compression=0)[:90_000], "THUMB_DAMAGED"),
        "headless.jpg": (whole[:100], "THUMB_DAMAGED"),
        "bomb.png": (art.png_header(50_000, 50_000), "THUMB_TOO_LARGE"),
        "text.jpg": (b"this is no picture at all\n" * 100, "THUMB_UNKNOWN_FORMAT"),
        "drawing.svg": (b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "THUMB_UNKNOWN_FORMAT"),
        "empty.jpg": (b"", "THUMB_EMPTY"),
        "pipe.jpg": (None, "THUMB_NOT_A_FILE"),
        "folder.jpg": (None, "THUMB_NOT_A_FILE"),
    }
    films = {
        "sound.mp4": (art.sound(), "THUMB_NO_VIDEO"),
        "text.mkv": (b"this is no film at all\n" * 100, "THUMB_UNKNOWN_FORMAT"),
        "list.mp4": (b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n", "THUMB_UNKNOWN_FORMAT"),
        "empty.mp4": (b"", "THUMB_EMPTY"),
        "torn.mkv": (art.video([(art.RED, 20)], suffix="matroska")[:600], "THUMB_DAMAGED"),
    }
    expected = {}
    for media, files in ((MediaType.IMAGE, images), (MediaType.VIDEO, films)):
        for name, (content, code) in files.items():
            expected[gallery.want(name, content, media=media)] = code
    after = [gallery.want("ok.jpg", whole), gallery.want("ok.mp4", film, media=MediaType.VIDEO)]
    for media in MediaType:
        assert gallery.runner(media).work()
    found = dict(gallery.ask("SELECT id, error_code FROM thumbnails WHERE status = 'failed'"))
    assert found == expected
    assert [gallery.row(key, "status") for key in after] == ["ready", "ready"]


def test_parts_that_a_killed_one_left_are_swept_when_they_are_old(gallery: Gallery) -> None:
    parts = gallery.thumbs / ".parts"
    parts.mkdir(parents=True)
    for name in ("old", "new"):
        (parts / name).write_bytes(b"half")
    os.utime(parts / "old", (0, 0))
    gallery.want("a.jpg", b"a")
    assert gallery.runner(drawing=Pencil()).work()
    assert gallery.files() == {"ab/1.jpeg", ".parts/new"}


def test_reading_waits_for_its_turn_and_gives_the_row_back_when_asked_to_stop(gallery: Gallery) -> None:
    first, second = gallery.want("a.jpg", bytes(4000)), gallery.want("b.jpg", bytes(4000))
    pencil = Pencil()
    limit = IoLimit(gallery.plane, 1000)
    runner = gallery.runner(drawing=pencil, limit=limit, heartbeat=0.01)
    thread = threading.Thread(target=runner.work)
    thread.start()
    # The first one goes at once. The second waits four seconds, its lease kept.
    began = gallery.clock.now() // 1000
    while gallery.ask("SELECT next_available_at_ms FROM io_rate_limits") != [(began + 8000,)]:
        pass
    gallery.clock.advance(20)
    while gallery.row(second, "worker_heartbeat_at") != gallery.clock.now():
        pass
    runner.stop()
    thread.join()
    assert (gallery.row(first, "status"), gallery.row(second, "status", "error_code")) == ("ready", ("pending", None))
    assert len(pencil.drawn) == 1
    assert gallery.ask("SELECT bucket_key FROM io_rate_limits") == [("thumbnail_io_global",)]


def test_what_is_waiting_or_being_drawn_cannot_be_deleted(gallery: Gallery) -> None:
    for number, status in enumerate(("pending", "running", "ready", "failed")):
        gallery.want(f"{number}.jpg", b"a")
        gallery.do("UPDATE thumbnails SET status = :status WHERE id = :id", status=status, id=number + 1)
    gallery.plane.write_blocking(lambda conn: conn.run("DELETE FROM thumbnails"))
    assert gallery.ask("SELECT status FROM thumbnails ORDER BY id") == [("pending",), ("running",)]


def test_the_database_refuses_what_is_not_legal(gallery: Gallery) -> None:
    gallery.want("a.jpg", b"a")
    for column, value in (("status", "READY"), ("media_type", "sound"), ("format", "png"), ("max_dimension", 15)):
        with pytest.raises(Exception, match=r"(?i)check"):
            gallery.do(f"UPDATE thumbnails SET {column} = :value", value=value)
    for column in ("thumb_key", "output_path"):
        gallery.want("b.jpg", b"b")
        with pytest.raises(Exception, match=r"(?i)unique"):
            gallery.do(f"UPDATE thumbnails SET {column} = 'the same'")
        gallery.do("DELETE FROM library_files WHERE relative_path = 'b.jpg'")
