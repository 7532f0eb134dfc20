"""What is in films is read by a data plane after a scan, a few files at a time, and shown; what one writes is not believed unseen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.thumbnails import media_job
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.media_job import MediaWork
from kurabito.dataplane.thumbnails.source import look_at
from kurabito.demo.videos import film
from kurabito.library.media import store
from kurabito.library.media.facts import HdrKind, read_media_facts
from kurabito.library.media.readings import MediaRead, MediaReadings
from kurabito.protocol.enums import MediaType
from kurabito.runtime import Snooze

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

CAPABLE = "UPDATE data_planes SET capabilities = :words"


@pytest.fixture
def reader(shelf: Shelf) -> Iterator[Runner[Any]]:
    """A data plane that reads films."""
    shelf.run(CAPABLE, words='["media"]')
    decoder = DecoderProcess(MediaType.VIDEO)
    yield Runner(shelf.plane, MediaWork(decoder), name="plane", heartbeat=60.0)
    decoder.close()


async def read_all(readings: MediaReadings, reader: Runner[Any]) -> MediaRead:
    while True:
        try:
            return await readings.read()
        except Snooze:
            assert reader.work()


async def test_films_are_read_once_and_again_when_they_change(shelf: Shelf, reader: Runner[Any]) -> None:
    content = film("a storehouse", 2)
    one, two = shelf.put("Show/01.mkv", content), shelf.put("02.MKV", content[: len(content) // 2], library=2)
    text, bad = shelf.put("Show/01.ass", b"subtitle"), shelf.put("bad.mp4", b"no film at all")
    gone = shelf.put("gone.mkv", content)
    shelf.path("gone.mkv").unlink()
    readings = MediaReadings(shelf.database)
    assert await read_all(readings, reader) == MediaRead(4)
    known = await readings.of_files([one, two, text, bad, gone])
    assert known.keys() == {one, two, bad}
    facts = known[one].facts
    assert facts is not None
    assert (facts.duration.total_seconds() if facts.duration else 0, facts.audio, facts.subtitles) == (2, (), ())
    (track,) = facts.video
    assert (track.codec, track.width, track.height, track.resolution, track.hdr) == ("mpeg4", 320, 180, 180, None)
    assert (known[bad].facts, known[bad].error_code) == (None, "THUMB_UNKNOWN_FORMAT")
    # What was read is not asked for again, and how it was asked for is forgotten.
    assert await read_all(readings, reader) == MediaRead(1)
    assert shelf.all("SELECT count(*) FROM inspections") == [(0,)]
    os.utime(shelf.path("Show/01.mkv"), ns=(5, 5))
    shelf.run("UPDATE library_files SET mtime_ns = 5 WHERE id = :id", id=one)
    assert one not in await readings.of_files([one])
    await read_all(readings, reader)
    assert one in await readings.of_files([one])
    # What is known of a file that is not known any more is forgotten, too.
    shelf.run("DELETE FROM library_files WHERE id = :id", id=one)
    await read_all(readings, reader)
    assert one not in {file for (file,) in shelf.all("SELECT file_id FROM media_facts")}


async def test_nothing_is_asked_for_that_no_data_plane_reads(shelf: Shelf) -> None:
    shelf.put("01.mkv", b"film")
    assert await MediaReadings(shelf.database).read() == MediaRead(0)
    assert shelf.all("SELECT count(*) FROM inspections") == [(0,)]


async def test_a_library_is_read_a_few_files_at_a_time(shelf: Shelf) -> None:
    shelf.run(CAPABLE, words='["media"]')
    for number in range(120):
        shelf.put(f"{number:03}.mkv", b"film")
    readings = MediaReadings(shelf.database)
    with pytest.raises(Snooze):
        await readings.read()
    asked = [len(json.loads(paths)) for (paths,) in shelf.all("SELECT paths FROM inspections")]
    assert asked == [50, 50]
    with pytest.raises(Snooze):
        await readings.read()
    assert shelf.all("SELECT count(*) FROM inspections") == [(2,)]


def test_a_folder_that_is_away_waits_and_a_path_that_leads_out_is_passed_over(
    shelf: Shelf, reader: Runner[Any]
) -> None:
    (shelf.folder / "secret.mkv").write_bytes(film("secret", 1))
    shelf.path("link.mkv").symlink_to(shelf.folder / "secret.mkv")
    shelf.database.write_blocking(lambda conn: store.request(conn, 1, ["../secret.mkv", "link.mkv"]))
    assert reader.work()
    assert shelf.all("SELECT status, file_count FROM inspections") == [("completed", 0)]
    shelf.run("DELETE FROM inspections")
    shelf.path("").rename(shelf.folder / "unplugged")
    shelf.database.write_blocking(lambda conn: store.request(conn, 1, ["01.mkv"]))
    assert reader.work()
    assert shelf.all("SELECT status, error_code, tries FROM inspections") == [("pending", "ROOT_UNAVAILABLE", 1)]


def test_a_disk_that_goes_while_a_film_is_opened_says_nothing_about_the_film(
    shelf: Shelf, reader: Runner[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("01.mkv", film("a storehouse", 1))

    def look_and_unplug(*args: Any) -> Any:
        seen = look_at(*args)
        shelf.path("").rename(shelf.folder / "unplugged")
        return seen

    monkeypatch.setattr(media_job, "look_at", look_and_unplug)
    shelf.database.write_blocking(lambda conn: store.request(conn, 1, ["01.mkv"]))
    assert reader.work()
    assert shelf.all("SELECT facts, error_code FROM inspected_media") == []


def test_what_makes_no_sense_is_left_out() -> None:
    for nonsense in ("", "[]", "null", "{", "[" * 100_000):
        assert read_media_facts(nonsense) is None
    said = {
        "container": 7,
        "duration_ms": -1,
        "video": [
            {"codec": "hevc", "width": 3840, "height": 1600, "hdr": "pq", "bits": True},
            "track",
            {"hdr": ["pq"]},
        ],
        "audio": "loud",
        "subtitles": [{"language": "x" * 900, "is_forced": "yes"}],
    }
    facts = read_media_facts(json.dumps(said))
    assert facts is not None
    assert (facts.container, facts.duration, facts.audio) == (None, None, ())
    first, second = facts.video
    assert (first.hdr, first.bits, first.resolution, second.hdr) == (HdrKind.PQ, None, 2160, None)
    (subtitle,) = facts.subtitles
    assert (len(subtitle.language or ""), subtitle.is_forced) == (200, False)
