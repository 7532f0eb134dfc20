"""The folders of a library, one at a time: the content of each, folders first.

Nothing is stored about folders. They are read from the paths of the files, which stand in an index in their order: everything
below a folder is one stretch of it, and passed over with one look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Database, Queries
from kurabito.errors import InvalidInput
from kurabito.library import libraries
from kurabito.library.cursors import cursor_after, path_of
from kurabito.library.errors import FolderNotFound
from kurabito.library.files import FILE, SAME_CONTENT, LibraryFile, file_of
from kurabito.runtime.paging import check_limit

COUNTED: Final = 100_000
"""How many files of a folder are added up. To count a million would take longer than a page may."""
_LEAST: Final = "\x01"
"""The first character that a name can have."""
# No name is so long, so every path comes before it.
_LAST: Final = "\U0010ffff" * 64
SQL: Final = Queries(
    "kurabito.library",
    "folders.sql",
    slash="{position}(substr(relative_path, :name_at), '/')",
    entry_slash="{position}(substr(entry.path, :name_at), '/')",
    file=FILE,
    same=SAME_CONTENT,
)


@dataclass(frozen=True, slots=True)
class LibraryFolder:
    """A folder, and what lies anywhere below it."""

    path: str
    file_count: int
    """Files that are there; none when all that is known of the folder is missing."""
    total_size_bytes: int
    is_all: bool
    """False when only the first files were added up."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FolderPage:
    """Some of what lies in a folder; files come after the last of its folders."""

    folders: tuple[LibraryFolder, ...]
    files: tuple[LibraryFile, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Where everything below a folder stands in the order of paths; an empty path is the library itself."""

    library_id: int
    path: str

    @property
    def prefix(self) -> str:
        return f"{self.path}/" if self.path else ""

    def values(self, begin: str | None = None) -> dict[str, Any]:
        """The stretch, or what is left of it from somewhere on."""
        return {
            "id": self.library_id,
            "begin": self.prefix if begin is None else begin,
            "end": f"{self.path}0" if self.path else _LAST,
        }


class Folders:
    """The folders of one database's libraries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look_into(
        self, library_id: int, path: str = "", *, limit: int = 100, cursor: str | None = None
    ) -> FolderPage:
        """The content of a folder, in the order of names; raises LibraryNotFound, FolderNotFound or InvalidInput."""
        check_limit(limit)
        if "\x00" in path:
            raise _unknown(path)
        stretch, after = _Stretch(library_id, path), "" if cursor is None else path_of(cursor)
        if after and not after.startswith(stretch.prefix):
            raise InvalidInput("cursor", f"is not one that a page of {path!r} gave; begin again without it")

        def look(conn: Connection) -> FolderPage:
            libraries.find(conn, library_id)
            page = _page(conn, stretch, after, limit)
            # Behind the last entry of a folder that is known there may be nothing any more.
            if path and not (after or page.folders or page.files):
                raise _unknown(path)
            return page

        return await self._database.read(look)


def top_folders(conn: Connection, library_id: int, limit: int) -> list[str]:
    """The folders that lie in a library itself, in the order of names."""
    return _folders(conn, _Stretch(library_id, ""), "", limit)


def _page(conn: Connection, stretch: _Stretch, after: str, limit: int) -> FolderPage:
    """A page that begins after a folder, whose path ends with a slash, or after a file."""
    among_files = bool(after) and not after.endswith("/")
    paths = [] if among_files else _folders(conn, stretch, after, limit + 1)
    files = _files(conn, stretch, after if among_files else "", limit + 1 - len(paths))
    shown = tuple(files[: limit - len(paths)]) if len(paths) < limit else ()
    folders = tuple(_measured(conn, stretch.library_id, path) for path in paths[:limit])
    if len(paths) + len(files) <= limit:
        return FolderPage(folders, shown, None)
    return FolderPage(folders, shown, cursor_after(shown[-1].relative_path if shown else f"{folders[-1].path}/"))


def _folders(conn: Connection, stretch: _Stretch, after: str, limit: int) -> list[str]:
    values = stretch.values(f"{after.removesuffix('/')}0" if after else None)
    asked = {**values, "name_at": len(stretch.prefix) + 1, "limit": limit}
    return [path for (path,) in conn.all(SQL.folders, asked)]


def _files(conn: Connection, stretch: _Stretch, after: str, limit: int) -> list[LibraryFile]:
    if limit < 1:
        return []
    values = stretch.values(after + _LEAST if after else None)
    asked = {**values, "name_at": len(stretch.prefix) + 1, "limit": limit, "least": _LEAST}
    return [file_of(row) for row in conn.all(SQL.files, asked)]


def _measured(conn: Connection, library_id: int, path: str) -> LibraryFolder:
    row = conn.one(SQL.extent, {**_Stretch(library_id, path).values(), "most": COUNTED + 1})
    assert row is not None
    count, size = row
    return LibraryFolder(path, min(count, COUNTED), int(size), count <= COUNTED)


def _unknown(path: str) -> FolderNotFound:
    return FolderNotFound(f"no file is known in a folder {path!r}; begin at the library, or scan it again")
