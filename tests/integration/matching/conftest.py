"""Libraries, an offline index and a TMDB on loopback, over a real database of each kind."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.catalog.matching.model import FolderMatch, MatchState
from kurabito.catalog.matching.online import OpenFolders
from kurabito.catalog.matching.service import Matches
from kurabito.clock import ManualClock
from kurabito.db import Connection, Database, migrate
from kurabito.db.migrate import PRODUCT
from kurabito.http import Outbound
from kurabito.http.addresses import Address
from kurabito.metadata import records
from kurabito.metadata.records import Details, Metadata
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.metadata.world import World

ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (:id, :name, :name, :now, :now)"
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:library_id, :path, 1, 1, :now, :now)"
)
ADD_SESSION = (
    "INSERT INTO scan_sessions (job_id, library_id, status, added_count, moved_count, removed_count, started_at) "
    "VALUES (:job_id, :library_id, 'succeeded', :added, :moved, :removed, :now)"
)


@dataclass
class Desk:
    """Libraries 1 and 2, and everything that matches their folders."""

    queue: SqlQueue
    database: Database
    clock: ManualClock
    outbound: Outbound
    filled_in: list[str] = field(default_factory=list)
    jobs: int = 0

    def __post_init__(self) -> None:
        self.catalog = Catalog(self.database)
        self.matches = Matches(self.queue, self._fill_in)
        self.matcher = CatalogMatcher(self.database, self._fill_in)

    async def _fill_in(self) -> None:
        self.filled_in.append("sync")

    def index(self, *entries: OfflineEntry) -> None:
        self.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))

    def record(self, **details: Any) -> int:
        return self.database.write_blocking(lambda conn: records.add(conn, Details(**details))).id

    def get(self, metadata_id: int | None) -> Metadata:
        assert metadata_id is not None
        return self.database.read_blocking(lambda conn: records.find(conn, metadata_id))

    def count_records(self) -> int:
        (count,) = self.database.read_blocking(lambda conn: conn.all("SELECT count(*) FROM metadata"))[0]
        return int(count)

    def run(self, sql: str, **values: Any) -> int:
        return self.database.write_blocking(lambda conn: conn.run(sql, values))

    async def scan(
        self, *files: str, library_id: int = 1, moved: dict[str, str] | None = None, gone: Sequence[str] = ()
    ) -> int:
        """A scan that found these files, that others were renamed, and some gone; how many folders it left."""
        self.jobs += 1
        job_id = f"job {self.jobs}"

        def write(conn: Connection) -> None:
            for path in files:
                conn.run(ADD_FILE, {"library_id": library_id, "path": path})
            for old, new in (moved or {}).items():
                conn.run(
                    "UPDATE library_files SET relative_path = :new WHERE relative_path = :old", {"old": old, "new": new}
                )
            for path in gone:
                conn.run("UPDATE library_files SET is_missing = 1 WHERE relative_path = :path", {"path": path})
            counts = {"added": len(files), "moved": len(moved or ()), "removed": len(gone)}
            conn.run(ADD_SESSION, {"job_id": job_id, "library_id": library_id, **counts})

        self.database.write_blocking(write)
        return await self.matcher.match(library_id, job_id)

    async def open(self) -> dict[str, FolderMatch]:
        return await self.all(MatchState.OPEN)

    async def all(self, state: MatchState) -> dict[str, FolderMatch]:
        return {match.folder: match for match in await self.matches.page(state=state, limit=1000)}

    async def matched(self) -> dict[str, str | None]:
        """The title of the record that each matched folder has."""
        found = await self.all(MatchState.MATCHED)
        return {folder: self.get(match.metadata_id).details.title_japanese for folder, match in found.items()}

    def online(self, port: int | None) -> OpenFolders:
        """What comes back to open folders; with a port, TMDB is asked there."""
        url = f"http://127.0.0.1:{port}"
        key = None if port is None else "0123456789abcdef0123456789abcdef"
        tmdb = TmdbClient(self.outbound, key, url=f"{url}/3", image_url=f"{url}/t/p", clock=self.clock)
        return OpenFolders(self.database, tmdb, self._fill_in)


async def _on_loopback(_host: str, /) -> Sequence[Address]:
    return [ip_address("127.0.0.1")]


@pytest.fixture
async def desk(url: str) -> AsyncIterator[Desk]:
    clock = ManualClock()
    async with (
        open_queue(url, clock=clock) as queue,
        Outbound(resolver=_on_loopback, tls=httpcore2.default_ssl_context(), random=lambda: 0.0) as outbound,
    ):
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        desk = Desk(queue, queue.database, clock, outbound)
        for number in (1, 2):
            desk.run(ADD_LIBRARY, id=number, name=f"library {number}")
        yield desk


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """TMDB on loopback, empty."""
    file = Path(__file__).parents[1] / "metadata" / "world.py"
    spec = importlib.util.spec_from_file_location("matching_world", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    world: World = module.World()
    server = await asyncio.start_server(world.serve, "127.0.0.1", 0)
    world.port = server.sockets[0].getsockname()[1]
    yield world
    server.close()
