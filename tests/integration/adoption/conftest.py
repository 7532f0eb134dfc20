"""A library of existing shows on a real disk, known as a scan knows it, matched by an index, and adopted."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.support.collection import Entry, Kept, Show, keep

from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.db import Connection
from kurabito.metadata.dumps.importer import DumpContent, import_dump
from kurabito.metadata.dumps.model import DumpEntry, DumpName, DumpSource
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.placements.adoption import store
from kurabito.placements.adoption.rounds import AdoptionRounds

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD_FILES = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, :size, 1, :now, :now)"
)
ADD_SESSION = (
    "INSERT INTO scan_sessions (job_id, library_id, status, added_count, moved_count, removed_count, started_at) "
    "VALUES (:job, 1, 'succeeded', 1, 0, 0, :now)"
)
HAD = """
SELECT file.relative_path, record.bgm_id, episode.kind, episode.number
FROM episode_files AS had JOIN episodes AS episode ON episode.id = had.episode_id
JOIN series ON series.id = episode.series_id JOIN metadata AS record ON record.id = series.metadata_id
JOIN library_files AS file ON file.id = had.file_id
"""


@dataclass
class Outcome:
    """What became of the files of a collection."""

    total: int = 0
    had: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    styles: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def share(self) -> float:
        return self.had / self.total


@dataclass
class Collection:
    """The library, what is in it, and what adopts it."""

    shelf: Shelf
    shows: Sequence[Show]
    files: list[tuple[str, Kept]] = field(default_factory=list)
    jobs: int = 0

    def write(self, turn: int = 0) -> None:
        """Put the files on the disk, each with a content and a time of its own."""
        self.files = list(keep(self.shows, turn))
        for number, (_, kept) in enumerate(self.files):
            path = self.shelf.path(kept.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(kept.path.encode())
            os.utime(path, ns=(number * 10**9, number * 10**9 + 7))

    def fingerprint(self) -> str:
        """Everything on the disk: names, contents, times, inodes, links."""
        seen = hashlib.sha256()
        root = self.shelf.path("")
        for path in sorted((root, *root.rglob("*"))):
            at = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            seen.update(f"{path}|{at.st_mode}|{at.st_nlink}|{at.st_ino}|{at.st_size}|{at.st_mtime_ns}".encode())
            seen.update(content)
        return seen.hexdigest()

    def know(self, *, counts: bool) -> None:
        """Import an index of all shows, as bangumi-data has them; romaji from AniDB, and lengths from bgm.tv if wanted."""
        entries = [entry for show in self.shows for entry in show.entries]
        self.shelf.database.write_blocking(lambda conn: offline.replace_entries(conn, map(_as_indexed, entries)))
        titled = [_titles(entry) for entry in entries if entry.romaji]
        import_dump(self.shelf.database, DumpContent(DumpSource.ANIDB, titled), "anime-titles.xml.gz")
        if counts:
            lengths = [DumpEntry(ids=Ids(bgm_id=one.bgm), episode_count=one.episodes) for one in entries]
            import_dump(self.shelf.database, DumpContent(DumpSource.ARCHIVE, lengths), "dump.zip")

    async def scan(self) -> None:
        """Have all files known, and the new folders matched, as a scan does it."""
        root, database = self.shelf.path(""), self.shelf.database
        known = {path for (path,) in self.shelf.all("SELECT relative_path FROM library_files")}
        new = [path for path in sorted(root.rglob("*")) if path.is_file() and str(path.relative_to(root)) not in known]
        self.jobs += 1

        def write(conn: Connection) -> None:
            for path in new:
                values = {"path": str(path.relative_to(root)), "size": path.stat().st_size}
                conn.run(ADD_FILES, values)
            conn.run(ADD_SESSION, {"job": f"job {self.jobs}"})

        database.write_blocking(write)

        async def fill_in() -> None:
            """No sync is needed for what the index knows."""

        await CatalogMatcher(database, fill_in).match(1, f"job {self.jobs}")
        self.shelf.clock.advance(1)
        self.shelf.run("UPDATE library_roots SET last_scanned_at = :now WHERE id = 1")
        self.shelf.clock.advance(1)

    async def adopt(self) -> None:
        rounds = AdoptionRounds(self.shelf.database)
        while await rounds.step():
            self.shelf.clock.advance(1)

    def given(self) -> dict[str, set[tuple[int, str, float]]]:
        """The files that episodes have: entry, kind and number of each."""
        given: dict[str, set[tuple[int, str, float]]] = defaultdict(set)
        for path, bgm, kind, number in self.shelf.all(HAD):
            given[path].add((bgm, kind, number))
        return dict(given)

    def unadopted(self) -> list[tuple[str, str]]:
        """The videos that no episode has, each with the code of the reason."""
        page = self.shelf.database.read_blocking(
            lambda conn: store.unadopted(conn, after=0, limit=10_000, library_id=None)
        )
        return [(one.path, one.reason.code.value) for one in page]

    def outcome(self) -> Outcome:
        """How many files with an episode are had, and which of them as something that they are not."""
        given = {path: {(bgm, number) for bgm, _, number in episodes} for path, episodes in self.given().items()}
        found = Outcome()
        for style, kept in self.files:
            if not kept.truth:
                if kept.path in given:
                    found.wrong.append(f"{style}: {kept.path} is no episode, and was given to {given[kept.path]}")
                continue
            found.total += 1
            found.styles[style]["all"] += 1
            if kept.path not in given:
                found.missed.append(f"{style}: {kept.path}")
                continue
            found.had += 1
            found.styles[style]["had"] += 1
            if given[kept.path] != set(kept.truth):
                found.wrong.append(f"{style}: {kept.path} is {kept.truth}, and was given to {given[kept.path]}")
        return found


def _as_indexed(entry: Entry) -> OfflineEntry:
    world, number, _, season = (entry.tmdb.split("/") + [""] * 4)[:4]
    return OfflineEntry(
        title=entry.japanese,
        kind=RecordKind(entry.kind),
        language="ja",
        ids=Ids(
            bgm_id=entry.bgm,
            tmdb_id=int(number) if number else None,
            tmdb_kind=TmdbKind(world) if world else None,
            tmdb_season=int(season) if season else None,
            anidb_id=entry.bgm if entry.romaji else None,
        ),
        air_date=entry.began,
        title_chinese=entry.hans or None,
        title_english=entry.english or None,
        other_titles=tuple(filter(None, (entry.hans, entry.hant, entry.english))),
    )


def _titles(entry: Entry) -> DumpEntry:
    name, _, year = entry.romaji.partition(" (")
    own = [(entry.romaji, "x-jat"), (name, "x-jat"), (entry.japanese, "ja"), (entry.english, "en")]
    names = [DumpName(title, language) for title, language in dict.fromkeys(own) if title]
    names += [DumpName(entry.synonym, "x-jat", is_own=False)] if entry.synonym else []
    year = year.removesuffix(")")
    return DumpEntry(names=tuple(names), ids=Ids(anidb_id=entry.bgm), year=int(year) if year.isdecimal() else None)


@pytest.fixture
def made(shelf: Shelf) -> Collection:
    return Collection(shelf, ())
