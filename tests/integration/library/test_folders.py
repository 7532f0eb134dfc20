"""Folders are read from the paths of files, in any order of names, and passed over instead of read."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from kurabito.db import Connection
from kurabito.db.port import Dialect
from kurabito.errors import InvalidInput
from kurabito.library import folders
from kurabito.library.cursors import cursor_after
from kurabito.library.errors import FolderNotFound, LibraryNotFound
from kurabito.library.folders import SQL, Folders

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

KNOW = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, is_missing, created_at, updated_at)
VALUES (:library, :path, :size, 1, :missing, :now, :now)
"""
# Around a folder's stretch: what sorts before the slash, what sorts right after it, and what looks like a pattern.
NAMES = ["a", "a b", "a!", "a0", "a.mkv", "A", "%", "_", "蔵の番人", "\uefe9", "z\U0010ffff", "a\n", "\x01", "..a", "0"]


def know(shelf: Shelf, paths: Iterable[str], *, library: int = 1, missing: int = 0) -> None:
    def work(conn: Connection) -> None:
        for path in paths:
            conn.run(KNOW, {"library": library, "path": path, "size": len(path), "missing": missing})

    shelf.database.write_blocking(work)


def tree() -> set[str]:
    """Paths of up to four of the names, none of which is both a file and a folder."""
    chance = random.Random(8)
    paths: set[str] = set()
    taken: set[str] = set()
    for _ in range(400):
        parts = chance.choices(NAMES, k=chance.randint(1, 4))
        path, above = "/".join(parts), {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if path not in taken and not above & paths:
            paths.add(path)
            taken |= above
    return paths


async def walked(found: Folders, path: str, limit: int) -> tuple[list[str], list[str], dict[str, tuple[int, int]]]:
    """Everything that the pages of a folder show: folders, files, and what each folder is said to hold."""
    inner: list[str] = []
    files: list[str] = []
    extents: dict[str, tuple[int, int]] = {}
    cursor: str | None = None
    while True:
        page = await found.look_into(1, path, limit=limit, cursor=cursor)
        assert 0 < len(page.folders) + len(page.files) <= limit
        assert not (files and page.folders), "folders come first"
        inner += [folder.path for folder in page.folders]
        files += [file.relative_path for file in page.files]
        extents |= {folder.path: (folder.file_count, folder.total_size_bytes) for folder in page.folders}
        cursor = page.next_cursor
        if cursor is None:
            return inner, files, extents


async def test_every_folder_shows_what_lies_in_it_whatever_it_is_called(shelf: Shelf) -> None:
    paths = tree()
    know(shelf, paths)
    # What another library has is not looked at.
    know(shelf, ["a/elsewhere.mkv", "elsewhere/a.mkv"], library=2)
    found = Folders(shelf.database)
    ahead = [""]
    seen: set[str] = set()
    while ahead:
        path = ahead.pop()
        below = {one for one in paths if not path or one.startswith(f"{path}/")}
        rests = {one: one[len(path) + 1 if path else 0 :] for one in below}
        wanted = {one.removesuffix(f"/{rest.partition('/')[2]}") for one, rest in rests.items() if "/" in rest}
        inner, files, extents = await walked(found, path, limit=1 + len(path) % 3)
        assert inner == sorted(wanted, key=lambda one: f"{one}/")
        assert files == sorted(one for one, rest in rests.items() if "/" not in rest)
        for folder, extent in extents.items():
            held = [one for one in below if one.startswith(f"{folder}/")]
            assert extent == (len(held), sum(map(len, held))), folder
        seen |= set(files)
        ahead += inner
    assert seen == paths


async def test_what_is_missing_is_listed_and_not_counted(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    know(shelf, ["films/one.mkv", "films/two.mkv", "films/old/three.mkv"])
    know(shelf, ["films/gone.mkv", "lost/gone.mkv"], missing=1)
    found = Folders(shelf.database)
    films, lost = (await found.look_into(1)).folders
    assert (films.name, films.file_count, films.is_all) == ("films", 3, True)
    assert (lost.file_count, lost.total_size_bytes) == (0, 0)
    assert [file.is_missing for file in (await found.look_into(1, "films")).files] == [True, False, False]
    monkeypatch.setattr(folders, "COUNTED", 2)
    films, _ = (await found.look_into(1)).folders
    assert (films.file_count, films.is_all) == (2, False)


async def test_no_path_leads_out_of_the_library(shelf: Shelf) -> None:
    know(shelf, ["films/one.mkv"])
    found = Folders(shelf.database)
    for path in ("..", "films/..", "/films", "films/", "/", "film", "films/one.mkv", "fil%", "a\x00b", "/etc"):
        with pytest.raises(FolderNotFound):
            await found.look_into(1, path)
    with pytest.raises(LibraryNotFound):
        await found.look_into(3)
    # A page of one folder is no page of another.
    for cursor in (cursor_after("one.mkv"), "nonsense"):
        with pytest.raises(InvalidInput, match="begin again"):
            await found.look_into(1, "films", cursor=cursor)


MANY = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at)
SELECT 1, (n % 40) || '/' || (n / 40) || '/' || n || '.mkv', n, 1, 1, 1 FROM {numbers}
"""
NUMBERS = {
    Dialect.SQLITE: "(WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 20000) SELECT n FROM up)",
    Dialect.POSTGRES: "generate_series(1, 20000) AS n",
}
EXPLAIN = {Dialect.SQLITE: "EXPLAIN QUERY PLAN", Dialect.POSTGRES: "EXPLAIN"}


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "after ANALYZE"])
def test_each_question_is_a_stretch_of_the_index_of_paths(shelf: Shelf, analyzed: bool) -> None:
    values = {"id": 1, "begin": "7/", "end": "70", "name_at": 3, "limit": 61, "most": 1000, "least": "\x01"}

    def plans(conn: Connection) -> dict[str, str]:
        conn.run(MANY.format(numbers=NUMBERS[conn.dialect]))
        if analyzed:
            conn.run("ANALYZE")
        asked = {name: f"{EXPLAIN[conn.dialect]} {getattr(SQL, name).text(conn.dialect)}" for name in SQL}
        return {name: "\n".join(row[-1] for row in conn.all(text, values)) for name, text in asked.items()}

    for name, plan in shelf.database.write_blocking(plans).items():
        assert "SCAN file" not in plan, (name, plan)
        assert "SCAN library_files" not in plan, (name, plan)
        assert "Seq Scan on library_files" not in plan, (name, plan)
        reads = [line for line in plan.splitlines() if "(library_id" in line]
        assert reads, (name, plan)
        assert all("relative_path" in read for read in reads), (name, plan)
