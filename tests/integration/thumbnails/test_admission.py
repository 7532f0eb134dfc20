"""Pictures are asked for, wait their turn, and are never drawn twice; on both databases."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.clock import SECOND
from kurabito.db import Dialect, leases, open_database
from kurabito.errors import InvalidInput
from kurabito.protocol.enums import MediaType, ThumbnailFormat, ThumbnailStatus
from kurabito.protocol.leased.thumbnails import FAILED, FAILED_COLUMNS, FAILED_VALUES, THUMBNAILS
from kurabito.thumbnails.admission import Thumbnail, ThumbnailRefused, Thumbnails
from kurabito.thumbnails.errors import FileNotKnown, NothingToDraw, ThumbnailNotFound, ThumbnailsFull
from kurabito.thumbnails.keys import Drawing, media_type_of
from kurabito.thumbnails.metrics import measure

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

SMALL = Drawing()


@pytest.fixture
def thumbnails(shelf: Shelf) -> Thumbnails:
    return Thumbnails(shelf.database, capacity=3)


def fail(shelf: Shelf, thumbnail: Thumbnail, delay: int) -> None:
    """What a data plane does that cannot draw it."""
    rows = shelf.plane.write_blocking(lambda conn: leases.claim(conn, THUMBNAILS, "p#1", lease=SECOND, limit=1))
    failure = [(rows[0][0], "p#1", "THUMB_DAMAGED", "it ends too early", delay * SECOND)]
    assert not shelf.plane.write_blocking(
        lambda conn: leases.finish(conn, THUMBNAILS, FAILED, failure, given=FAILED_VALUES, columns=FAILED_COLUMNS)
    )


async def test_a_picture_waits_under_a_name_and_path_that_stay(shelf: Shelf, thumbnails: Thumbnails) -> None:
    file = shelf.put("show/poster.JPG")
    asked = await thumbnails.request(file, SMALL)
    assert (asked.status, asked.media_type, asked.file_id) == (ThumbnailStatus.PENDING, MediaType.IMAGE, file)
    assert (asked.format, asked.max_dimension) == (ThumbnailFormat.JPEG, 320)
    assert asked.output_path == f"{asked.key[:2]}/{asked.key}.jpg"
    (digest,) = shelf.all("SELECT content_hash FROM library_files")
    assert asked.group_key == f"sha256:{bytes(digest[0]).hex()}"
    assert await thumbnails.request(file, SMALL) == asked
    assert await thumbnails.get(asked.key) == asked
    assert shelf.all("SELECT source_size_bytes, source_mtime_ns FROM thumbnails") == [(8, 1_000 * 10**9)]
    with pytest.raises(ThumbnailNotFound):
        await thumbnails.get("0" * 40)


async def test_the_key_names_file_content_size_and_format(shelf: Shelf) -> None:
    thumbnails = Thumbnails(shelf.database)
    first, second = shelf.put("a.png"), shelf.put("b.png")
    keys = [
        (await thumbnails.request(file, drawing)).key
        for file in (first, second)
        for drawing in (SMALL, Drawing(640), Drawing(format=ThumbnailFormat.WEBP))
    ]
    assert len(set(keys)) == 6
    # Touched, and still the same: its content is known.
    shelf.run("UPDATE library_files SET mtime_ns = 5 WHERE id = :id", id=first)
    assert (await thumbnails.request(first, SMALL)).key == keys[0]
    shelf.run("UPDATE library_files SET content_hash = :hash WHERE id = :id", id=first, hash=b"x" * 32)
    changed = await thumbnails.request(first, SMALL)
    assert changed.key not in keys
    assert changed.group_key == "sha256:" + b"x".hex() * 32


@pytest.mark.parametrize("change", ["mtime_ns = 6", "size_bytes = 6"])
async def test_without_a_hash_size_and_time_stand_for_the_content(shelf: Shelf, change: str) -> None:
    thumbnails = Thumbnails(shelf.database)
    file = shelf.put("a.mkv")
    # What waits to be read again is not known, whatever was read before.
    shelf.run("UPDATE library_files SET needs_hash = 1")
    before = await thumbnails.request(file, SMALL)
    assert (before.group_key, before.media_type) == (f"file:{file}", MediaType.VIDEO)
    shelf.run(f"UPDATE library_files SET {change}")
    assert (await thumbnails.request(file, SMALL)).key != before.key


async def test_what_cannot_be_drawn_is_refused(shelf: Shelf, thumbnails: Thumbnails) -> None:
    text, gone = shelf.put("readme.txt"), shelf.put("gone.jpg")
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE id = :id", id=gone)
    with pytest.raises(NothingToDraw):
        await thumbnails.request(text, SMALL)
    for file in (gone, 4711):
        with pytest.raises(FileNotKnown):
            await thumbnails.request(file, SMALL)
    assert shelf.all("SELECT * FROM thumbnails") == []
    for size in (15, 4097):
        with pytest.raises(InvalidInput):
            Drawing(size)


async def test_many_at_once_have_an_answer_each(shelf: Shelf, thumbnails: Thumbnails) -> None:
    files = [shelf.put(name) for name in ("a.jpg", "b.mkv", "c.txt", "d.png", "e.gif")]
    answers = await thumbnails.request_many([*files, 4711, files[0]], SMALL)
    assert [answer.file_id for answer in answers] == [*files, 4711, files[0]]
    told = [type(answer.error) if isinstance(answer, ThumbnailRefused) else answer.status.value for answer in answers]
    assert told == ["pending", "pending", NothingToDraw, "pending", ThumbnailsFull, FileNotKnown, "pending"]
    with pytest.raises(InvalidInput, match="500"):
        await thumbnails.request_many(range(1, 502), SMALL)


async def test_there_is_room_for_so_many_only(shelf: Shelf, thumbnails: Thumbnails) -> None:
    files = [shelf.put(f"{number}.jpg") for number in range(5)]
    for file in files[:3]:
        await thumbnails.request(file, SMALL)
    with pytest.raises(ThumbnailsFull):
        await thumbnails.request(files[3], SMALL)
    # What is known is answered however many wait.
    assert (await thumbnails.request(files[0], SMALL)).status is ThumbnailStatus.PENDING
    # One that is being drawn does not wait any more.
    shelf.plane.write_blocking(lambda conn: leases.claim(conn, THUMBNAILS, "p#1", lease=SECOND, limit=1))
    await thumbnails.request(files[3], SMALL)
    with pytest.raises(ThumbnailsFull):
        await thumbnails.request(files[4], SMALL)
    found = await measure(shelf.database, thumbnails.capacity)
    assert (found.depth, found.capacity, found.running) == (3, 3, 1)


async def test_no_more_are_admitted_by_many_who_ask_at_the_same_moment(shelf: Shelf, url: str) -> None:
    files = [shelf.put(f"{number}.jpg") for number in range(48)]
    others = [open_database(url, clock=shelf.clock) for _ in range(4)]
    for other in others:
        other.open()
    together = threading.Barrier(len(others))
    outcomes: list[Any] = []

    def ask(number: int) -> None:
        thumbnails = Thumbnails(others[number], capacity=10)

        async def all_of_mine() -> list[Any]:
            mine = files[number * 12 : (number + 1) * 12]
            return await asyncio.gather(*(thumbnails.request_many([file], SMALL) for file in mine))

        together.wait()
        outcomes.extend(answer for (answer,) in asyncio.run(all_of_mine()))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(others))]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    for other in others:
        await asyncio.to_thread(other.close)
    assert len(outcomes) == 48
    assert sum(isinstance(outcome, Thumbnail) for outcome in outcomes) == 10
    assert shelf.all("SELECT count(*) FROM thumbnails") == [(10,)]


async def test_a_failed_one_is_tried_again_when_it_is_asked_for_after_its_time(
    shelf: Shelf, thumbnails: Thumbnails
) -> None:
    if shelf.database.dialect is Dialect.POSTGRES:
        # There the clock is the server's unless a test gives one; here one is given.
        assert shelf.database.read_blocking(lambda conn: conn.now()) == shelf.clock.now()
    file = shelf.put("a.jpg")
    asked = await thumbnails.request(file, SMALL)
    fail(shelf, asked, 30)
    failed = await thumbnails.request(file, SMALL)
    assert (failed.status, failed.error_code, failed.error_count) == (ThumbnailStatus.FAILED, "THUMB_DAMAGED", 1)
    assert (await measure(shelf.database, 3)).retry_backlog == 0
    shelf.clock.advance(29)
    # Nor does it go along with another one that is new.
    early, _ = await thumbnails.request_many([file, shelf.put("new.jpg")], SMALL)
    assert isinstance(early, Thumbnail)
    assert early.status is ThumbnailStatus.FAILED
    shelf.clock.advance(1)
    found = await measure(shelf.database, 3)
    assert (found.failed, found.retry_backlog) == (1, 1)
    # Touched meanwhile: the data plane is told what it will find.
    shelf.run("UPDATE library_files SET mtime_ns = 77 WHERE id = :id", id=file)
    again = await thumbnails.request(file, SMALL)
    assert (again.key, again.status, again.error_count) == (asked.key, ThumbnailStatus.PENDING, 1)
    row = shelf.all(
        "SELECT source_mtime_ns, worker_id, retry_after, finished_at FROM thumbnails WHERE file_id = :id", id=file
    )
    assert row == [(77, None, None, None)]


async def test_a_failed_one_needs_room_too(shelf: Shelf) -> None:
    file, other = shelf.put("a.jpg"), shelf.put("b.jpg")
    full = Thumbnails(shelf.database, capacity=1)
    fail(shelf, await full.request(file, SMALL), 0)
    await full.request(other, SMALL)
    assert (await full.request(file, SMALL)).status is ThumbnailStatus.FAILED


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.JPEG", MediaType.IMAGE),
        ("x.webp", MediaType.IMAGE),
        ("a.b/c.mkv", MediaType.VIDEO),
        ("a.mkv/c", None),
        (".jpg", None),
        ("jpg", None),
        ("a.jpg.part", None),
        ("第01話.mp4", MediaType.VIDEO),
    ],
)
def test_what_a_file_is_by_its_name(path: str, kind: MediaType | None) -> None:
    assert media_type_of(path) is kind
