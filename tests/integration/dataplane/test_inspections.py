"""The files of a download are listed by a data plane that sees them, and nothing else is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.protocol.leased import inspections

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD = """
INSERT INTO inspections (kind, folder, paths, created_at, updated_at) VALUES ('arrival', :folder, :paths, :now, :now)
RETURNING id
"""
FILES = {"Show - 01.mkv": b"one", "Subs/Show - 01.zh.ass": b"subtitle", "Fonts/深.ttf": b"font"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads" / "Show" / "42"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def ask(shelf: Shelf, folder: Path, paths: list[str] | None = None) -> int:
    given = {"folder": str(folder), "paths": None if paths is None else json.dumps(paths)}
    row = shelf.database.write_blocking(lambda conn: conn.one(ADD, given))
    assert row is not None
    return int(row[0])


def work(shelf: Shelf) -> None:
    runner = Runner(shelf.plane, InspectionWork(), name="plane", heartbeat=60.0)
    while runner.work():
        pass


def story(shelf: Shelf, inspection: int) -> tuple[Any, ...]:
    ((status, code, facts, count, total),) = shelf.all(
        "SELECT status, error_code, error_facts, file_count, total_bytes FROM inspections WHERE id = :id", id=inspection
    )
    return status, code, json.loads(facts or "{}"), count, total


def found(shelf: Shelf, inspection: int) -> dict[str, int]:
    sql = "SELECT relative_path, size_bytes FROM inspected_files WHERE inspection_id = :id ORDER BY position"
    return dict(shelf.all(sql, id=inspection))


def test_every_file_below_the_folder_is_listed_with_its_identity(shelf: Shelf, folder: Path) -> None:
    inspection = ask(shelf, folder)
    work(shelf)
    assert story(shelf, inspection) == ("completed", None, {}, 3, 15)
    listed = found(shelf, inspection)
    assert listed == {name: len(content) for name, content in FILES.items()}
    assert list(listed) == sorted(FILES)
    seen = (folder / "Show - 01.mkv").stat()
    assert (seen.st_mtime_ns, seen.st_ino, seen.st_dev) in shelf.all(
        "SELECT mtime_ns, inode, device FROM inspected_files"
    )


def test_only_the_files_that_the_downloader_named_are_looked_at(shelf: Shelf, folder: Path) -> None:
    inspection = ask(shelf, folder, ["Show - 01.mkv"])
    work(shelf)
    assert found(shelf, inspection) == {"Show - 01.mkv": 3}


def test_links_and_what_is_no_file_are_passed_over(shelf: Shelf, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").write_bytes(b"not of this download")
    (folder / "link").symlink_to(tmp_path / "secret" / "file")
    (folder / "folder").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    walked = ask(shelf, folder)
    named = ask(shelf, folder, ["Show - 01.mkv", "link", "folder/file", "pipe"])
    work(shelf)
    assert found(shelf, walked).keys() == FILES.keys()
    assert found(shelf, named) == {"Show - 01.mkv": 3}


@pytest.mark.parametrize("path", ["../../other/file", "/etc/passwd", "a/../../b"])
def test_nothing_above_the_folder_is_looked_at(shelf: Shelf, folder: Path, path: str) -> None:
    inspection = ask(shelf, folder, ["Show - 01.mkv", path])
    work(shelf)
    assert story(shelf, inspection)[:2] == ("failed", "PATH_ESCAPES")
    assert found(shelf, inspection) == {}


def test_a_folder_that_is_not_seen_waits_and_says_which(shelf: Shelf, folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    inspection = ask(shelf, folder)
    work(shelf)
    assert story(shelf, inspection)[:3] == ("pending", "ROOT_UNAVAILABLE", {"folder": str(folder)})
    folder.with_name("elsewhere").rename(folder)
    work(shelf)
    assert story(shelf, inspection)[0] == "pending"
    shelf.clock.advance(3600)
    work(shelf)
    assert story(shelf, inspection) == ("completed", None, {}, 3, 15)


@pytest.mark.parametrize("paths", [None, ["Show - 01.mkv"]])
def test_a_folder_without_the_files_is_another_one(shelf: Shelf, tmp_path: Path, paths: list[str] | None) -> None:
    (tmp_path / "empty").mkdir()
    inspection = ask(shelf, tmp_path / "empty", paths)
    work(shelf)
    assert story(shelf, inspection)[:2] == ("pending", "FILE_MISSING")


def test_a_folder_with_too_many_files_is_not_listed(
    shelf: Shelf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kurabito.dataplane.inspections.MOST_INSPECTED", 2)
    inspection = ask(shelf, folder)
    work(shelf)
    assert story(shelf, inspection)[:2] == ("failed", "TOO_MANY_FILES")


def test_an_inspection_that_is_done_again_lists_what_is_there_now(shelf: Shelf, folder: Path) -> None:
    inspection = ask(shelf, folder)
    work(shelf)
    (folder / "Show - 01.mkv").unlink()
    shelf.run("UPDATE inspections SET status = 'pending' WHERE id = :id", id=inspection)
    work(shelf)
    assert "Show - 01.mkv" not in found(shelf, inspection)
    assert len(found(shelf, inspection)) == 2


def test_the_limit_is_that_of_downloads() -> None:
    from kurabito.downloads.items import MOST_FILES

    assert inspections.MOST_INSPECTED == MOST_FILES
