"""Folders are taken into keeping and looked after."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import ManualClock, to_datetime
from kurabito.db import Connection
from kurabito.errors import InvalidInput
from kurabito.library import libraries
from kurabito.library.errors import LibraryConflict
from kurabito.library.libraries import LibrarySettings
from kurabito.protocol.enums import HashAlgorithm, HashPolicy
from kurabito.runtime.sql.queue import SqlQueue

ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, is_missing, created_at, updated_at) "
    "VALUES (:library, :path, 1, 1, :missing, :now, :now)"
)


async def add_files(queue: SqlQueue, library_id: int, *paths: str, missing: bool = False) -> None:
    def add(conn: Connection) -> None:
        for path in paths:
            conn.run(ADD_FILE, {"library": library_id, "path": path, "missing": int(missing)})

    await queue.database.write(add)


async def test_a_folder_becomes_a_library(parts: LibraryParts, tmp_path: Path, clock: ManualClock) -> None:
    kept = await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films", ignored=("@eaDir",)))
    assert (kept.library.path, kept.library.settings.name, kept.file_count) == (tmp_path / "films", "Films", 0)
    assert kept.library.created_at == to_datetime(clock.now())
    assert kept.library.settings == LibrarySettings(name="Films", ignored=("@eaDir",))
    assert await parts.libraries.get(kept.library.id) == kept


async def test_only_the_keeper_changes_when_a_library_was_updated(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path, clock: ManualClock
) -> None:
    every_hour = LibrarySettings(name="Films", scan_interval=timedelta(hours=1))
    created = (await parts.libraries.create(str(tmp_path / "films"), every_hour)).library
    clock.advance(7200)
    assert await queue.database.write(libraries.take_due) == [created.id]
    await queue.database.write(lambda conn: libraries.note_scan(conn, created.id))
    scanned = (await parts.libraries.get(created.id)).library
    assert (scanned.last_scanned_at, scanned.updated_at) == (to_datetime(clock.now()), created.created_at)
    await parts.libraries.change(created.id, {"hash_policy": HashPolicy.ALL})
    assert (await parts.libraries.get(created.id)).library.updated_at == to_datetime(clock.now())


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("films", "absolute"),
        ("{here}/nowhere", "No such file"),
        ("{here}/file.txt", "not a folder"),
        ("{here}/loop", "cannot be used"),
        ("{here}/state", "state folder"),
        ("{here}/state/thumbs", "state folder"),
        ("{here}/downloads", "download root"),
        ("{here}", "lie one in the other"),
        ("/", "lie one in the other"),
        ("{here}/to-state", "state folder"),
        ("{here}/films/.kurabito-trash/5f", "is a trash, or lies in one"),
        ("{here}/fi\x00lms", "must be text"),
        ("{here}/fi\uef80lms", "must be text"),
        ("/proc", "the system shows itself there"),
        ("/proc/self", "the system shows itself there"),
        ("/sys/kernel", "the system shows itself there"),
    ],
)
async def test_a_folder_that_cannot_be_a_library_is_refused_by_name(
    parts: LibraryParts, tmp_path: Path, path: str, problem: str
) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "state" / "thumbs").mkdir()
    (tmp_path / "films" / ".kurabito-trash" / "5f").mkdir(parents=True)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to-state").symlink_to("state")
    with pytest.raises(InvalidInput, match=problem) as refused:
        await parts.libraries.create(path.format(here=tmp_path), LibrarySettings(name="x"))
    assert refused.value.field == "path"
    assert len(await parts.libraries.list()) == 0


@pytest.mark.parametrize("path", ["films", "films/new", ".", "link"])
async def test_no_library_lies_in_another(parts: LibraryParts, tmp_path: Path, path: str) -> None:
    (tmp_path / "films" / "new").mkdir()
    outer = tmp_path / "outer"
    (outer / "inner").mkdir(parents=True)
    (outer / "link").symlink_to(tmp_path / "films")
    await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    await parts.libraries.create(str(outer / "inner"), LibrarySettings(name="Inner"))
    place = outer if path == "." else outer / "link" if path == "link" else tmp_path / path
    with pytest.raises(LibraryConflict, match=r"path: .* lie one in the other"):
        await parts.libraries.create(str(place), LibrarySettings(name="x"))
    # A name that begins alike is another folder.
    (tmp_path / "films2").mkdir()
    await parts.libraries.create(str(tmp_path / "films2"), LibrarySettings(name="Films 2"))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        (LibrarySettings(name=" "), "name"),
        (LibrarySettings(name="x" * 201), "name"),
        (LibrarySettings(name="x", scan_interval=timedelta(seconds=59)), "scan_interval"),
        (LibrarySettings(name="x", ignored=("",)), "ignored"),
    ],
)
async def test_care_that_makes_no_sense_is_refused_by_name(
    parts: LibraryParts, tmp_path: Path, settings: LibrarySettings, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await parts.libraries.create(str(tmp_path / "films"), settings)
    assert refused.value.field == field


async def test_a_name_is_given_once(parts: LibraryParts, tmp_path: Path) -> None:
    await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    with pytest.raises(LibraryConflict, match="name: another library is called 'Films'"):
        await parts.libraries.create(str(tmp_path / "series"), LibrarySettings(name="Films"))
    other = await parts.libraries.create(str(tmp_path / "series"), LibrarySettings(name="Series"))
    with pytest.raises(LibraryConflict, match="name"):
        await parts.libraries.change(other.library.id, {"name": "Films"})
    same = await parts.libraries.change(other.library.id, {"name": "Series"})
    assert same.library.settings.name == "Series"


async def test_what_is_not_named_stays(parts: LibraryParts, tmp_path: Path, clock: ManualClock) -> None:
    kept = await parts.libraries.create(
        str(tmp_path / "films"),
        LibrarySettings(name="Films", scan_interval=timedelta(hours=1), algorithm=HashAlgorithm.SHA256),
    )
    due = kept.library.next_scan_at
    assert due == to_datetime(clock.now()) + timedelta(hours=1)
    clock.advance(60)
    changed = await parts.libraries.change(kept.library.id, {"watched": True, "hash_policy": HashPolicy.ALL})
    assert changed.library.settings == LibrarySettings(
        name="Films",
        scan_interval=timedelta(hours=1),
        algorithm=HashAlgorithm.SHA256,
        watched=True,
        hash_policy=HashPolicy.ALL,
    )
    assert changed.library.next_scan_at == due
    slower = await parts.libraries.change(kept.library.id, {"scan_interval": timedelta(hours=2)})
    assert slower.library.next_scan_at == to_datetime(clock.now()) + timedelta(hours=2)
    never = await parts.libraries.change(kept.library.id, {"scan_interval": None})
    assert never.library.next_scan_at is None
    with pytest.raises(InvalidInput, match="scan_interval"):
        await parts.libraries.change(kept.library.id, {"scan_interval": timedelta(0)})
    assert (await parts.libraries.get(kept.library.id)).library.settings.scan_interval is None


async def test_libraries_come_in_pages(parts: LibraryParts, tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"l{number}").mkdir()
        await parts.libraries.create(str(tmp_path / f"l{number}"), LibrarySettings(name=str(number)))
    names: list[str] = []
    cursor = None
    while True:
        page = await parts.libraries.list(limit=2, cursor=cursor)
        names += [kept.library.settings.name for kept in page]
        if (cursor := page.next_cursor) is None:
            break
    assert names == list("01234")
    with pytest.raises(InvalidInput, match="cursor"):
        await parts.libraries.list(cursor="x")


async def test_files_come_in_the_order_of_their_paths_page_by_page(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path
) -> None:
    films = (await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))).library.id
    paths = ["A/1.mkv", "A 1.mkv", "b.mkv", "Ä.mkv", "z\n.mkv", "B.mkv", "bytes-\uef80.mkv"]
    await add_files(queue, films, *paths)
    await add_files(queue, films, "gone.mkv", missing=True)
    found: list[str] = []
    cursor = None
    while True:
        page = await parts.libraries.files(films, limit=3, cursor=cursor)
        found += [file.relative_path for file in page]
        if (cursor := page.next_cursor) is None:
            break
    assert found == sorted([*paths, "gone.mkv"])
    for bad in ("x", "", "AAAA", "w6Q"):
        with pytest.raises(InvalidInput, match="cursor"):
            await parts.libraries.files(films, cursor=bad)


@pytest.mark.parametrize(
    ("contains", "missing", "expected"),
    [
        ("MKV", None, ["100%.mkv", "1000.mkv", "gone.mkv"]),
        ("0%", None, ["100%.mkv"]),
        ("_", None, ["a_b.txt"]),
        (None, True, ["gone.mkv"]),
        ("mkv", False, ["100%.mkv", "1000.mkv"]),
        ("\\", None, []),
    ],
)
async def test_files_are_found_by_what_is_in_their_path(
    parts: LibraryParts,
    queue: SqlQueue,
    tmp_path: Path,
    contains: str | None,
    missing: bool | None,
    expected: list[str],
) -> None:
    films = (await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))).library.id
    await add_files(queue, films, "100%.mkv", "1000.mkv", "a_b.txt", "acb.txt")
    await add_files(queue, films, "gone.mkv", missing=True)
    page = await parts.libraries.files(films, contains=contains, missing=missing)
    assert [file.relative_path for file in page] == expected
