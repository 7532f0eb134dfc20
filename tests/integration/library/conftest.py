"""Libraries over a real database and real folders; time is moved by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings


@pytest.fixture
def parts(queue: SqlQueue, tmp_path: Path) -> LibraryParts:
    for name in ("state", "downloads", "films", "series"):
        (tmp_path / name).mkdir()
    settings = Settings(state=tmp_path / "state", download_root=tmp_path / "downloads")
    return open_library(settings, queue)
