"""Downloads that are complete, on a real disk and in a real database, and what files them: the core's loop and a data plane."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.db import Connection
from kurabito.downloads import download_files
from kurabito.downloads.items import TransferFile
from kurabito.placements.filing.loop import FilingLoop
from kurabito.placements.filing.service import Placements

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD_SERIES = """
INSERT INTO series (title, season, kind, year, metadata_id, created_at, updated_at)
VALUES (:title, :season, :kind, :year, :metadata_id, :now, :now) RETURNING id
"""
ADD_EPISODE = """
INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at)
VALUES (:series_id, :kind, :number, 'downloading', :now, :now) RETURNING id
"""
ADD_LINK = """
INSERT INTO anime_links (release_key, series_id, episode_id, title, url, created_at)
VALUES (:key, :series_id, :episode_id, :title, 'magnet:?xt=urn:btih:1', :now) RETURNING id
"""
ADD_DOWNLOAD = """
INSERT INTO downloads (link_id, status, hash, save_path, module_id, queued_at, created_at, updated_at)
VALUES (:link_id, 'completed', :hash, :save_path, :module_id, :now, :now, :now) RETURNING id
"""
ADD_RECORD = """
INSERT INTO metadata (kind, title_english, tmdb_id, tmdb_kind, tmdb_season, episode_count, air_date, created_at, updated_at)
VALUES ('tv', :title, :tmdb_id, 'tv', :season, :count, :begins, :now, :now) RETURNING id
"""
ADD_MODULE = """
INSERT INTO service_modules (service_type, service_name, host, port, instance_id, token, registered_at, last_seen_at)
VALUES ('downloader', 'nas', 'nas', 8485, 'i', 't', :now, :now) RETURNING module_id
"""


@dataclass
class House:
    """Two libraries, a folder for downloads, and everything between them."""

    shelf: Shelf
    root: Path
    loop: FilingLoop
    placements: Placements
    refused: list[tuple[int, tuple[str, ...]]]
    """The downloads that were to fail, and for which files."""
    pictures: dict[str, bytes]
    """The posters that are kept, by their names."""
    loop_with: Callable[[int], FilingLoop]
    """The core as it is after a start with so many bytes that stay free."""
    modules: dict[str, int] = field(default_factory=dict)

    def add(self, sql: str, **values: Any) -> int:
        row = self.shelf.database.write_blocking(lambda conn: conn.one(sql, values))
        assert row is not None
        return int(row[0])

    def series(
        self, title: str, *, season: int = 1, kind: str = "tv", year: int | None = None, metadata_id: int | None = None
    ) -> int:
        return self.add(ADD_SERIES, title=title, season=season, kind=kind, year=year, metadata_id=metadata_id)

    def record(self, title: str, **facts: Any) -> int:
        return self.add(ADD_RECORD, title=title, **{"season": None, "count": None, "begins": None, **facts})

    def download(
        self,
        series_id: int,
        title: str,
        files: Mapping[str, bytes],
        *,
        episodes: tuple[float, ...] = (1,),
        kind: str = "tv",
        save_path: str | None = None,
        module_id: int | None = None,
        listed: bool = True,
    ) -> list[int]:
        """Have a download complete, for each of its episodes, with its files on the disk; the ids."""
        name = f"{title} {len(self.shelf.all('SELECT 1 FROM downloads'))}"
        folder = self.root / "Series" / name
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        found = []
        for number in episodes:
            known = self.shelf.all(
                "SELECT id FROM episodes WHERE series_id = :series AND number = :number AND kind = :kind",
                series=series_id, number=number, kind=kind,
            )  # fmt: skip
            episode = known[0][0] if known else self.add(ADD_EPISODE, series_id=series_id, kind=kind, number=number)
            link = self.add(ADD_LINK, key=name, series_id=series_id, episode_id=episode, title=title)
            where = {"save_path": save_path or str(folder), "module_id": module_id or self.module()}
            found.append(self.add(ADD_DOWNLOAD, link_id=link, hash=name, **where))
        if listed:
            list_of = [TransferFile(path, len(content), True, True) for path, content in files.items()]
            self.shelf.database.write_blocking(lambda conn: download_files.store(conn, dict.fromkeys(found, list_of)))
        return found

    def module(self) -> int:
        if "nas" not in self.modules:
            self.modules["nas"] = self.add(ADD_MODULE)
        return self.modules["nas"]

    def plane(self) -> None:
        """Have a data plane do everything that is due."""
        for work in (InspectionWork(), PlacementWork()):
            runner: Runner[Any] = Runner(self.shelf.plane, work, name="plane", heartbeat=60.0)
            while runner.work():
                pass

    async def settle(self) -> None:
        """Go on until nothing is left to do."""
        while await self.loop.step():
            self.plane()

    def library(self, number: int = 1) -> dict[str, bytes]:
        root = self.shelf.path("", number)
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def states(self, series_id: int) -> dict[float, str]:
        return dict(self.shelf.all("SELECT number, state FROM episodes WHERE series_id = :id", id=series_id))

    def questions(self) -> list[tuple[str | None, str]]:
        rows = self.shelf.all("SELECT path, reason FROM filing_questions ORDER BY id")
        return [(path, json.loads(reason)["code"]) for path, reason in rows]


def unheard(conn: Connection, placement_ids: Sequence[int]) -> None:
    """No media server hears of anything."""


@pytest.fixture
def house(shelf: Shelf) -> House:
    root = shelf.folder / "downloads"
    root.mkdir()
    shelf.run("UPDATE library_roots SET accepts = 'nothing' WHERE id = 2")
    refused: list[tuple[int, tuple[str, ...]]] = []

    def refuse(conn: Connection, download_id: int, files: Sequence[str]) -> None:
        refused.append((download_id, tuple(files)))

    pictures: dict[str, bytes] = {}

    def loop_with(reserve: int) -> FilingLoop:
        return FilingLoop(
            shelf.database, root, reserve=reserve, refuse=refuse, picture=pictures.get, note_placed=unheard
        )

    return House(shelf, root, loop_with(0), Placements(shelf.database), refused, pictures, loop_with)
