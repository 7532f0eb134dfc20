"""A library in a real folder, in both databases, thumbnails that are asked for, and lines that draw and remove them."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.planes import register

from kurabito.clock import ManualClock
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.thumbnails.cleanup import CleanupWork
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.job import ThumbnailWork
from kurabito.db import Connection, Database, Dialect, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import grants
from kurabito.protocol.enums import MediaType
from kurabito.protocol.rights import DATA_PLANE, READABLE

ROLE = "kurabito_dataplane"
ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'pictures', :path, :now, :now)"
)
ADD_FILE = (
    "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:id, 1, :path, :size, :mtime, :now, :now)"
)
ADD_THUMBNAIL = (
    "INSERT INTO thumbnails (id, thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, "
    "source_mtime_ns, output_path, created_at, updated_at) "
    "VALUES (:id, :key, :file, :group, :media, :format, :side, :size, :mtime, :output, :now, :now)"
)
ADD_CLEANUP = (
    "INSERT INTO thumbnail_cleanup_jobs (id, group_key, execute_after, created_at, updated_at) "
    "VALUES (:id, :group, :now + :delay, :now, :now)"
)


@pytest.fixture(scope="session")
def art() -> ModuleType:
    """The module that makes pictures and videos."""
    spec = importlib.util.spec_from_file_location("made_pictures", Path(__file__).with_name("pictures.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def studios() -> Iterator[dict[MediaType, DecoderProcess]]:
    """Processes that draw, for all tests here."""
    studios = {media_type: DecoderProcess(media_type) for media_type in MediaType}
    yield studios
    for decoder in studios.values():
        decoder.close()


class Gallery:
    """One library, its folder, and what is asked of the data plane about it."""

    def __init__(
        self,
        database: Database,
        plane: Database,
        folder: Path,
        clock: ManualClock,
        studios: dict[MediaType, DecoderProcess],
    ) -> None:
        self.database = database
        self.plane = plane
        self.clock = clock
        self.library = folder / "library"
        self.state = folder / "state"
        self.thumbs = self.state / "thumbs"
        self.studios = studios
        self._last = 0
        self.library.mkdir()
        self.do(ADD_LIBRARY, path=str(self.library))
        register(database)

    def do(self, sql: str, **values: Any) -> None:
        self.database.write_blocking(lambda conn: conn.run(sql, values))

    def ask(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.database.read_blocking(lambda conn: conn.all(sql, values))

    def want(
        self,
        path: str,
        content: bytes | None = None,
        *,
        media: MediaType = MediaType.IMAGE,
        group: str = "group",
        form: str = "jpeg",
        side: int = 100,
        output: str | None = None,
    ) -> int:
        """Put a file into the library, if it has content, and ask for its thumbnail; the id of both rows."""
        self._last += 1
        file = self.library / path
        if content is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        seen = os.lstat(file) if os.path.lexists(file) else None
        known = {"size": seen.st_size if seen else 0, "mtime": seen.st_mtime_ns if seen else 0}
        self.do(ADD_FILE, id=self._last, path=path, **known)
        self.do(
            ADD_THUMBNAIL,
            id=self._last,
            key=f"key-{self._last}",
            file=self._last,
            group=group,
            media=media.value,
            format=form,
            side=side,
            output=output or f"ab/{self._last}.{form}",
            **known,
        )
        return self._last

    def clean(self, group: str = "group", *, delay: int = 0) -> int:
        """Have the thumbnails of a group removed; the id of the row."""
        self._last += 1
        self.do(ADD_CLEANUP, id=self._last, group=group, delay=delay)
        return self._last

    def row(self, key: int, *columns: str, table: str = "thumbnails") -> Any:
        (found,) = self.ask(f"SELECT {', '.join(columns)} FROM {table} WHERE id = :id", id=key)
        return found if len(columns) > 1 else found[0]

    def runner(
        self,
        media: MediaType = MediaType.IMAGE,
        drawing: Any = None,
        *,
        limit: IoLimit | None = None,
        heartbeat: float = 60.0,
    ) -> Runner[LeasedRow]:
        work = ThumbnailWork(media, drawing or self.studios[media], state=self.state, limit=limit)
        return Runner(self.plane, work, name="plane", heartbeat=heartbeat)

    def cleanup_runner(self) -> Runner[LeasedRow]:
        return Runner(self.plane, CleanupWork(state=self.state), name="plane", heartbeat=60.0)

    def files(self) -> set[str]:
        """Everything below the folder of thumbnails."""
        found = [path for path in self.thumbs.rglob("*") if path.is_symlink() or not path.is_dir()]
        return {str(path.relative_to(self.thumbs)) for path in found}


@pytest.fixture
def gallery(url: str, tmp_path: Path, studios: dict[MediaType, DecoderProcess]) -> Iterator[Gallery]:
    """On both databases, with a data plane that is held to its rights."""
    clock = ManualClock()
    database = open_database(url, clock=clock)
    database.open()
    migrate(database, PRODUCT)
    if database.dialect is Dialect.POSTGRES:
        database.write_blocking(make_role)
    plane = open_database(url, clock=clock, rights=DATA_PLANE, role=ROLE)
    plane.open()
    yield Gallery(database, plane, tmp_path, clock, studios)
    plane.close()
    database.close()


def make_role(conn: Connection) -> None:
    if conn.one("SELECT 1 FROM pg_roles WHERE rolname = :role", {"role": ROLE}) is None:
        conn.script(f"CREATE ROLE {ROLE} NOLOGIN")
    for statement in grants(DATA_PLANE, ROLE, READABLE):
        conn.script(statement)
